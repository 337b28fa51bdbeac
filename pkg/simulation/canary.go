package simulation

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Canary is the workload of the canary: its objects by kind, and since when each is being deleted.
type Canary struct {
	w *World

	objects []canaryObject
}

type canaryObject struct {
	kind, uid string
	deletedAt time.Time
}

// createCanary makes what is missing, one object after the other.
func (c *Controller) createCanary(decision migration.Decision) bool {
	w, plan := c.world, decision.Action.Canary
	if w.canary.deployment() == nil {
		if w.cloud.webhookRefuses() {
			return false
		}
		d := &machineDeployment{
			name:       ucv1.CanaryName,
			namespace:  machineNamespace,
			uid:        w.id("md"),
			replicas:   1,
			generation: 1,
			surge:      1,
			guard:      guard{canary: true},
		}
		w.machines.deployments = append(w.machines.deployments, d)
	}
	for _, kind := range plan.Kinds() {
		if w.hooks.Killed(decision) {
			return false
		}
		if !slices.ContainsFunc(w.canary.objects, func(o canaryObject) bool { return o.kind == kind }) {
			w.canary.objects = append(w.canary.objects, canaryObject{kind: kind, uid: w.id("canary")})
		}
	}
	return true
}

func (c *Controller) removeCanary(decision migration.Decision) bool {
	w := c.world
	for _, ref := range decision.Action.Objects {
		if d := w.canary.deployment(); d != nil && d.uid == ref.UID {
			d.deleting = true
		}
		for i := range w.canary.objects {
			if w.canary.objects[i].uid == ref.UID {
				w.canary.objects[i].deletedAt = w.now
			}
		}
		if w.hooks.Killed(decision) {
			return false
		}
	}
	return true
}

// step lets deleted objects go: a Service only while someone deletes its load balancer.
func (ca *Canary) step() {
	ca.objects = slices.DeleteFunc(ca.objects, func(o canaryObject) bool {
		goes := o.kind != "Service" || ca.w.ccm.leader() != nil && !ca.w.cloud.broken()
		return !o.deletedAt.IsZero() && goes && ca.w.chance(0.5)
	})
}

func (ca *Canary) deployment() *machineDeployment {
	at := slices.IndexFunc(ca.w.machines.deployments, func(d *machineDeployment) bool { return d.guard.canary })
	if at < 0 {
		return nil
	}
	return ca.w.machines.deployments[at]
}

func (ca *Canary) has(m *machine) bool {
	s, d := ca.w.machines.setOf(m), ca.deployment()
	return s != nil && d != nil && s.deployment == d.uid
}

// node is nil until it has joined.
func (ca *Canary) node() *node {
	for _, m := range ca.w.machines.all {
		if ca.has(m) && !m.deleting() {
			return ca.w.nodes.of(m)
		}
	}
	return nil
}

func (ca *Canary) observe() observation.CanaryWorkload {
	seen := observation.CanaryWorkload{}
	n := ca.node()
	serves := n != nil && n.ready && !n.tainted
	for _, object := range ca.objects {
		seen.Objects = append(seen.Objects, observation.CanaryObject{
			Ref:           observation.Ref{Kind: object.kind, Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName, UID: object.uid},
			DeletingSince: object.deletedAt,
		})
		switch {
		case !serves:
		case object.kind == "Pod":
			seen.PodNode, seen.PodReady = n.name, n.csi
		case object.kind == "PersistentVolumeClaim" && n.csi:
			seen.Volume, seen.Attached = "canary", true
		case object.kind == "Service" && ca.w.ccm.leader() != nil && !ca.w.cloud.broken():
			seen.Ingress = []string{"192.0.2.99"}
		}
	}
	return seen
}

func (ms *Machines) observeDrains() []observation.Drain {
	var drains []observation.Drain
	for _, m := range ms.all {
		if m.deleting() && m.stuck {
			drains = append(drains, observation.Drain{
				Machine: observation.Ref{Kind: "Machine", Namespace: m.namespace, Name: m.name, UID: m.uid}, Node: m.node,
				Pods: []observation.DrainedPod{{Namespace: "default", Name: "web-0", Budget: "PodDisruptionBudget default/web"}},
			})
		}
	}
	return drains
}

// checkCanary: no MachineDeployment with Machines is rolled before the canary was proven, and what counts as proven is so: its
// Node serves, and its kubelet is external in truth.
func (i *invariants) checkCanary(w *World, o observation.Observation, d migration.Decision) {
	kind := o.Cluster.Spec.Rollout.Canary
	if facts := w.facts(); provenCanary(&facts) {
		return
	}
	if !w.undoing() && (kind == "" || kind == ucv1.CanaryMachine) {
		for _, pool := range o.Machines.Value().Deployments {
			if pool.Replicas > 0 && isRolled(d.Action, pool.Ref) {
				i.fail("rule 9: %s is rolled before the canary was proven", pool.Ref)
			}
		}
	}
	if n := w.canary.node(); provenCanary(d.Facts) && (n == nil || !n.servesExternally()) {
		i.fail("rule 9: the canary counts as proven, and its Node is not")
	}
}

func isRolled(action *outcome.Action, ref observation.Ref) bool {
	return action != nil && action.Kind == outcome.ActionRollMachineDeployment && slices.Contains(action.Objects, ref)
}

func provenCanary(facts *ucv1.Facts) bool {
	return facts != nil && facts.Canary != nil && facts.Canary.ProvenAt != nil
}

func (n *node) servesExternally() bool { return n.external && n.serves() }

func (n *node) serves() bool {
	return n.ready && !n.tainted && n.csi && n.providerID == providerIDPrefix+n.name
}
