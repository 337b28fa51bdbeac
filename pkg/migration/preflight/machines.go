package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// stuckAfter is when a Machine that is being deleted counts as stuck: the machine-controller gives up draining after two hours.
const stuckAfter = 2 * time.Hour

func machineChecks() []check {
	return []check{
		{
			id: "MachineDeploymentPaused", severity: observation.Warning,
			means:  "A MachineDeployment is paused: its Machines are not replaced, and the migration stops before its end.",
			unseen: unseenMachines, find: paused,
		},
		{
			id: "MachineStandalone", severity: observation.Warning,
			means:  "A Machine belongs to no MachineDeployment: no one replaces it.",
			unseen: unseenMachines, find: standalone,
		},
		{
			id: "NodeWithoutMachine", severity: observation.Warning,
			means:  "A Node belongs to no Machine: it is not replaced, and keeps what the in-tree provider gave it.",
			unseen: func(o Facts) string { return cmp.Or(unseenMachines(o), unseenDetails(o)) }, find: strangers,
		},
		{
			id: "MachineStuck", severity: observation.Warning,
			means:  "A Machine has been going for two hours, or reports an error: replacing the others will meet the same trouble.",
			unseen: unseenMachines, find: stuckMachines,
		},
		{
			id: "QuotaExceeded", severity: observation.Blocking,
			means:  "A Machine reports that the cloud has no room for it: the extra Machines of a roll are not made either.",
			unseen: unseenMachines, find: quotaExceeded,
		},
		{
			id: "MachineDeploymentManaged", severity: observation.Warning,
			means:  "Another tool writes a MachineDeployment: if it takes our annotation out of the template again, the migration stops.",
			unseen: unseenPools, find: managed,
		},
		{
			id: "MachineDeploymentRefused", severity: observation.Warning,
			means: "A webhook refuses a write of a MachineDeployment that changes nothing, so that it cannot be rolled either: this " +
				"blocks. That no one could ask is a warning.",
			unseen: unseenWrites, find: refused,
		},
		{
			id: "MachineDeploymentRewritten", severity: observation.Info,
			means:  "A webhook changes the template of a MachineDeployment at any write: whoever writes it next replaces its Machines.",
			unseen: unseenPools, find: rewritten,
		},
		{
			id: "AutoscalerPresent", severity: observation.Warning,
			means: "A cluster-autoscaler changes the number of Machines while they are replaced, and needs the gates of the CSI " +
				"migration, too.",
			unseen: func(o Facts) string { return cmp.Or(unseenPools(o), unseenPods(o)) }, find: autoscaled,
		},
	}
}

// quotaWords are how clouds and the machine-controller say that there is no room; the first is its error reason:
// https://github.com/kubermatic/machine-controller/blob/v1.59.3/pkg/apis/cluster/common/consts.go
func quotaWords() []string {
	return []string{"insufficientresources", "quota", "limitexceeded", "out of capacity", "insufficientinstancecapacity"}
}

func saysQuota(problem string) bool {
	problem = strings.ToLower(problem)
	return slices.ContainsFunc(quotaWords(), func(word string) bool { return strings.Contains(problem, word) })
}

func machineName(machine observation.Machine) observation.Ref { return machine.Ref }

func paused(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Machines.Value().Deployments, func(d observation.MachineDeployment) observation.Ref { return d.Ref },
		func(d observation.MachineDeployment) bool { return d.Paused }),
		"They are paused, so their Machines are not replaced", "Set spec.paused to false before the migration comes to step Roll.")
}

func standalone(o Facts, _ time.Time) []observation.Finding {
	return about(
		chosen(o.Machines.Value().Machines, machineName, func(m observation.Machine) bool { return m.Set == "" && !m.Deleting }),
		"They belong to no MachineDeployment, so no one replaces them",
		"Replace them by a MachineDeployment before the migration "+
			"comes to step Roll.",
	)
}

// strangers are no surprise among the Nodes of the control plane, nor when a person vouched for them.
func strangers(o Facts, _ time.Time) []observation.Finding {
	owned := map[string]bool{}
	for _, machine := range o.Machines.Value().Machines {
		owned[machine.NodeName] = true
	}
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		return !owned[n.Name] && !n.ControlPlane && !slices.Contains(o.Cluster.Spec.Rollout.AcceptNodes, n.Name)
	}), "They belong to no Machine, so no one replaces them, and step Verify waits for them",
		"Replace them yourself, or name them in spec.rollout.acceptNodes.")
}

func stuckMachines(o Facts, now time.Time) []observation.Finding {
	return about(chosen(o.Machines.Value().Machines, machineName, func(m observation.Machine) bool {
		return m.Deleting && now.Sub(m.DeletingSince) > stuckAfter || m.Problem != "" && !saysQuota(m.Problem)
	}), "They do not go although they are being deleted for two hours, or report an error", "See their events and the "+
		"machine-controller's logs.")
}

func quotaExceeded(o Facts, _ time.Time) []observation.Finding {
	return about(
		chosen(
			o.Machines.Value().Machines,
			machineName,
			func(m observation.Machine) bool { return m.Problem != "" && saysQuota(m.Problem) },
		),
		"The cloud has no room for them, and a roll needs room for more",
		"Raise the quota, or make room.",
	)
}

func managed(o Facts, _ time.Time) []observation.Finding {
	tools := map[string][]observation.Ref{}
	for _, pool := range o.Pools.Value() {
		if pool.Tool != "" {
			tools[pool.Tool] = append(tools[pool.Tool], pool.Ref)
		}
	}
	var findings []observation.Finding
	for tool, pools := range tools {
		findings = append(findings, about(pools, tool+" writes them, and may take the annotation forceRestart out of their "+
			"templates again",
			"Let it ignore spec.template.metadata.annotations, or put that annotation there.")...)
	}
	return findings
}

// unseenWrites names one of those whose webhooks could not be asked.
func unseenWrites(o Facts) string {
	for _, pool := range o.Pools.Value() {
		if why := unseen("what webhooks say of a write of "+pool.String(), pool.Write); why != "" {
			return why
		}
	}
	return unseenPools(o)
}

func refused(o Facts, _ time.Time) []observation.Finding {
	var findings []observation.Finding
	for _, pool := range o.Pools.Value() {
		if why := pool.Write.Value().Refused; why != "" {
			findings = append(findings, about([]observation.Ref{pool.Ref}, "A write that changes nothing was refused by "+why,
				"Correct the MachineDeployment, or what the webhook asks: the machine-controller's asks the cloud.")...)
		}
	}
	return severe(observation.Blocking, findings)
}

func rewritten(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Pools.Value(), func(p Pool) observation.Ref { return p.Ref }, func(p Pool) bool {
		return p.Write.Value().Rewritten
	}), "A webhook changes their templates at any write, and the machine-controller then replaces their Machines",
		"Write them only when their Machines may be replaced.")
}

func autoscaled(o Facts, _ time.Time) []observation.Finding {
	objects := slices.Clone(o.Pods.Value().Autoscalers)
	for _, pool := range o.Pools.Value() {
		if pool.Autoscaled {
			objects = append(objects, pool.Ref)
		}
	}
	return about(objects, "A cluster-autoscaler changes the number of Machines: it may take away those that were just made, and "+
		"make more than the "+
		"budget allows", "Stop it until the migration is completed; then give it the gates that kube-scheduler has.")
}

func disruptionChecks() []check {
	return []check{
		{
			id: "DisruptionBudgetNeverAllows", severity: observation.Blocking,
			means:  "All pods of a PodDisruptionBudget are healthy and it still allows nothing: no Node with one of them can be drained.",
			unseen: func(o Facts) string { return cmp.Or(unseenBudgets(o), unseen("the catalogue", o.Provider)) }, find: neverAllows,
		},
		{
			id: "DisruptionBudgetExhausted", severity: observation.Warning,
			means:  "A PodDisruptionBudget allows nothing at the moment, because pods of it are not healthy.",
			unseen: unseenBudgets, find: exhausted,
		},
		{
			id: "QuotaUnknown", severity: observation.Warning, beforeRoll: true,
			means:  "Whether the cloud has room for the extra Machines of a roll: only a Machine that is made can tell.",
			unseen: quotaUnknown, find: func(Facts, time.Time) []observation.Finding { return nil },
		},
	}
}

func unseenBudgets(o Facts) string { return unseen("the PodDisruptionBudgets", o.Budgets) }

func budgetName(budget Budget) observation.Ref {
	return observation.Ref{Kind: "PodDisruptionBudget", Namespace: budget.Namespace, Name: budget.Name}
}

func (b Budget) spent() bool { return !b.Stale && b.Expected > 0 && b.Allowed == 0 }

// neverAllows: after -skip-eviction-after, two hours by default, the machine-controller evicts no more and deletes the instance.
// On vSphere it deletes pods whose volumes are attached in its first pass, and no instance that still has a VolumeAttachment:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L626-L642
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/node/poddeletion/pod_deletion.go#L185
func neverAllows(o Facts, _ time.Time) []observation.Finding {
	then := "draining their Nodes waits until the machine-controller uses force, after two hours"
	if o.Provider.Value().DetachesFirst {
		then = "the machine-controller deletes those with attached volumes at once, tries to evict the others for two hours, and " +
			"then deletes the instance when no volume is attached to it"
	}
	return about(chosen(o.Budgets.Value(), budgetName, func(b Budget) bool { return b.spent() && b.Healthy >= b.Expected }),
		"All of their pods are healthy, and no one of them may be evicted: "+then, "Add a replica, or let them allow one disruption.")
}

func exhausted(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Budgets.Value(), budgetName, func(b Budget) bool { return b.spent() && b.Healthy < b.Expected }),
		"They allow no disruption now, because pods of theirs are not healthy", "Fix those pods before the migration comes to step "+
			"Roll.")
}

// quotaUnknown is honest about what no API of Kubernetes tells. Without Machines to replace nothing is rolled. A Machine that is
// being deleted keeps its instance while it is drained, and its MachineSet makes another one meanwhile, also with maxSurge 0:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L344
// At worst all new ones are there before the first old one is gone. Those that go already before the roll are not added: the
// cloud counts them itself when it is asked for room, and until the roll they only become fewer.
func quotaUnknown(o Facts) string {
	extra, replaced := 0, 0
	for _, pool := range o.Pools.Value() {
		extra += pool.Surge
		replaced += pool.Replicas
	}
	if extra+replaced == 0 && !o.Pools.IsUnknown() {
		return ""
	}
	return cmp.Or(unseenPools(o), fmt.Sprintf("the cloud's quota: a roll needs room for extra Machines, by the MachineDeployments' "+
		"maxSurge for %d in all, and for up to %d while those that were replaced are still being drained; only a Machine that is made "+
		"can tell", extra, max(extra, replaced)))
}
