package migration

import (
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// otherCCM is a CCM that Helm installed, with a Lease of its own.
func otherCCM(change func(*observation.ForeignCCM)) observation.ForeignCCM {
	m := observation.ForeignCCM{
		Ref: observation.Ref{
			Kind: "Deployment", Namespace: "infra", Name: "occm",
		}, Owner: "Helm release occm", KnownBy: "image openstack-cloud-controller-manager",
		Identity: "system:serviceaccount:infra:occm", Arguments: observation.Arguments{Flags: map[string]string{
			"cloud-provider": "openstack", "leader-elect-resource-name": "theirs", "leader-elect-resource-namespace": "infra",
		}},
	}
	if change != nil {
		change(&m)
	}
	return m
}

// ourLease has it elected by our CCM's Lease.
func ourLease(m *observation.ForeignCCM) {
	m.Arguments.Flags["leader-elect-resource-name"], m.Arguments.Flags["leader-elect-resource-namespace"] = "ccm", "kube-system"
}

func ourIdentity(m *observation.ForeignCCM) {
	ourLease(m)
	m.Identity = "system:serviceaccount:kube-system:ccm"
}

func free(m *observation.ForeignCCM) { m.Arguments.Flags["leader-elect"] = "false" }

func beside(change func(*observation.ForeignCCM)) func(*Observation) {
	return func(o *Observation) {
		o.ForeignCCMs = observation.Known([]observation.ForeignCCM{otherCCM(change)})
	}
}

func TestOtherManagersBeforeTheStart(t *testing.T) {
	refused := func(given func() Observation, step ucv1.Step, change func(*observation.ForeignCCM), says ...string) decision {
		return decision{given: given, when: beside(change), step: step, fails: ucv1.ForeignObjectsReason, says: says}
	}
	runDecisions(t, map[string]decision{
		"one with a Lease of its own blocks with its names and what to do": refused(fresh, ucv1.StepPreflight, nil,
			"Deployment infra/occm (Helm release occm) is a cloud-controller-manager that is not ours, known by its image "+
				"openstack-cloud-controller-manager; ",
			"it runs cloud-node-controller, cloud-node-lifecycle-controller, service-lb-controller with Lease infra/theirs, and ours "+
				"with kube-system/ccm: neither our fence nor a Lease",
			"Stop it, or uninstall it, and wait until its pods are gone and Lease infra/theirs has run out",
			`name it in spec.handover.acceptOtherManagers, like "Deployment infra/occm"`),
		"one without leader election blocks": refused(fresh, ucv1.StepPreflight, free, "with --leader-elect=false: neither our fence nor a Lease"),
		"one with our Lease and another identity blocks": refused(fresh, ucv1.StepPreflight, ourLease,
			"as system:serviceaccount:infra:occm, which our fence does not bind"),
		"one whose arguments cannot be read blocks": refused(fresh, ucv1.StepPreflight,
			func(m *observation.ForeignCCM) {
				m.Arguments = observation.Arguments{Problem: "container ccm runs a shell"}
			}, "it may run every cloud loop: container ccm runs a shell."),
		"one that initializes Nodes only blocks, and its loop is named": refused(fresh, ucv1.StepPreflight,
			func(m *observation.ForeignCCM) { m.NodesOnly = true }, "it runs cloud-node-controller. Stop it"),
		"one with the service loop off blocks with the loops that are left": refused(fresh, ucv1.StepPreflight,
			func(m *observation.ForeignCCM) { m.Arguments.Flags["controllers"] = "*,-service" },
			"it runs cloud-node-controller, cloud-node-lifecycle-controller with"),
		"with routes the route loop is named": refused(fresh, ucv1.StepPreflight,
			func(m *observation.ForeignCCM) { m.Arguments.Flags["allocate-node-cidrs"] = "true" }, "node-route-controller"),
		"a cluster that was created with the feature is blocked, too": refused(external, ucv1.StepAddons, ourLease, "Deployment infra/occm"),
		"one with the name of ours may be adopted": refused(fresh, ucv1.StepPreflight,
			func(m *observation.ForeignCCM) { m.SameName = true }, "or set spec.addons.adoption to Adopt"),
		"one with our Lease by the migration lock blocks whoever it is": {
			given: fresh, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Protocol, o.Lock = ucv1.LeaderMigrationProtocolChoice, observation.Known(observation.Lock{})
				o.Cluster.Spec.Version = "1.25.16"
				beside(ourIdentity)(o)
			},
			step: ucv1.StepPreflight, fails: ucv1.ForeignObjectsReason, says: []string{"without the migration lock"},
		},
	})
}

func TestOtherManagersThatDoNotStandAgainstTheStart(t *testing.T) {
	starts := func(when func(*Observation)) decision {
		return decision{given: fresh, when: when, step: ucv1.StepPreflight, action: outcome.ActionRecord}
	}
	runDecisions(t, map[string]decision{
		"our own identity behind the fence is harmless":         starts(beside(ourIdentity)),
		"one that was scaled to zero is harmless, and is named": {given: fresh, when: beside(func(m *observation.ForeignCCM) { m.Idle = true }), step: ucv1.StepPreflight, action: outcome.ActionRecord, says: []string{"have no pods: Deployment infra/occm."}},
		"one without any loop is harmless": starts(beside(func(m *observation.ForeignCCM) {
			m.Arguments.Flags["controllers"] = "-cloud-node,-cloud-node-lifecycle,-route,-service"
		})),
		"one that is to be adopted does not block": starts(func(o *Observation) {
			o.Cluster.Spec.Addons.Adoption = ucv1.Adopt
			beside(func(m *observation.ForeignCCM) { m.SameName = true })(o)
		}),
		"across minors it would go on, too": {
			given: wantingAcross, when: func(o *Observation) {
				o.Cluster.Spec.Addons.Adoption = ucv1.Adopt
				beside(func(m *observation.ForeignCCM) { m.SameName = true })(o)
			}, step: ucv1.StepPreflight, fails: ucv1.ForeignObjectsReason, never: "spec.addons.adoption",
		},
		"under Serialized its workload would go on, so that adoption does not help": {
			given: fresh, when: func(o *Observation) {
				o.Cluster.Spec.Addons.Adoption, o.Cluster.Spec.Handover.Protocol = ucv1.Adopt, ucv1.SerializedProtocolChoice
				beside(func(m *observation.ForeignCCM) { m.SameName = true })(o)
			},
			step: ucv1.StepPreflight, fails: ucv1.ForeignObjectsReason,
		},
		"one that a person vouched for does not block": starts(func(o *Observation) {
			o.Cluster.Spec.Handover.AcceptOtherManagers = []string{"Deployment infra/occm"}
			beside(free)(o)
		}),
		"one that leads is one finding with its Lease": {
			given: fresh, when: func(o *Observation) {
				beside(ourLease)(o)
				o.CCMLease = observation.Known(observation.Lease{
					Ref: observation.Ref{Kind: "Lease", Name: "ccm"}, Holder: "occm_1", DurationSeconds: 15, ChangedAt: ago(time.Second),
					WatchedAt: ago(time.Hour),
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.ForeignObjectsReason,
			says: []string{"Deployment infra/occm", "Lease ccm is held by occm_1"},
		},
		"without the fence no one can say what binds it": {
			given: fresh, when: func(o *Observation) {
				beside(ourIdentity)(o)
				o.Fence = observation.Unknown[observation.Fence]("timeout")
			},
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: []string{"the fence: timeout"},
		},
		"that no one could look is no start": {
			given: fresh, when: func(o *Observation) {
				o.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM]("listing Pods: forbidden")
			},
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason,
			says: []string{"other cloud-controller-managers of the user cluster: listing Pods: forbidden"},
		},
	})
}

func TestOtherManagersAfterTheStart(t *testing.T) {
	handover := func(given func() Observation, line string, when func(*Observation), says ...string) decision {
		return decision{given: given, when: when, step: ucv1.StepHandover, line: line, fails: ucv1.ForeignObjectsReason, says: says}
	}
	recording := func() Observation {
		o := starting()
		o.Cluster.Status.Baseline = &ucv1.BaselineStatus{SecretName: "b", Digest: o.Inventory.Value().Digest()}
		o.Baseline = o.Inventory
		return o
	}
	runDecisions(t, map[string]decision{
		"KCM is not touched beside one that is free":                 handover(recording, "ProcessesRecorded", beside(free), "Deployment infra/occm"),
		"nor beside one with our Lease that our fence does not bind": handover(recording, "ProcessesRecorded", beside(ourLease), "which our fence does not bind"),
		"a fence stays closed beside one that is free":               handover(fenced, "FenceOpen", beside(free), "with --leader-elect=false"),
		"a fence stays closed beside one with a Lease of its own":    handover(fenced, "FenceOpen", beside(nil), "with Lease infra/theirs"),
		"the workload stays away beside one that is free":            handover(serializedAt(fenced), "WorkloadAllowed", beside(free), "with --leader-elect=false"),
		"a fence opens beside one that our Lease holds":              {given: fenced, when: beside(ourLease), step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence},
		"a fence opens beside one that initializes Nodes only": {
			given: fenced, when: beside(func(m *observation.ForeignCCM) { m.NodesOnly = true }), step: ucv1.StepHandover,
			line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"the guard finds one that came later, and nothing is rolled": {
			given: rolling, when: beside(nil), step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason,
			says: []string{"Deployment infra/occm", "nothing is rolled until then"},
		},
		"the guard finds one after the end": {
			given: completed, when: beside(free), step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason,
			says: []string{"with --leader-elect=false"},
		},
		"the guard lets one be that our Lease holds": {given: rolling, when: beside(ourLease), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment},
		"a fence that someone closed stays so beside one that is free": {
			given: completed, when: func(o *Observation) {
				beside(free)(o)
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
			},
			step: ucv1.StepAddons, fails: ucv1.ForeignObjectsReason,
		},
		"that no one could look ends no completed migration": {
			given: finished, when: func(o *Observation) { o.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM]("timeout") },
			step: ucv1.StepFinished,
		},
	})
}
