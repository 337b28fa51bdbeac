package simtest

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
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// World is an engine's world that a scenario happens to. What it adds to the truth is what a test knows and wants.
type World struct {
	*simulation.World

	controller *Controller
	scenario   Scenario
	last       migration.Decision
	// lawless says that a person breaks a safety rule.
	lawless bool
	// loopsGivenBack says that a person has done so at some time.
	loopsGivenBack bool
	disturbed      time.Time
	transcript     *Transcript
	invariants     *invariants
}

// startTime is the start; an arbitrary moment with whole seconds, like creation timestamps.
func startTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// NewWorld builds the scenario's world in its steady state: all pods run, one KCM leads, all Nodes are Ready.
func NewWorld(rng *rand.Rand, scenario Scenario) *World {
	w := &World{
		World: simulation.NewWorld(startTime(), rng), scenario: scenario, transcript: &Transcript{}, invariants: newInvariants(),
	}
	w.controller = newController(w)
	w.Traits, w.Findings, w.Hooks = scenario.Traits, scenario.Findings, hooks(w)
	w.CCM.OtherAddresses, w.CCM.CloudConfig, w.CCM.SlowNodes = scenario.OtherAddresses, "1", scenario.SlowNodes
	w.Bootstraps.Slow, w.Bootstraps.InTree = scenario.SlowBootstrap, slices.Clone(scenario.InTreeProfiles)
	w.Storage.OurClass, w.Storage.Phase = simulation.CSIClass, "Bound"
	w.Addons.CCM = simulation.NewAddonSet(outcome.CCMSet, "ServiceAccount", "Deployment")
	w.Addons.CSI = simulation.NewAddonSet(outcome.CSISet, "CSIDriver", "DaemonSet")
	w.Addons.Probe = simulation.NewAddonSet(outcome.ProbeSet, "Deployment", "Lease")
	makeCluster(w)
	makeControlPlane(w)
	for range scenario.APIServers {
		w.APIServers.Minors = append(w.APIServers.Minors, observation.MinorOf(w.Cluster.Spec.Version))
	}
	w.APIServers.Owner = scenario.Owner
	makeMachines(w)
	makeClasses(w)
	for i := range scenario.Services {
		w.Cloud.Services = append(w.Cloud.Services, &simulation.Service{Name: fmt.Sprintf("web-%d", i+1), UID: w.ID("svc")})
	}
	// The steady state is reached before the run begins, without faults.
	for range 5 {
		w.Now = w.Now.Add(simulation.Tick)
		for _, actor := range w.Actors() {
			actor.Step()
		}
	}
	w.Start = w.Now
	w.transcript.Lines = nil
	w.invariants.created = 0
	return w
}

func makeCluster(w *World) {
	s := w.scenario
	w.Cluster = &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: "user-" + s.Name, UID: types.UID("uid-" + s.Name), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.Now),
		},
		Spec: ucv1.ClusterSpec{
			Version: s.version(),
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
		w.Cluster.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
	}
	if s.CreatedWithFeature {
		w.Cluster.Spec.Features.ExternalCloudProvider = new(true)
	}
	if s.Configure != nil {
		s.Configure(w.Cluster)
	}
	if s.FlipUnseen {
		w.Flip(!s.WebhookMisses)
	}
}

func (w *World) faulty() bool { return w.Ticks() < w.scenario.Faults.Until }
