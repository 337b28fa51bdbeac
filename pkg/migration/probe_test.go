package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// unprobed has its baseline and no probe yet.
func unprobed() Observation {
	o := starting()
	recorded(&o)
	o.Cluster.Status.Handover.ProbedAt = nil
	return o
}

// probing has wanted the probe for a while; its objects are there.
func probing(since time.Duration, change func(*Observation)) func() Observation {
	return func() Observation {
		o := unprobed()
		o.Cluster.Status.Handover.ProbeStartedAt = stampAgo(since)
		if change != nil {
			change(&o)
		}
		return o
	}
}

func probeLease(holder string, changed time.Duration) func(*Observation) {
	return func(o *Observation) {
		edit(&o.Probe, func(p *observation.Probe) {
			p.Lease = observation.Lease{Holder: holder, DurationSeconds: 15, WatchedAt: ago(time.Hour), ChangedAt: ago(changed)}
		})
	}
}

// led has probe_1 lead for fifteen seconds.
func led(change func(*Observation)) func(*Observation) {
	return func(o *Observation) {
		o.Cluster.Status.Handover.ProbeHolder, o.Cluster.Status.Handover.ProbeLedAt = "probe_1", stampAgo(15*time.Second)
		change(o)
	}
}

func leftovers(o *Observation) {
	edit(&o.Probe, func(p *observation.Probe) {
		p.Left = []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm-probe"}}
	})
}

func kcmUntouched(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.StartedAt).To(BeNil()) }

func TestTheProbeComesBeforeKCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the probe is wanted first": {
			given: unprobed, step: ucv1.StepHandover, line: "Probed", action: outcome.ActionRecord,
			says: []string{"probe of the CCM starts"}, facts: kcmUntouched,
		},
		"its objects are applied": {
			given: probing(time.Second, func(o *Observation) {
				edit(&o.Probe, func(p *observation.Probe) {
					p.Set.Drifted = []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm-probe"}}
				})
			}),
			step: ucv1.StepHandover, line: "Probed", action: outcome.ActionApplyAddons, says: []string{"Deployment kube-system/ccm-probe"},
		},
		"objects of someone else under its names are not touched": {
			given: probing(time.Second, func(o *Observation) {
				edit(&o.Probe, func(p *observation.Probe) { p.Set.Foreign = messages.Said("Lease kube-system/ccm-probe") })
			}),
			step: ucv1.StepHandover, line: "Probed", fails: ucv1.ForeignObjectsReason,
		},
		"it is waited for": {
			given: probing(time.Second, nil), step: ucv1.StepHandover, line: "Probed", wait: ucv1.ProbingReason, facts: kcmUntouched,
		},
		"who leads is noted": {
			given: probing(time.Second, probeLease("probe_1", time.Second)), step: ucv1.StepHandover, line: "Probed",
			action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.ProbeHolder).To(Equal("probe_1")) },
		},
		"leading for a moment is not enough": {
			given: probing(20*time.Second, led(probeLease("probe_1", 6*time.Second))),
			step:  ucv1.StepHandover, line: "Probed", wait: ucv1.ProbingReason,
		},
		"a process that comes after one that died begins again": {
			given: probing(20*time.Second, led(probeLease("probe_2", time.Second))),
			step:  ucv1.StepHandover, line: "Probed", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.ProbeLedAt.Time).To(Equal(noon())) },
		},
		"one that let its Lease go did not stay up": {
			given: probing(20*time.Second, led(probeLease("", time.Second))),
			step:  ucv1.StepHandover, line: "Probed", wait: ucv1.ProbingReason,
		},
		"one that led and stayed up is enough": {
			given: probing(20*time.Second, led(probeLease("probe_1", time.Second))),
			step:  ucv1.StepHandover, line: "Probed", action: outcome.ActionRecord, says: []string{"led and stayed up"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.ProbedAt.Time).To(Equal(noon()))
				g.Expect(f.Handover.ProbeStartedAt).To(BeNil())
				kcmUntouched(g, f)
			},
		},
		"a probe that is over is removed before KCM is touched": {
			given: starting, when: func(o *Observation) { recorded(o); leftovers(o) }, step: ucv1.StepHandover, line: "Probed",
			action: outcome.ActionPruneAddons, says: []string{"Deployment kube-system/ccm-probe"},
		},
		"a probe that cannot be looked at is waited for": {
			given: probing(time.Second, func(o *Observation) { o.Probe = observation.Unknown[observation.Probe]("timeout") }),
			step:  ucv1.StepHandover, line: "Probed", wait: ucv1.CouldNotLookReason,
		},
	})
}

func TestSomeHaveNoProbe(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a provider whose CCM must not be probed has none": {
			given: unprobed, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.ProbeHazard = "it starts loops early" })
			},
			step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord,
		},
		"a cluster without Nodes has none": {
			given: unprobed, when: func(o *Observation) { o.Nodes = observation.Known([]observation.Node(nil)) }, step: ucv1.StepHandover,
			line: "ProcessesRecorded", action: outcome.ActionRecord,
		},
	})
}

func TestAProbeThatFailsLeavesKCMAlone(t *testing.T) {
	failed := func(since time.Duration) func(*Observation) {
		return func(o *Observation) {
			at := metav1.NewTime(ago(since))
			o.Cluster.Status.Handover.ProbeFailedAt, o.Cluster.Status.Handover.ProbeProblem = &at, "it never led."
		}
	}
	crashing := func(o *Observation) {
		edit(&o.Probe, func(p *observation.Probe) {
			p.Set.Unhealthy = messages.Said(
				"Deployment kube-system/ccm-probe: 0 of 1 (container ccm: CrashLoopBackOff, last exit code 1 Error)",
			)
		})
	}
	runDecisions(t, map[string]decision{
		"what was seen of it is kept": {
			given: probing(4*time.Minute, crashing), step: ucv1.StepHandover, line: "Probed", action: outcome.ActionRecord,
			says: []string{"it never led"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.ProbeProblem).To(ContainSubstring("last exit code 1"))
				g.Expect(f.Handover.ProbeStartedAt).To(BeNil(), "it is not wanted any more")
				kcmUntouched(g, f)
			},
		},
		"it is removed": {
			given: unprobed, when: func(o *Observation) { failed(time.Minute)(o); leftovers(o) }, step: ucv1.StepHandover, line: "Probed",
			action: outcome.ActionPruneAddons,
		},
		"a person is called": {
			given: unprobed, when: failed(time.Minute), step: ucv1.StepHandover, line: "Probed", fails: ucv1.ProbeFailedReason,
			says: []string{"KCM was not touched", "it never led", "cloud configuration"},
		},
		"it is tried again after a while": {
			given: unprobed, when: failed(6 * time.Minute), step: ucv1.StepHandover, line: "Probed", action: outcome.ActionRecord,
			says: []string{"tried again"},
		},
		"a CCM that changes is probed again": {
			given: unprobed, when: func(o *Observation) {
				failed(time.Minute)(o)
				edit(&o.Addons, func(a *observation.Addons) {
					a.CCM.Drifted = []observation.Ref{{Kind: "Secret", Namespace: "kube-system", Name: "cloud-config"}}
				})
			},
			step: ucv1.StepAddons, action: outcome.ActionApplyAddons,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.ProbeFailedAt).To(BeNil()) },
		},
		"a Cluster that is deleted takes it along": {
			given: unprobed, when: func(o *Observation) { leftovers(o); o.Cluster.DeletionTimestamp = stampAgo(0) },
			step: ucv1.StepHandover, action: outcome.ActionPruneAddons,
		},
	})
}
