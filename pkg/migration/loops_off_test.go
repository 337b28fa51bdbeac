package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// switchedOff is a KCM with its in-tree provider whose loops are off.
func switchedOff() Arguments {
	arguments := silentArguments()
	arguments.Flags["cloud-provider"] = "openstack"
	return arguments
}

func TestLoopsThatAreOffAlready(t *testing.T) {
	runDecisions(t, map[string]decision{
		"are a finding before the start": {
			given: fresh, when: func(o *Observation) { setKCM(o, switchedOff()) }, step: ucv1.StepPreflight, fails: ucv1.LoopsOffAlreadyReason,
			says: []string{"no migration of this Cluster did"},
		},
		"are no in-tree cluster that is ready": {
			given: fresh, when: func(o *Observation) {
				o.Cluster.Spec.Features.ExternalCloudProvider, o.Cluster.Status.Facts = nil, ucv1.Facts{Origin: ucv1.OriginInTree}
				o.InTree = Known(Component{Arguments: switchedOff()})
			}, step: ucv1.StepInTree, fails: ucv1.LoopsOffAlreadyReason, says: []string{"take the exclusions out"},
		},
	})
}

func TestLoopsThatAreOffAreNeverAnOriginal(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	p := &pass{o: o, now: noon(), facts: *o.Cluster.Status.Facts.DeepCopy()}
	kcm := o.ControlPlane.Value().KCM
	p.facts.Handover.Original = nil
	g.Expect(p.rememberOriginals(kcm)).To(BeFalse())
	g.Expect(p.facts.Handover.Original).To(HaveLen(1))

	p.facts.Handover.Original, kcm.Arguments = nil, switchedOff()
	p.rememberOriginals(kcm)
	g.Expect(p.facts.Handover.Original).To(BeEmpty(), "to give them back would leave the cluster without any")
}

func TestWhatInTreeSaysThatItLookedAt(t *testing.T) {
	component := Component{Ref: Ref{Kind: "Deployment", Namespace: "user-alpha", Name: "kcm"}}
	running, broken := component, component
	component.Arguments = finalArguments()
	running.Arguments, broken.Arguments = inTree(), Arguments{Problem: "it is a script"}
	for name, test := range map[string]struct {
		seen Observed[Component]
		want string
	}{
		"a KCM that runs them":            {Known(running), "Deployment user-alpha/kcm run cloud-node-lifecycle-controller"},
		"one that has no cloud provider":  {Known(component), "has no in-tree cloud provider"},
		"one whose arguments are unclear": {Known(broken), "is not known: it is a script"},
		"one that does not exist":         {Absent[Component](), "does not exist"},
		"one that cannot be looked at":    {Unknown[Component]("timeout"), "cannot be looked at: timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Observation{Cluster: switchedOn(), InTree: test.seen}.LookedAt()).To(ContainSubstring(test.want))
		})
	}
}

func TestARetryWaitsForItsTime(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	o.Cluster.Status.Facts = ucv1.Facts{Origin: ucv1.OriginMigrating, Rollback: &ucv1.RollbackStatus{FinishedAt: stampAgo(time.Minute)}}
	o.Cluster.Spec.Handover.RetryAfter = stampAgo(-7 * time.Second)
	d := Decide(o, noon())
	g.Expect([]any{d.Step, d.Verb, d.LookAfter}).To(HaveExactElements(BeEquivalentTo(ucv1.StepRolledBack), BeNil(), Equal(7*time.Second)))
	g.Expect(Decide(o, noon().Add(7*time.Second)).Step).To(Equal(ucv1.StepAdmitted))
}
