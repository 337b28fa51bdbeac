package machinecontroller

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// admission answers applies, and counts those that are tried and those that are meant. Only what has the mark is refused, and only
// when it is meant, where that is so.
type admission struct {
	says         error
	mark         string
	onlyMeant    bool
	lasts        func()
	tried, meant int
}

func (a *admission) judge(object runtime.ApplyConfiguration, dryRun bool) error {
	raw, err := json.Marshal(object)
	if err != nil || !strings.Contains(string(raw), a.mark) || a.onlyMeant && dryRun {
		return err
	}
	return a.says
}

func (a *admission) apply(
	ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption,
) error {
	all := &client.ApplyOptions{}
	all.ApplyOptions(options)
	dryRun := len(all.DryRun) > 0
	if dryRun {
		a.tried++
	} else {
		a.meant++
	}
	if a.lasts != nil {
		a.lasts()
	}
	if err := a.judge(object, dryRun); err != nil || dryRun {
		return err
	}
	return c.Apply(ctx, object, options...)
}

func (a *admission) patch(
	_ context.Context, _ client.WithWatch, _ client.Object, _ client.Patch, options ...client.PatchOption,
) error {
	all := &client.PatchOptions{}
	all.ApplyOptions(options)
	if len(all.DryRun) > 0 {
		return nil
	}
	return a.says
}

func denial(by string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "cluster.k8s.io", Resource: "machinedeployments"}, "md",
		errors.New(by+" denied the request: no such image"))
}

func byAnother(refusal observation.Refusal) observation.Refusal {
	refusal.By = "webhook n"
	return refusal
}

// notFound is the answer of a webhook that passes on what it was told itself.
func notFound() error {
	err := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "cloud")
	err.ErrStatus.Message = `admission webhook "n" denied the request: no such Secret`
	return err
}

func modified() error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "machinedeployments"}, "md", errors.New("modified"))
}

func TestAWriteThatWasRefusedIsAskedAboutAgain(t *testing.T) {
	refused := observation.Refusal{By: "webhook m", Since: start, Asked: rolls("17", true).Asks()}
	for name, test := range map[string]struct {
		after   time.Duration
		says    error
		changes bool
		want    observation.Refusal
		tried   int
	}{
		"not within a minute":             {after: 59 * time.Second, want: refused},
		"after a minute, it is accepted":  {after: time.Minute, tried: 1},
		"after a minute, it is refused":   {after: time.Minute, says: denial(`admission webhook "m"`), want: refused, tried: 1},
		"at once when it was changed":     {changes: true, tried: 1},
		"by another one now":              {after: time.Minute, says: denial(`admission webhook "n"`), want: byAnother(refused), tried: 1},
		"no one answers, so it is so":     {after: time.Minute, says: context.DeadlineExceeded, want: refused, tried: 1},
		"changed meanwhile, asked again":  {changes: true, says: modified(), want: refused, tried: 2},
		"by a webhook that finds nothing": {after: time.Minute, says: notFound(), want: byAnother(refused), tried: 1},
		"only a write that is meant says": {after: time.Minute, says: errors.New("does not support dry run"), tried: 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, hook := NewWithT(t), &admission{says: denial(`admission webhook "m"`)}
			s := adapterWith(interceptor.Funcs{Apply: hook.apply}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2}"),
				machineObject(t, "MachineDeployment", "other", "spec: {replicas: 2}"),
				machineObject(t, "MachineSet", "set", "{}"), machineObject(t, "Machine", "machine", "{}"))
			action := s.asSeen(t, rolls("17", true))
			action.Kind = outcome.ActionRollMachineDeployment
			g.Expect(s.Change(t.Context(), action)).To(MatchError(ContainSubstring("denied the request")))
			shows := func() observation.Refusal {
				seen := s.Observe(t.Context()).Value().Deployments
				g.Expect(seen).To(HaveLen(2))
				g.Expect(seen[1].Refusal).To(BeZero(), "the other one")
				return seen[0].Refusal
			}
			g.Expect(shows()).To(Equal(refused))

			hook.says = test.says
			s.clock.(*clocktesting.FakeClock).Step(test.after)
			if test.changes {
				g.Expect(patch(t.Context(), s.client, "change", breakerRef(), map[string]any{"spec": map[string]any{"replicas": 3}})).To(Succeed())
			}
			g.Expect(shows()).To(Equal(test.want))
			g.Expect(shows()).To(Equal(test.want), "and is not asked at each look")
			g.Expect(hook.tried).To(Equal(test.tried))
			g.Expect(hook.meant).To(Equal(1))
		})
	}
}

// What is asked about is the canary that would be made now: a person has corrected the MachineDeployment.
func TestACanaryThatIsRefusedIsARefusalOfItsTarget(t *testing.T) {
	g := NewWithT(t)
	hook := &admission{says: denial(`ValidatingAdmissionPolicy 'images' with binding 'images'`), mark: "gone"}
	s := adapterWith(interceptor.Funcs{Apply: hook.apply}, machineObject(t, "MachineDeployment", "md", "spec: {template: {spec: "+
		"{image: gone}}}"), machineObject(t, "MachineSet", "set", "{}"), machineObject(t, "Machine", "machine", "{}"))
	_, err := s.CreateCanary(t.Context(), breakerRef())
	g.Expect(err).To(MatchError(ContainSubstring("denied the request")))
	g.Expect(s.Observe(t.Context()).Value().Deployments[0].Refusal).To(Equal(observation.Refusal{
		By: "ValidatingAdmissionPolicy images", Since: start, Of: observation.RefusedCanary,
	}))
	spec := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"image": "new"}}}}
	s.clock.(*clocktesting.FakeClock).Step(time.Minute)
	g.Expect(patch(t.Context(), s.client, "correct", breakerRef(), spec)).To(Succeed())
	g.Expect(s.Observe(t.Context()).Value().Deployments[0].Refusal).To(BeZero())
	g.Expect(hook.meant).To(Equal(1))
}

// stepPolicy refuses changes of a kind of objects, and lists those that are meant and tried. What is gone, or of a version that is
// gone, is found first, as the API server finds it before it asks a validating webhook.
type stepPolicy struct {
	kind string
	live string
	says error
	gone map[string]bool
	seen []string
}

func (p *stepPolicy) patch(
	ctx context.Context, c client.WithWatch, object client.Object, change client.Patch, options ...client.PatchOption,
) error {
	all := &client.PatchOptions{}
	all.ApplyOptions(options)
	if object.GetObjectKind().GroupVersionKind().Kind != p.kind {
		return c.Patch(ctx, object, change, options...)
	}
	what := "means " + object.GetName()
	if len(all.DryRun) > 0 {
		what = "tries " + object.GetName()
	}
	p.seen = append(p.seen, what)
	data, err := change.Data(object)
	switch {
	case err != nil:
		return err
	case strings.Contains(string(data), "resourceVersion") && !strings.Contains(string(data), p.live):
		return apierrors.NewConflict(schema.GroupResource{Resource: p.kind}, object.GetName(), errors.New("modified"))
	case p.gone[object.GetName()]:
		return apierrors.NewNotFound(schema.GroupResource{Resource: p.kind}, object.GetName())
	case p.says != nil && !strings.HasSuffix(object.GetName(), "free"):
		return p.says
	}
	return c.Patch(ctx, object, change, options...)
}

func machineRef(name string) observation.Ref {
	return observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: name, UID: name + "-uid"}
}

// another object than was meant is there.
func another() error {
	path := field.NewPath("metadata", "uid")
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Machine"}, "m", field.ErrorList{field.Invalid(path, "m-uid", "is immutable")})
}

// The MachineDeployment is held, whichever of its Machines and MachineSets may not be changed.
func TestAStepThatIsRefusedIsARefusalOfItsMachineDeployment(t *testing.T) {
	set := observation.Ref{Kind: "MachineSet", Namespace: "kube-system", Name: "old", UID: "old-uid"}
	mark := outcome.Action{
		Kind: outcome.ActionMarkMachines, Objects: []observation.Ref{machineRef("free"), machineRef("m"), machineRef("n")},
		Step: &outcome.MachineSetStep{Deployment: breakerRef()},
	}
	lower := outcome.Action{
		Kind: outcome.ActionStepMachineSet, Objects: []observation.Ref{set},
		Step: &outcome.MachineSetStep{Deployment: breakerRef(), Generation: 7, Replicas: 2},
	}
	marks := []string{"means free", "means m", "means n", "tries m"}
	refused := observation.Refusal{By: "webhook m", Since: start, Of: observation.RefusedStep}
	for name, test := range map[string]struct {
		action outcome.Action
		kind   string
		then   func(*stepPolicy)
		want   observation.Refusal
		seen   []string
	}{
		"a mark":                      {mark, "Machine", func(*stepPolicy) {}, refused, marks},
		"a mark that is accepted now": {mark, "Machine", func(p *stepPolicy) { p.says = nil }, observation.Refusal{}, marks},
		"a mark of a Machine that is gone": {mark, "Machine", func(p *stepPolicy) { p.gone = map[string]bool{"m": true} },
			observation.Refusal{}, marks},
		"a mark of another Machine by now": {mark, "Machine", func(p *stepPolicy) { p.says = another() }, observation.Refusal{}, marks},
		"a step":                           {lower, "MachineSet", func(*stepPolicy) {}, refused, []string{"means old", "tries old"}},
		"a step that is accepted now": {lower, "MachineSet", func(p *stepPolicy) { p.says = nil },
			observation.Refusal{}, []string{"means old", "tries old"}},
		"no one answers, so it is so": {lower, "MachineSet", func(p *stepPolicy) { p.says = context.DeadlineExceeded }, refused,
			[]string{"means old", "tries old"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, policy := NewWithT(t), &stepPolicy{kind: test.kind, says: denial(`admission webhook "m"`)}
			s := adapterWith(interceptor.Funcs{Patch: policy.patch},
				machineObject(t, "MachineDeployment", "md", "{metadata: {generation: 7}, spec: {replicas: 3}}"),
				machineObject(t, "MachineSet", "old", "spec: {replicas: 3}"),
				machineObject(t, "Machine", "m", "{}"), machineObject(t, "Machine", "n", "{}"), machineObject(t, "Machine", "free", "{}"))
			live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineSet", "old", "{}"))
			g.Expect(err).NotTo(HaveOccurred())
			step := *test.action.Step
			step.Version, test.action.Step = live.GetResourceVersion(), &step
			g.Expect(s.Change(t.Context(), test.action)).To(MatchError(ContainSubstring("denied the request")))
			refused.Asked, test.want.Asked = test.action.Asks(), ""
			if test.want.By != "" {
				test.want.Asked = refused.Asked
			}
			test.then(policy)
			live.SetAnnotations(map[string]string{"machine-controller": "writes"})
			g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
			policy.live = strconv.Quote(live.GetResourceVersion())
			shows := func() observation.Refusal { return s.Observe(t.Context()).Value().Deployments[0].Refusal }
			g.Expect(shows()).To(Equal(refused), "a dry run may be accepted, and the write not: others go on for a minute")
			s.clock.(*clocktesting.FakeClock).Step(time.Minute)
			g.Expect(shows()).To(Equal(test.want))
			g.Expect(shows()).To(Equal(test.want), "and is not asked at each look")
			g.Expect(policy.seen).To(Equal(test.seen))
			live, err = reads.Live(t.Context(), s.client, live)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(integerOr(live, 0, "spec", "replicas")).To(BeEquivalentTo(3), "a question changes nothing")
		})
	}
}

// A webhook may let dry runs pass: what is refused again at once was refused all the time.
func TestARefusalThatNoDryRunShowsGoesOn(t *testing.T) {
	step := &outcome.MachineSetStep{Deployment: breakerRef(), Replicas: 2}
	lower := outcome.Action{Kind: outcome.ActionStepMachineSet, Objects: []observation.Ref{{Kind: "MachineSet", Name: "set"}}, Step: step}
	lower.Objects[0].Namespace = breakerRef().Namespace
	mark := outcome.Action{Kind: outcome.ActionMarkMachines, Objects: []observation.Ref{machineRef("machine")}, Step: step}
	for name, write := range map[string]func(*testing.T, *Adapter) error{
		"a change": func(t *testing.T, s *Adapter) error {
			return s.roll(t.Context(), breakerRef(), s.asSeen(t, rolls("17", true)))
		},
		"a canary": func(t *testing.T, s *Adapter) error { _, err := s.CreateCanary(t.Context(), breakerRef()); return err },
		"a mark":   func(t *testing.T, s *Adapter) error { return s.Change(t.Context(), mark) },
		"a step":   func(t *testing.T, s *Adapter) error { return s.Change(t.Context(), lower) },
	} {
		t.Run(name, func(t *testing.T) {
			g, hook := NewWithT(t), &admission{says: denial(`admission webhook "m"`), onlyMeant: true}
			s := adapterWith(interceptor.Funcs{Apply: hook.apply, Patch: hook.patch},
				machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2, template: {spec: {}}}"),
				machineObject(t, "MachineSet", "set", "spec: {replicas: 3}"), machineObject(t, "Machine", "machine", "{}"))
			shows := func() observation.Refusal { return s.Observe(t.Context()).Value().Deployments[0].Refusal }
			refuse := func() { g.Expect(write(t, s)).To(MatchError(ContainSubstring("denied"))) }
			refuse()
			for range 5 {
				g.Expect(shows().Since).To(Equal(start))
				s.clock.(*clocktesting.FakeClock).Step(time.Minute)
				g.Expect(shows()).To(BeZero(), "so that it is tried")
				refuse()
			}
			s.clock.(*clocktesting.FakeClock).Step(time.Minute)
			shows()
			s.clock.(*clocktesting.FakeClock).Step(2*time.Minute + time.Second)
			refuse()
			g.Expect(shows().Since).To(Equal(s.clock.Now()), "nothing was refused for a while")
		})
	}
}

// A person is called after ten minutes of the same.
func TestAnotherWriteThatIsRefusedIsAnotherRefusal(t *testing.T) {
	step := func(name string) refusal {
		action := outcome.Action{Kind: outcome.ActionMarkMachines, Objects: []observation.Ref{machineRef(name)}}
		action.Step = &outcome.MachineSetStep{Deployment: breakerRef()}
		return refusalOfStep(action, nil)
	}
	change := func(value string) refusal {
		return refusal{Refusal: observation.Refusal{Of: observation.RefusedChange, Asked: rolls(value, true).Asks()}}
	}
	for name, test := range map[string]struct {
		first, second refusal
		same          bool
	}{
		"the same change":  {change("17"), change("17"), true},
		"another change":   {change("17"), change("18"), false},
		"another Machine":  {step("m"), step("n"), true},
		"a step, a change": {step("m"), change("17"), false},
	} {
		NewWithT(t).Expect(test.second.goesOn(test.first.Refusal)).To(Equal(test.same), name)
	}
}

// Those that take long leave no time for others, which are asked about first the next time.
func TestSlowAnswersAreAskedForInTurn(t *testing.T) {
	g, hook := NewWithT(t), &admission{says: denial(`admission webhook "m"`)}
	s := adapterWith(interceptor.Funcs{Apply: hook.apply}, machineObject(t, "MachineSet", "set", "{}"),
		machineObject(t, "Machine", "machine", "{}"))
	var objects []observation.MachineDeployment
	for _, name := range []string{"a", "b", "c"} {
		ref := breakerRef()
		ref.Name, ref.UID = name, name
		objects = append(objects, observation.MachineDeployment{Ref: ref, Version: "1"})
		action := rolls("17", true)
		action.Objects = []observation.Ref{ref}
		g.Expect(s.roll(t.Context(), ref, action)).NotTo(Succeed())
	}
	var asked []int
	hook.lasts = func() { s.clock.(*clocktesting.FakeClock).Step(3 * time.Second) }
	for range 3 {
		s.clock.(*clocktesting.FakeClock).Step(time.Minute)
		hook.tried = 0
		s.noteRefusals(t.Context(), objects)
		asked = append(asked, hook.tried)
	}
	g.Expect(asked).To(Equal([]int{2, 2, 2}), "two within five seconds")
	for _, d := range objects {
		g.Expect(s.clock.Since(s.refusals.refused[d.UID].askedAt)).To(BeNumerically("<", 2*time.Minute), d.Name)
	}
}
