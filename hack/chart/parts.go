package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// part is an object of config/, the template that it goes to, and which values it is for. One that ranges goes to each namespace
// of the values.
type part struct {
	object     *unstructured.Unstructured
	file       string
	conditions []string
	ranges     bool
}

func (p part) id() string { return idOf(p.object) }

func idOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// exampleNamespace stands for the namespaces of a manager that is bound to some.
const exampleNamespace = "user-example"

// byHand are the objects whose templates have more than conditions; the namespace is made by whoever installs a chart.
var byHand = map[string]bool{"Namespace": true, "Deployment": true, "PodDisruptionBudget": true}

// partsOf finds what an object is for in which of the three installations has it.
func partsOf(config string) ([]part, error) {
	certManager, err := installation(config, "default")
	if err != nil {
		return nil, err
	}
	selfManaged, err := installation(config, "default-self-managed")
	if err != nil {
		return nil, err
	}
	bound, err := installation(config, "default-namespaced")
	if err != nil {
		return nil, err
	}
	all := maps.Clone(certManager)
	maps.Copy(all, selfManaged)
	maps.Copy(all, bound)
	parts, err := optional(config)
	for id, object := range all {
		parts = append(parts, partOf(object, certManager[id] != nil, selfManaged[id] != nil, bound[id] != nil))
	}
	return chosen(parts), err
}

func partOf(object *unstructured.Unstructured, certManager, selfManaged, bound bool) part {
	switch {
	case !certManager && !selfManaged && object.GetNamespace() == exampleNamespace:
		return part{object: object, file: "namespaces.yaml", ranges: true}
	case !certManager && !selfManaged:
		return part{object: object, file: "namespaces.yaml", conditions: []string{".Values.namespaces"}}
	case !certManager:
		return part{object: object, file: "certificates.yaml", conditions: []string{`eq .Values.certificates "SelfManaged"`}}
	case !selfManaged:
		return part{object: object, file: "certificates.yaml", conditions: []string{`eq .Values.certificates "CertManager"`}}
	case !bound:
		return part{object: object, file: fileOf(object), conditions: []string{"not .Values.namespaces"}}
	}
	return part{object: object, file: fileOf(object)}
}

func installation(config, folder string) (map[string]*unstructured.Unstructured, error) {
	objects, err := build(filepath.Join(config, folder))
	found := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		found[idOf(object)] = object
	}
	return found, err
}

// optional is what config/ has beside the installations.
func optional(config string) ([]part, error) {
	var parts []part
	for folder, value := range map[string]string{"admission": "admissionPolicies", "fleet-approvals": "fleetApprovals"} {
		objects, err := build(filepath.Join(config, folder))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			file := strings.ReplaceAll(folder, "-", "_") + ".yaml"
			parts = append(parts, part{object: object, file: file, conditions: []string{".Values." + value + ".enabled"}})
		}
	}
	for file, value := range map[string]string{"service_monitor.yaml": "serviceMonitor", "rules.yaml": "rules"} {
		content, err := os.ReadFile(filepath.Join(config, "prometheus", file))
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &object.Object); err != nil {
			return nil, err
		}
		conditions := []string{".Values.prometheus." + value + ".enabled"}
		parts = append(parts, part{object: object, file: "prometheus.yaml", conditions: conditions})
	}
	dashboards, err := dashboardsOf(filepath.Join(config, "grafana"))
	return append(parts, dashboards), err
}

// dashboardsOf are those in the folder, as its kustomization has them.
func dashboardsOf(folder string) (part, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	data := map[string]any{}
	for _, file := range files {
		content, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr)
		data[filepath.Base(file)] = string(content)
	}
	return part{
		file: "grafana.yaml", conditions: []string{".Values.grafana.dashboards.enabled"},
		object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": "ccm-migration-controller-dashboards", "namespace": managerNamespace},
		}},
	}, err
}

// placement is the name of the rights to have a CCM in the management cluster. Their ClusterRole alone grants nothing.
const placement = "ccm-migration-controller-control-plane-placement"

// chosen are those that are not written by hand, with the conditions of values that config/ has no installation for.
func chosen(parts []part) (kept []part) {
	for _, one := range parts {
		switch kind := one.object.GetKind(); {
		case byHand[kind]:
			continue
		case kind == "NetworkPolicy":
			one.conditions = append(one.conditions, ".Values.networkPolicy.enabled")
		case kind == "CustomResourceDefinition":
			one.conditions = append(one.conditions, ".Values.crds.enabled")
		case kind != "ClusterRole" && one.object.GetName() == placement:
			one.conditions = append(one.conditions, ".Values.controlPlanePlacement.enabled")
		}
		kept = append(kept, one)
	}
	return kept
}

func fileOf(object *unstructured.Unstructured) string {
	switch object.GetKind() {
	case "CustomResourceDefinition":
		return "crds.yaml"
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return "webhooks.yaml"
	case "Service":
		return "services.yaml"
	case "NetworkPolicy":
		return "network_policy.yaml"
	}
	return "rbac.yaml"
}

func build(folder string) ([]*unstructured.Unstructured, error) {
	options := &krusty.Options{Reorder: krusty.ReorderOptionUnspecified, PluginConfig: types.DisabledPluginConfig()}
	rendered, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	objects := make([]*unstructured.Unstructured, 0, rendered.Size())
	for _, resource := range rendered.Resources() {
		content, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
