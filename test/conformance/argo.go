package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Argo is what Argo CD reads of a kind: config/gitops/argocd, run as Argo CD runs it.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/health/#custom-health-checks
type Argo struct{ data map[string]string }

// Health is a verdict of Argo CD.
type Health struct{ Status, Message string }

// NewArgo reads the ConfigMap from the repository that the working directory is in.
func NewArgo() (*Argo, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "gitops", "argocd", "argocd-cm.yaml"))
	if err != nil {
		return nil, err
	}
	config := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, config); err != nil {
		return nil, err
	}
	return &Argo{config.Data}, nil
}

// Health of an object.
func (a *Argo) Health(object *unstructured.Unstructured) (Health, error) {
	result, err := run(a.data["resource.customizations.health."+keyOf(object)], object)
	if err != nil {
		return Health{}, err
	}
	table, is := result.(*lua.LTable)
	if !is {
		return Health{}, fmt.Errorf("the health is a %s", result.Type())
	}
	return Health{table.RawGetString("status").String(), table.RawGetString("message").String()}, nil
}

// Actions are those that can be taken of an object, and whether they are disabled.
func (a *Argo) Actions(object *unstructured.Unstructured) (map[string]bool, error) {
	actions, err := a.actionsOf(object)
	if err != nil {
		return nil, err
	}
	result, err := run(actions.Discovery, object)
	if err != nil {
		return nil, err
	}
	table, is := result.(*lua.LTable)
	if !is {
		return nil, fmt.Errorf("the actions are a %s", result.Type())
	}
	disabled := map[string]bool{}
	table.ForEach(func(name, action lua.LValue) {
		if is, ok := action.(*lua.LTable); ok {
			disabled[name.String()] = lua.LVAsBool(is.RawGetString("disabled"))
		}
	})
	return disabled, nil
}

// Act is what an action makes of an object.
func (a *Argo) Act(object *unstructured.Unstructured, action string) (*unstructured.Unstructured, error) {
	actions, err := a.actionsOf(object)
	if err != nil {
		return nil, err
	}
	for _, definition := range actions.Definitions {
		if definition.Name != action {
			continue
		}
		result, err := run(definition.Action, object)
		if err != nil {
			return nil, err
		}
		content, is := fromLua(result, object.Object).(map[string]any)
		if !is {
			return nil, fmt.Errorf("action %s returns a %s", action, result.Type())
		}
		return &unstructured.Unstructured{Object: content}, nil
	}
	return nil, fmt.Errorf("there is no action %s", action)
}

type argoActions struct {
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
}

func (a *Argo) actionsOf(object *unstructured.Unstructured) (actions argoActions, err error) {
	return actions, yaml.UnmarshalStrict([]byte(a.data["resource.customizations.actions."+keyOf(object)]), &actions)
}

func keyOf(object *unstructured.Unstructured) string {
	return object.GroupVersionKind().Group + "_" + object.GetKind()
}

// run a script with what Argo CD gives one: the object, tables, strings, and os.date, but no files and no programs.
// https://github.com/argoproj/argo-cd/blob/v3.1.0/util/lua/lua.go
func run(script string, object *unstructured.Unstructured) (lua.LValue, error) {
	if script == "" {
		return nil, errors.New("there is no script for " + keyOf(object))
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	// Of os, Argo CD has what tells the time only.
	state.Push(state.NewFunction(lua.OpenOs))
	state.Call(0, 1)
	clock := state.NewTable()
	for _, name := range []string{"date", "time"} {
		state.SetField(clock, name, state.GetField(state.Get(-1), name))
	}
	state.Pop(1)
	state.SetGlobal("os", clock)
	state.SetGlobal("obj", toLua(state, object.Object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	return state.Get(-1), nil
}

// agrees says that Argo CD and Flux say the same. Of a Cluster without a status kstatus says that all is well.
func agrees(verdict kstatus.Status, health string) bool {
	switch verdict {
	case kstatus.CurrentStatus:
		return health == "Healthy"
	case kstatus.FailedStatus:
		return health == "Degraded"
	case kstatus.InProgressStatus, kstatus.TerminatingStatus:
		return health == "Progressing"
	default:
		return false
	}
}

// checkArgo holds Argo CD's verdict against that of kstatus.
func (c *Checker) checkArgo(o *objections, cluster *ucv1.Cluster) {
	verdict, err := Verdict(cluster)
	if err != nil {
		return // It was told already.
	}
	object, err := asTools(cluster)
	if err != nil {
		return
	}
	health, err := c.argo.Health(object)
	switch {
	case err != nil:
		o.add("Argo CD cannot tell its health: %v", err)
	case !agrees(verdict, health.Status):
		o.add("Argo CD says %s (%s), and kstatus %s", health.Status, health.Message, verdict)
	}
}
