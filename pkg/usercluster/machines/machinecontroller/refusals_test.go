package machinecontroller

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// admission answers applies, and counts those that are tried and those that are meant.
type admission struct {
	says         error
	tried, meant int
}

func (a *admission) apply(
	ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption,
) error {
	all := &client.ApplyOptions{}
	all.ApplyOptions(options)
	if len(all.DryRun) > 0 {
		a.tried++
		return a.says
	}
	a.meant++
	if a.says != nil {
		return a.says
	}
	return c.Apply(ctx, object, options...)
}

func denial(by string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "cluster.k8s.io", Resource: "machinedeployments"}, "md",
		errors.New(by+" denied the request: no such image"))
}

func TestAWriteThatWasRefusedIsAskedAboutAgain(t *testing.T) {
	refused := observation.Refusal{By: "webhook m", Since: start}
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
		"by another one now":              {after: time.Minute, says: denial(`admission webhook "n"`), want: observation.Refusal{By: "webhook n", Since: start}, tried: 1},
		"no one answers, so it is so":     {after: time.Minute, says: context.DeadlineExceeded, want: refused, tried: 1},
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
				g.Expect(s.patch(t.Context(), "change", breakerRef(), map[string]any{"spec": map[string]any{"replicas": 3}})).To(Succeed())
			}
			g.Expect(shows()).To(Equal(test.want))
			g.Expect(shows()).To(Equal(test.want), "and is not asked at each look")
			g.Expect(hook.tried).To(Equal(test.tried))
			g.Expect(hook.meant).To(Equal(1))
		})
	}
}

func TestACanaryThatIsRefusedIsARefusalOfItsTarget(t *testing.T) {
	g, hook := NewWithT(t), &admission{says: denial(`ValidatingAdmissionPolicy 'images' with binding 'images'`)}
	s := adapterWith(interceptor.Funcs{Apply: hook.apply}, machineObject(t, "MachineDeployment", "md", "spec: {template: {spec: {}}}"),
		machineObject(t, "MachineSet", "set", "{}"), machineObject(t, "Machine", "machine", "{}"))
	_, err := s.CreateCanary(t.Context(), breakerRef())
	g.Expect(err).To(MatchError(ContainSubstring("denied the request")))
	g.Expect(s.Observe(t.Context()).Value().Deployments[0].Refusal.By).To(Equal("ValidatingAdmissionPolicy images"))
	hook.says = nil
	s.clock.(*clocktesting.FakeClock).Step(time.Minute)
	g.Expect(s.Observe(t.Context()).Value().Deployments[0].Refusal).To(BeZero())
	g.Expect(hook.meant).To(Equal(1))
}
