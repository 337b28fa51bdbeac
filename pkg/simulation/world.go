package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// What holds in every world that is made up.
const (
	Tick             = time.Second
	LeaseDuration    = 15 * time.Second
	renewDeadline    = 10 * time.Second
	RetryPeriod      = 2 * time.Second
	gracePeriod      = 8 * time.Second
	ProviderIDPrefix = "simcloud://"
	CSIDriver        = "csi.simcloud"
	MachineNamespace = "kube-system"
	KCMName          = "kube-controller-manager"
	ccmLeaseName     = "cloud-controller-manager"
)

// World is the truth. Nothing in it is what the controller believes: that is read through Controller.Observe only. Its parts are
// what moves by itself, and know the world that they are in.
type World struct {
	Now   time.Time
	Start time.Time
	Rng   *rand.Rand
	ids   int
	// hasty: everybody acts at once, and nothing is left to chance.
	hasty  bool
	Traits Traits
	Hooks  Hooks
	// real is the cluster that was observed; nil in a scenario.
	real *Start

	Cluster  *ucv1.Cluster
	Record   *observation.Record
	Released bool
	Baseline *observation.Inventory
	Findings []observation.Finding
	// Proofs of kubelets that are kept with the baseline, unless they cannot be read.
	Proofs       map[string]observation.Proof
	ProofsUnread bool

	ControlPlane *ControlPlane
	APIServers   *APIServers
	Leases       *Leases
	CCM          *CCM
	Addons       *Addons
	Machines     *Machines
	rollouts     *Rollouts
	Nodes        *Nodes
	Bootstraps   *Bootstraps
	Canary       *Canary
	Cloud        *Cloud
	Storage      *Storage
}

// NewWorld is empty.
func NewWorld(now time.Time, rng *rand.Rand) *World {
	w := &World{Now: now, Start: now, Rng: rng, Hooks: unwatched()}
	w.ControlPlane, w.Leases, w.CCM, w.Addons = &ControlPlane{w: w}, &Leases{w: w}, &CCM{w: w}, &Addons{w: w}
	w.APIServers = &APIServers{w: w}
	w.Machines, w.rollouts, w.Bootstraps = &Machines{w: w}, &Rollouts{w: w}, &Bootstraps{w: w}
	w.Nodes, w.Canary = &Nodes{w: w, joined: map[string]*Node{}}, &Canary{w: w}
	w.Cloud, w.Storage = &Cloud{w: w, OldNames: newOldNames(), loadBalancers: map[string]string{}}, &Storage{w: w}
	return w
}

// Flip switches the feature on, as a person does, with the annotations that the webhook makes unless it was down.
func (w *World) Flip(webhook bool) {
	w.Cluster.Spec.Features.ExternalCloudProvider = new(true)
	w.Cluster.Generation++
	if webhook {
		w.annotate()
	}
	w.Say("person: switches externalCloudProvider on")
}

func (w *World) annotate() {
	w.Cluster.Annotations = map[string]string{
		ucv1.CCMMigrationNeededAnnotation: "", ucv1.CSIMigrationNeededAnnotation: "",
	}
}

// ID is one that nothing else has.
func (w *World) ID(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s-%d", prefix, w.ids)
}

// Chance draws whether something happens now.
func (w *World) Chance(p float64) bool {
	return p > 0 && (w.hasty || w.Rng.Float64() < p)
}

// Elapsed since the start of the run.
func (w *World) Elapsed() time.Duration { return w.Now.Sub(w.Start) }

// Ticks since the start of the run.
func (w *World) Ticks() int { return int(w.Elapsed() / Tick) }

// Say what happens.
func (w *World) Say(format string, args ...any) {
	w.Hooks.Story(format, args...)
}

// Actor is someone in the world who acts by itself.
type Actor struct {
	Name string
	Step func()
}

// Actors act once a tick each, in any order.
func (w *World) Actors() []Actor {
	actors := []Actor{
		{"managers", w.Leases.step},
		{"service loop", w.Cloud.stepServices},
		{"ccm", w.CCM.step},
		{"probe", w.Leases.stepProbe},
		{"machine deployments", w.rollouts.step},
		{"machine sets", w.Machines.stepSets},
		{"machines", w.Machines.step},
		{"nodes", w.Nodes.step},
		{"canary's workload", w.Canary.step},
	}
	if len(w.APIServers.Minors) > 0 {
		actors = append(actors, Actor{"api servers' owner", w.APIServers.step})
	}
	for _, workload := range w.ControlPlane.Workloads {
		actors = append(actors, Actor{workload.Name, func() { w.ControlPlane.stepWorkload(workload) }})
	}
	for _, node := range w.ControlPlane.Hosts {
		actors = append(actors, Actor{node.Name, func() { w.ControlPlane.stepKubelet(node) }})
	}
	return actors
}
