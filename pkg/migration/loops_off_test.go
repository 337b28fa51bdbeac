package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// switchedOff is a KCM with its in-tree provider whose loops are off.
func switchedOff() observation.Arguments {
	arguments := silentArguments()
	arguments.Flags["cloud-provider"] = "openstack"
	return arguments
}

func TestLoopsThatAreOffAlready(t *testing.T) {
	runDecisions(t, map[string]decision{
		"are a finding before the start": {
			given: fresh,
			when:  func(o *Observation) { setKCM(o, switchedOff()) },
			step:  ucv1.StepPreflight,
			fails: ucv1.LoopsOffAlreadyReason,
			says:  []string{"no migration of this Cluster did"},
		},
	})
}

func TestLoopsThatAreOffAreNeverAnOriginal(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	kcm := o.ControlPlane.Value().KCM
	o.Cluster.Status.Handover.Original = nil
	in := pass.New(o, noon(), o.Cluster.Status.Facts)
	out := components.OriginalsKept(in, kcm)
	g.Expect(out.Holds).To(BeFalse())
	g.Expect(out.Facts.Handover.Original).To(HaveLen(1))
	g.Expect(components.OriginalsKept(in.With(out), kcm).Holds).To(BeTrue())

	kcm.Arguments = switchedOff()
	g.Expect(components.OriginalsKept(in, kcm).Holds).To(BeTrue(), "to give them back would leave the cluster without any")
}

func TestARetryWaitsForItsTime(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	o.Cluster.Status.Facts = ucv1.Facts{
		Origin:   ucv1.OriginMigrating,
		Rollback: &ucv1.RollbackStatus{FinishedAt: stampAgo(time.Minute)},
	}
	o.Cluster.Spec.Handover.RetryAfter = stampAgo(-7 * time.Second)
	d := Decide(o, noon())
	g.Expect([]any{d.Step, d.Next(), d.LookAfter}).To(
		HaveExactElements(BeEquivalentTo(ucv1.StepRolledBack), BeNil(), Equal(7*time.Second)),
	)
	g.Expect(Decide(o, noon().Add(7*time.Second)).Step).To(Equal(ucv1.StepAdmitted))
}

func TestArgumentsThatCannotBeReadMayRunLoops(t *testing.T) {
	NewWithT(t).Expect(handover.MayRunLoops(observation.Process{})).To(BeTrue())
}
