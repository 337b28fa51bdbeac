package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	tick             = time.Second
	leaseDuration    = 15 * time.Second
	renewDeadline    = 10 * time.Second
	retryPeriod      = 2 * time.Second
	gracePeriod      = 8 * time.Second
	providerIDPrefix = "simcloud://"
	csiDriver        = "csi.simcloud"
	machineNamespace = "kube-system"
	kcmName          = "kube-controller-manager"
	ccmLeaseName     = "cloud-controller-manager"
)

// World is the truth. Nothing in it is what the controller believes: that is read through Controller.Observe only. Its parts are
// what moves by itself, and know the world that they are in.
type World struct {
	now   time.Time
	start time.Time
	rng   *rand.Rand
	ids   int
	// hasty: everybody acts at once, and nothing is left to chance.
	hasty  bool
	traits Traits
	hooks  Hooks
	// real is the cluster that was observed; nil in a scenario.
	real *Start

	cluster  *ucv1.Cluster
	record   *observation.Record
	released bool
	baseline *observation.Inventory
	findings []observation.Finding
	// proofs of kubelets that are kept with the baseline, unless they cannot be read.
	proofs       map[string]observation.Proof
	proofsUnread bool

	controlPlane *ControlPlane
	leases       *Leases
	ccm          *CCM
	addons       *Addons
	machines     *Machines
	rollouts     *Rollouts
	nodes        *Nodes
	bootstraps   *Bootstraps
	canary       *Canary
	cloud        *Cloud
	storage      *Storage

	scenario   Scenario
	last       migration.Decision
	lawless    bool
	disturbed  time.Time
	transcript *Transcript
	invariants *invariants
}

// newWorld is empty.
func newWorld(now time.Time, rng *rand.Rand) *World {
	w := &World{now: now, start: now, rng: rng, hooks: undisturbed{}}
	w.controlPlane, w.leases, w.ccm, w.addons = &ControlPlane{w: w}, &Leases{w: w}, &CCM{w: w}, &Addons{w: w}
	w.machines, w.rollouts, w.bootstraps = &Machines{w: w}, &Rollouts{w: w}, &Bootstraps{w: w}
	w.nodes, w.canary = &Nodes{w: w, joined: map[string]*node{}}, &Canary{w: w}
	w.cloud, w.storage = &Cloud{w: w, loadBalancers: map[string]string{}}, &Storage{w: w}
	return w
}

// start of every run; an arbitrary moment with whole seconds, like creation timestamps.
func startTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// NewWorld builds the scenario's world in its steady state: all pods run, one KCM leads, all Nodes are Ready.
func NewWorld(rng *rand.Rand, scenario Scenario) *World {
	w := newWorld(startTime(), rng)
	w.scenario, w.traits, w.findings, w.transcript = scenario, scenario.Traits, scenario.Findings, &Transcript{}
	w.ccm.otherAddresses, w.ccm.cloudConfig, w.ccm.slowNodes = scenario.OtherAddresses, "1", scenario.SlowNodes
	w.bootstraps.slow, w.bootstraps.inTree = scenario.SlowBootstrap, slices.Clone(scenario.InTreeProfiles)
	w.storage.ourClass, w.storage.phase = csiClass, "Bound"
	w.invariants = newInvariants()
	w.hooks = &witness{world: w}
	w.addons.ccm = newAddonSet(outcome.CCMSet, "ServiceAccount", "Deployment")
	w.addons.csi = newAddonSet(outcome.CSISet, "CSIDriver", "DaemonSet")
	w.addons.probe = newAddonSet(outcome.ProbeSet, "Deployment", "Lease")
	makeCluster(w)
	makeControlPlane(w)
	makeMachines(w)
	makeClasses(w)
	for i := range scenario.Services {
		w.cloud.services = append(w.cloud.services, &service{name: fmt.Sprintf("web-%d", i+1), uid: w.id("svc")})
	}
	// The steady state is reached before the run begins, without faults.
	for range 5 {
		w.now = w.now.Add(tick)
		for _, actor := range w.actors() {
			actor.step()
		}
	}
	w.start = w.now
	w.transcript.Lines = nil
	w.invariants.created = 0
	return w
}

func makeCluster(w *World) {
	s := w.scenario
	version := s.Version
	if version == "" {
		version = "v1.30.14"
	}
	w.cluster = &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: "user-" + s.Name, UID: types.UID("uid-" + s.Name), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.now),
		},
		Spec: ucv1.ClusterSpec{
			Version: version,
			Cloud: ucv1.CloudSpec{
				ProviderName: "simcloud", ConfigSecretRef: ucv1.SecretReference{Name: s.Name + "-cloud-config"},
			},
			Rollout: ucv1.RolloutSpec{
				NodeDeadlineSeconds:           new(int32(120)),
				InitializationDeadlineSeconds: new(int32(10)),
				SoakSeconds:                   new(int32(10)),
			},
		},
	}
	if s.WithoutOperatingSystemManager {
		w.cluster.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
	}
	if s.CreatedWithFeature {
		w.cluster.Spec.Features.ExternalCloudProvider = new(true)
	}
	if s.Configure != nil {
		s.Configure(w.cluster)
	}
	if s.FlipUnseen {
		w.flip(!s.WebhookMisses)
	}
}

// flip switches the feature on, as a person does, with the annotations that the webhook makes unless it was down.
func (w *World) flip(webhook bool) {
	w.cluster.Spec.Features.ExternalCloudProvider = new(true)
	w.cluster.Generation++
	if webhook {
		w.annotate()
	}
	w.say("person: switches externalCloudProvider on")
}

func (w *World) annotate() {
	w.cluster.Annotations = map[string]string{
		ucv1.CCMMigrationNeededAnnotation: "", ucv1.CSIMigrationNeededAnnotation: "",
	}
}

func (w *World) id(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s-%d", prefix, w.ids)
}

func (w *World) chance(p float64) bool {
	return p > 0 && (w.hasty || w.rng.Float64() < p)
}

func (w *World) elapsed() time.Duration { return w.now.Sub(w.start) }

func (w *World) ticks() int { return int(w.elapsed() / tick) }

func (w *World) faulty() bool { return w.ticks() < w.scenario.Faults.Until }

func (w *World) say(format string, args ...any) {
	w.hooks.Say(format, args...)
}

// actor is someone in the world who acts by itself.
type actor struct {
	name string
	step func()
}

func (w *World) actors() []actor {
	actors := []actor{
		{"managers", w.leases.step},
		{"service loop", w.cloud.stepServices},
		{"ccm", w.ccm.step},
		{"probe", w.leases.stepProbe},
		{"machine deployments", w.rollouts.step},
		{"machine sets", w.machines.stepSets},
		{"machines", w.machines.step},
		{"nodes", w.nodes.step},
		{"canary's workload", w.canary.step},
	}
	for _, workload := range w.controlPlane.workloads {
		actors = append(actors, actor{workload.name, func() { w.controlPlane.stepWorkload(workload) }})
	}
	for _, node := range w.controlPlane.hosts {
		actors = append(actors, actor{node.name, func() { w.controlPlane.stepKubelet(node) }})
	}
	return actors
}
