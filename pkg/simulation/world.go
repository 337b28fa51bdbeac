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

// World is the truth. Nothing in it is what the controller believes: that is read through Controller.Observe only.
type World struct {
	now      time.Time
	start    time.Time
	rng      *rand.Rand
	ids      int
	scenario Scenario

	cluster  *ucv1.Cluster
	record   *observation.Record
	released bool
	last     migration.Decision

	managementNodes []*managementNode
	workloads       []*workload
	processes       []*process
	kcmLease        lease
	ccmLease        lease
	lock            lock

	ccm        addonSet
	csi        addonSet
	probe      addonSet
	probeLease lease
	replicas   []*process
	// retired are processes of the CCM whose pods still show their end.
	retired []*process
	late    []lateRenewal
	// mayFreeKCM says that the controller granted itself the right to free KCM's Lease.
	mayFreeKCM bool
	// rightStays says that a policy refuses to delete that right.
	rightStays bool
	fenceOpen  bool
	ccmStopped bool
	ccmArmed   bool
	others     []*otherManager
	// ccmCloudNode says that the CCM was applied with its loop cloud-node.
	ccmCloudNode   bool
	otherAddresses bool
	cloudConfig    string
	slowNodes      time.Duration
	// slowBootstrap is how long the operating-system-manager takes, inTreeProfiles are MachineDeployments whose profile has a flag
	// of its own.
	slowBootstrap  time.Duration
	inTreeProfiles []string
	// passedOver is how much of the time in which the CSI driver registers volumes was not gone through.
	passedOver time.Duration
	inherited  ucv1.InheritedConfiguration

	deployments []*machineDeployment
	sets        []*machineSet
	machines    []*machine
	nodes       []*node
	// joined are the Nodes by the UID of their Machine.
	joined map[string]*node

	services      []*service
	loadBalancers map[string]string
	volume        string
	made          []observation.Volume
	attachments   []observation.Attachment
	baseline      *observation.Inventory
	// proofs of kubelets that are kept with the baseline, unless they cannot be read.
	proofs       map[string]observation.Proof
	proofsUnread bool
	classes      []*Class
	findings     []observation.Finding
	canary       canary
	// cloudBrokenUntil is how long the cloud answers no question about instances.
	cloudBrokenUntil time.Time
	// bootless: no new Machine gets a Node.
	bootless bool
	// ourClass is the one that is there while the CSI driver's objects are.
	ourClass string

	// real is the cluster that was observed; nil in a scenario. hasty: everybody acts at once, and nothing is left to chance.
	real   *Start
	hasty  bool
	agents []observation.Ref
	// obsolete are objects of earlier addons that are not wanted any more.
	obsolete   []observation.Ref
	hooks      Hooks
	traits     Traits
	lawless    bool
	disturbed  time.Time
	transcript *Transcript
	invariants *invariants
}

// start of every run; an arbitrary moment with whole seconds, like creation timestamps.
func startTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// NewWorld builds the scenario's world in its steady state: all pods run, one KCM leads, all Nodes are Ready.
func NewWorld(rng *rand.Rand, scenario Scenario) *World {
	w := &World{
		now: startTime(), start: startTime(), rng: rng, scenario: scenario, traits: scenario.Traits,
		joined: map[string]*node{}, loadBalancers: map[string]string{}, volume: "Bound", transcript: &Transcript{},
		otherAddresses: scenario.OtherAddresses, cloudConfig: "1", findings: scenario.Findings,
		ourClass: csiClass, slowNodes: scenario.SlowNodes,
		slowBootstrap: scenario.SlowBootstrap, inTreeProfiles: slices.Clone(scenario.InTreeProfiles),
	}
	w.invariants = newInvariants()
	w.hooks = &witness{world: w}
	w.ccm = newAddonSet(outcome.CCMSet, "ServiceAccount", "Deployment")
	w.csi = newAddonSet(outcome.CSISet, "CSIDriver", "DaemonSet")
	w.probe = newAddonSet(outcome.ProbeSet, "Deployment", "Lease")
	w.makeCluster()
	w.makeControlPlane()
	w.makeMachines()
	w.makeClasses()
	for i := range scenario.Services {
		w.services = append(w.services, &service{name: fmt.Sprintf("web-%d", i+1), uid: w.id("svc")})
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

func (w *World) makeCluster() {
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
		{"managers", w.stepManagers},
		{"service loop", w.stepServices},
		{"ccm", w.stepCCM},
		{"probe", w.stepProbe},
		{"machine deployments", w.stepMachineDeployments},
		{"machine sets", w.stepMachineSets},
		{"machines", w.stepMachines},
		{"nodes", w.stepNodes},
		{"canary's workload", w.stepCanary},
	}
	for _, workload := range w.workloads {
		actors = append(actors, actor{workload.name, func() { w.stepWorkload(workload) }})
	}
	for _, node := range w.managementNodes {
		actors = append(actors, actor{node.name, func() { w.stepKubelet(node) }})
	}
	return actors
}
