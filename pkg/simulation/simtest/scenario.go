package simtest

import (
	"cmp"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// Scenario is the world that a run starts with and what happens to it from outside.
type Scenario struct {
	// Traits of the world, which a person may change in the middle.
	simulation.Traits
	// Name of the scenario, which is also the user cluster's name.
	Name string
	// Configure changes the Cluster before it is created.
	Configure func(*ucv1.Cluster)
	// Version of Kubernetes; default is v1.30.14.
	Version string
	// CreatedWithFeature makes the Cluster external from the start.
	CreatedWithFeature bool
	// FlipUnseen flips the feature before the controller sees the Cluster for the first time.
	FlipUnseen bool
	// WebhookMisses leaves the two annotations out when the feature is flipped.
	WebhookMisses bool
	// KCMExternal starts KCM without an in-tree cloud provider.
	KCMExternal bool
	// OtherAddresses lets the CCM see other addresses than the kubelets, until a person fixes the cloud configuration.
	OtherAddresses bool
	// SlowNodes is how long the CCM takes to initialize a Node, until a person fixes it.
	SlowNodes time.Duration
	// SlowBootstrap is how long the operating-system-manager takes to write bootstrap data.
	SlowBootstrap time.Duration
	// InTreeProfiles are MachineDeployments whose OperatingSystemProfile has an in-tree flag of its own, until a person fixes it.
	InTreeProfiles []string
	// Attentive people look at every halt for the objectives and let the roll go on, say whose a component is, and change theirs.
	Attentive bool
	// KCMReplicas is 2 unless set.
	KCMReplicas int
	// Beside are those of kube-apiserver and kube-scheduler that are Deployments, where that is otherwise.
	Beside map[string]ucv1.ComponentOwnership
	// APIServers is the number of kube-apiservers that an owner upgrades in the middle of a hand-over across minors.
	APIServers int
	Owner      simulation.Owner
	// Pools are the MachineDeployments, with all their Machines up.
	Pools []Pool
	// Standalone names Machines without a MachineSet.
	Standalone []string
	// Strangers names Nodes without a Machine.
	Strangers []string
	// Classes are the StorageClasses besides that of the CSI driver.
	Classes []simulation.Class
	// Findings of preflight, until a person fixes them.
	Findings []observation.Finding
	// Services is the number of load balancers.
	Services int
	// Faults that happen by chance.
	Faults Faults
	// Interventions of people and other controllers, in order: the next one is only asked when the last has happened.
	Interventions []Intervention
	// KillAt kills the controller at chosen places.
	KillAt func(pass int, point KillPoint, decision migration.Decision) bool
	// WaitsFor is the reason of a wait that no one ends, for scenarios that are to end in it.
	WaitsFor string
	// MaxTicks bounds the run; default is 900.
	MaxTicks int
}

// version is that of Kubernetes at first, which KCM keeps.
func (s Scenario) version() string { return cmp.Or(s.Version, "v1.30.14") }

// Pool is a MachineDeployment of a scenario.
type Pool struct {
	Name      string
	Namespace string
	Replicas  int
	Paused    bool
	// Surge is 1 unless it is set, or Unavailable is.
	Surge, Unavailable int
	// RefusedAfter that time of the run, a webhook refuses its writes and its new Machines, for that long, or only what it refuses.
	RefusedAfter, RefusedFor time.Duration
	Refuses                  observation.RefusedWrite
	// RewritesAfter that time, a webhook stores its template in another form at the next write; zero: never.
	RewritesAfter time.Duration
}

func (p Pool) surge() int {
	if p.Surge == 0 && p.Unavailable == 0 {
		return 1
	}
	return p.Surge
}

// Faults are chances, per tick, of things that go wrong. None happens after Until, so that a run can end.
type Faults struct {
	// Until is the tick after which the actors are fair.
	Until int
	// Unknown facts in an observation.
	Unknown float64
	// Kill the controller between two lines.
	Kill float64
	// Crash a container of the control plane, which its kubelet starts again in the same pod.
	Crash float64
	// Evict a pod of the control plane.
	Evict float64
	// Vanish deletes a pod of the control plane with grace 0; its process lives on until the kubelet cleans up.
	Vanish float64
	// KubeletDown stops a kubelet of the management cluster for a while.
	KubeletDown float64
	// Hang cuts a manager off from the API server for a while.
	Hang float64
	// NotReady makes a Node of the user cluster NotReady for a while.
	NotReady float64
	// Drift deletes an addon object.
	Drift float64
	// Meddle installs another CCM for a while.
	Meddle float64
	// Late is the chance that the last renewal of a CCM arrives after its end, Refuse that a Lease that is to be freed is refused.
	Late, Refuse float64
	// Cloud answers no question about instances for a while.
	Cloud float64
	// Stale is the chance that a part of an observation is from an earlier look, as a cache may serve it, of those that are Cached.
	Stale  float64
	Cached []string
	// Confirms has the controller look again, live, before it acts on what was stale, or calls a person.
	Confirms bool
}

// Intervention is something that happens once, from outside.
type Intervention struct {
	Name string
	// When it happens: asked once a tick, after the last one happened. Nil: at once.
	When func(*World) bool
	Do   func(*World)
	// Lawless says that a person breaks a safety rule by it: what two managers do from then on is not ours.
	Lawless bool
}

// Stalled is for interventions that wait until a person is called for.
func Stalled(reason string) func(*World) bool {
	return func(w *World) bool { return w.last.Calls() != nil && w.last.Calls().Reason == reason }
}

// AtStep is for interventions that wait for a step.
func AtStep(step ucv1.Step) func(*World) bool {
	return func(w *World) bool { return w.last.Step == step }
}

// Finished is for interventions that come when everything is done.
func Finished(w *World) bool { return w.last.Step == ucv1.StepFinished }

// RolledBack is for interventions that come when everything is rolled back.
func RolledBack(w *World) bool { return w.last.Step == ucv1.StepRolledBack }

// After is for interventions that come at a time of the run.
func After(since time.Duration) func(*World) bool {
	return func(w *World) bool { return w.Elapsed() >= since }
}
