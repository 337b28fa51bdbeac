package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// Observation is what the cases of tables change.
type Observation = observation.Observation

const generation = "1767268800"

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

func stampAgo(d time.Duration) *metav1.Time { return new(metav1.NewTime(ago(d))) }

func microAgo(d time.Duration) *metav1.MicroTime { return new(metav1.NewMicroTime(ago(d))) }

// edit changes a known fact.
func edit[T any](fact *observation.Observed[T], change func(*T)) {
	value := fact.Value()
	change(&value)
	*fact = observation.Known(value)
}

func inTree() observation.Arguments {
	return observation.Arguments{Flags: map[string]string{
		"cloud-provider": "openstack", "cluster-name": "prod", "allocate-node-cidrs": "true", "cluster-cidr": "10.0.0.0/16",
		"controllers": "*,tokencleaner",
	}}
}

func silentArguments() observation.Arguments {
	arguments := inTree()
	arguments.Flags["controllers"] = "*,tokencleaner,-cloud-node-lifecycle,-route,-service"
	return arguments
}

func finalArguments() observation.Arguments {
	return observation.Arguments{Flags: map[string]string{"cluster-name": "prod", "controllers": "*,tokencleaner"}}
}

func kcmPod(name string, arguments observation.Arguments) observation.Process {
	return observation.Process{
		PodName: name, PodUID: "uid-" + name, NodeName: "m1", BootID: "boot", ContainerID: "c-" + name,
		StartedAt: ago(20 * time.Minute), Arguments: arguments, GracePeriodSeconds: 30, Ready: true, Started: true,
	}
}

func switchedOn() *ucv1.Cluster {
	return &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "alpha", Namespace: "user-alpha", UID: "cluster", Generation: 2,
			Annotations: map[string]string{ucv1.CCMMigrationNeededAnnotation: "", ucv1.CSIMigrationNeededAnnotation: ""},
		},
		Spec: ucv1.ClusterSpec{
			Version:  "1.25.16",
			Cloud:    ucv1.CloudSpec{ProviderName: "openstack", ConfigSecretRef: ucv1.SecretReference{Name: "cloud"}},
			Features: ucv1.FeaturesSpec{ExternalCloudProvider: new(true)},
		},
	}
}

// finished is a migrated cluster with one MachineDeployment of one Machine; the stages before it are made from it.
func finished() Observation {
	cluster := switchedOn()
	inventory := observation.Inventory{
		LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb", Ingress: []string{"192.0.2.1"}}},
		Volumes:       []observation.Volume{{Name: "pv", UID: "pv", Phase: "Bound", Claim: "web/data"}},
	}
	cluster.Status.Facts = finishedFacts(inventory)
	o := Observation{
		Cluster: cluster, Turn: observation.Absent[observation.Turn](), Contenders: observation.Absent[[]string](), Record: observation.Absent[observation.Record](),
		NamespaceTerminating: observation.Absent[bool](),
		Keeper: observation.Known(observation.Ref{Kind: "Deployment", Namespace: "user-alpha",
			Name: "kube-controller-manager", UID: "kcm"}), CloudConfig: observation.Known(observation.CloudConfig{}),
		Provider: observation.Known(observation.Provider{
			Name: "openstack", CanMigrate: true, LastInTreeMinor: 25, InTreeName: "openstack", ProviderIDPrefix: "openstack:///",
			ProviderIDForm: `^openstack://([^/]*)/([^/]+)$`, CSIDrivers: []string{"cinder.csi.openstack.org"},
		}),
		Connection: observation.Connection{Reachable: true, Reason: ucv1.ReachableReason},
		ControlPlane: observation.Known(observation.ControlPlane{KCM: observation.Component{
			Ref:       observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: "kube-controller-manager", UID: "kcm"},
			Container: "kube-controller-manager", Arguments: finalArguments(), RolledOut: true, Replicas: 1,
			Pods: []observation.Process{kcmPod("new", finalArguments())},
		}}),
		MachineController: observation.Known(machineControllers()),
		KCMLeaseRight:     observation.Known(observation.LeaseRight{}), CCMProcesses: observation.Known([]observation.Process{}),
		Addons: observation.Known(observation.Addons{}), Probe: observation.Known(observation.Probe{}),
		Lock: observation.Absent[observation.Lock](),
		Fence: observation.Known(observation.Fence{
			Open: true, Allowed: []string{"update"}, Identity: "system:serviceaccount:kube-system:ccm", Lease: "kube-system/ccm",
		}),
		KCMLease: observation.Known(observation.Lease{
			Ref: observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "kube-controller-manager"}, Holder: "new_1",
			DurationSeconds: 15,
			AcquireTime:     ago(10 * time.Minute), RenewTime: ago(time.Second), ChangedAt: ago(time.Second), WatchedAt: ago(time.Hour),
		}),
		CCMLease: observation.Known(observation.Lease{
			Ref: observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "ccm"}, Holder: "ccm_1", DurationSeconds: 15,
			AcquireTime: ago(10 * time.Minute), RenewTime: ago(time.Second), ChangedAt: ago(time.Second), WatchedAt: ago(time.Hour),
		}),
		Machines: observation.Known(oneMachine()),
		Nodes:    observation.Known([]observation.Node{provenNode("n1")}),
		Findings: observation.Known[[]observation.Finding](nil), Canary: observation.Known(observation.CanaryWorkload{}),
		Bootstraps: observation.Known(map[string]observation.BootstrapData{
			"md": {Kubelet: observation.BootstrapExternal}, "canary": {Kubelet: observation.BootstrapExternal},
		}),
		// What a test takes out of the inventory went with its Service or claim, unless it says otherwise.
		Gone: observation.Known(map[string]observation.Gone{
			"lb": {Seen: "it was gone by noon"}, "pv": {Seen: "it was gone by noon"},
		}),
		Inventory: observation.Known(inventory), Baseline: observation.Known(inventory),
		Proofs: observation.Absent[observation.KeptProofs](), ForeignCCMs: observation.Known[[]observation.ForeignCCM](nil),
		Measured: observation.Known(slo.Seen{}),
	}
	o.Processes = cluster.Status.Handover.DeepCopy().Processes
	return o
}

// finishedFacts is what is recorded of a migrated cluster.
func finishedFacts(inventory observation.Inventory) ucv1.Facts {
	started, configured := ago(time.Hour), ago(30*time.Minute)
	return ucv1.Facts{
		Origin: ucv1.OriginMigrating, StartedAt: new(metav1.NewTime(started)),
		Inherited: &ucv1.InheritedConfiguration{ClusterName: "prod",
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop}},
		Handover: &ucv1.HandoverStatus{
			Protocol: ucv1.FencedProtocol, StartedAt: new(metav1.NewTime(started)), FenceOpenedAt: stampAgo(50 * time.Minute),
			FinishedAt: stampAgo(49 * time.Minute), LoopsOffAt: new(metav1.NewTime(started)),
			Original: []ucv1.OriginalArguments{{Deployment: "kube-controller-manager", Controllers: new("*,tokencleaner")}},
			Processes: []ucv1.ManagerProcess{{
				PodUID: "uid-old", PodName: "old", NodeName: "m1", BootID: "boot", GracePeriodSeconds: 30,
				EndedAt: microAgo(55 * time.Minute),
			}},
		},
		Baseline:                      &ucv1.BaselineStatus{SecretName: "alpha-ccm-migration-baseline", Digest: inventory.Digest()},
		MachineControllerConfiguredAt: new(metav1.NewTime(configured)), RollGeneration: generation,
		RolledMachineDeployments: []string{"md"},
		Canary: &ucv1.CanaryStatus{
			MachineDeployment: "kube-system/workers", Attempt: 1, ProvenAt: stampAgo(26 * time.Minute),
		},
		StableSince: stampAgo(10 * time.Minute), PointOfNoReturnAt: stampAgo(time.Minute), CompletedAt: stampAgo(time.Minute),
	}
}

func machineControllers() []observation.MachineControllerDeployment {
	name := string(observation.MachineController)
	return []observation.MachineControllerDeployment{{Program: observation.MachineController, Flag: "-node-external-cloud-provider",
		Component: observation.Component{
			Ref: observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: name, UID: name}, Container: name, RolledOut: true,
			Arguments: observation.Arguments{Flags: map[string]string{"node-external-cloud-provider": "true"}},
		}}}
}

// missingController is one that was looked for and not found.
func missingController(program observation.MachineControllerProgram) observation.MachineControllerDeployment {
	return observation.MachineControllerDeployment{Program: program, Missing: true, Component: observation.Component{
		Ref: observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: string(program)},
	}}
}

func provenNode(name string) observation.Node {
	return observation.Node{
		Name: name, UID: "uid-" + name, ProviderID: "openstack:///" + name, Ready: true, CreatedAt: ago(24 * time.Minute),
		CSIDrivers: []string{"cinder.csi.openstack.org"}, Kubelet: observation.Kubelet{External: observation.TaintSeen},
	}
}

func oneMachine() observation.Machines {
	return observation.Machines{
		Deployments: []observation.MachineDeployment{{
			Ref:          observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "workers", UID: "md"},
			RestartValue: generation, Replicas: 1, MaxSurge: 1, Version: "7", Generation: 3, Settled: true,
		}},
		Sets: []observation.MachineSet{{
			Ref: observation.Ref{Kind: "MachineSet", Namespace: "kube-system", Name: "workers-2", UID: "ms"}, Deployment: "md",
			RestartValue: generation, CreatedAt: ago(25 * time.Minute), Replicas: 1, Current: true,
		}},
		Machines: []observation.Machine{{
			Ref: observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "workers-2-a", UID: "ma"}, Set: "ms", Annotation: "true",
			NodeName: "n1", CreatedAt: ago(25 * time.Minute),
		}},
	}
}

// The stages, each ready to do the next thing of its step.

func completed() Observation {
	o := finished()
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
	setKCM(&o, silentArguments())
	return o
}

func verifying() Observation {
	o := completed()
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil
	o.Cluster.Status.CompletedAt, o.Cluster.Status.PointOfNoReturnAt, o.Cluster.Status.StableSince = nil, nil, nil
	return o
}

func rolling() Observation {
	o := verifying()
	o.Cluster.Status.RolledMachineDeployments = nil
	o.Machines = observation.Known(outdated())
	return o
}

func outdated() observation.Machines {
	machines := oneMachine()
	machines.Deployments[0].RestartValue = ""
	machines.Sets[0].RestartValue, machines.Sets[0].CreatedAt = "", ago(24*time.Hour)
	machines.Machines[0].Annotation, machines.Machines[0].CreatedAt = "false", ago(24*time.Hour)
	return machines
}

func configuring() Observation {
	o := rolling()
	o.Cluster.Status.RollGeneration, o.Cluster.Status.MachineControllerConfiguredAt, o.Cluster.Status.Canary = "", nil, nil
	edit(&o.MachineController, func(deployments *[]observation.MachineControllerDeployment) {
		(*deployments)[0].Arguments.Flags = map[string]string{}
	})
	return o
}

// fenced is ready to open the fence.
func fenced() Observation {
	o := configuring()
	o.Cluster.Status.Handover.FenceOpenedAt, o.Cluster.Status.Handover.FinishedAt = nil, nil
	o.Cluster.Status.Handover.StartedAt, o.Cluster.Status.Handover.LoopsOffAt = stampAgo(2*time.Minute), stampAgo(2*time.Minute)
	o.Cluster.Status.Handover.TouchedAt = microAgo(time.Minute)
	o.CCMLease = observation.Absent[observation.Lease]()
	edit(&o.Fence, func(fence *observation.Fence) { fence.Open, fence.Allowed = false, nil })
	return o
}

// loud is ready to switch the loops off.
func loud() Observation {
	o := fenced()
	o.Cluster.Status.Handover.LoopsOffAt, o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil, stampAgo(time.Minute)
	setKCM(&o, inTree())
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = []observation.Process{kcmPod("old", inTree())} })
	o.Cluster.Status.Handover.Processes = []ucv1.ManagerProcess{
		{PodUID: "uid-old", PodName: "old", NodeName: "m1", BootID: "boot", GracePeriodSeconds: 30},
	}
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
	edit(&o.KCMLease, func(lease *observation.Lease) { lease.Holder = "old_1" })
	return o
}

// starting is ready to take the baseline.
func starting() Observation {
	o := loud()
	o.Cluster.Status.Handover = &ucv1.HandoverStatus{Protocol: ucv1.FencedProtocol, ProbedAt: stampAgo(time.Minute)}
	o.Cluster.Status.Baseline, o.Processes = nil, nil
	o.Baseline = observation.Absent[observation.Inventory]()
	return o
}

func applying() Observation {
	o := starting()
	o.Addons = observation.Known(observation.Addons{
		CSI: observation.AddonSet{Drifted: []observation.Ref{{Kind: "CSIDriver", Name: "cinder"}}},
		CCM: observation.AddonSet{Drifted: []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}},
	})
	return o
}

func fresh() Observation {
	o := applying()
	o.Cluster.Status.Facts = ucv1.Facts{Origin: ucv1.OriginMigrating}
	return o
}

func setKCM(o *Observation, arguments observation.Arguments) {
	edit(&o.ControlPlane, func(c *observation.ControlPlane) {
		c.KCM.Arguments = arguments
		c.KCM.Pods = []observation.Process{kcmPod("new", arguments)}
	})
}

// external is a cluster that was created with the feature, before anything was done.
func external() Observation {
	o := applying()
	o.Cluster.Status.Facts = ucv1.Facts{Origin: ucv1.OriginExternal}
	o.Cluster.Annotations = nil
	setKCM(&o, observation.Arguments{Flags: map[string]string{"cloud-provider": "external", "cluster-name": "prod"}})
	return o
}

// decision is what a test expects of Decide: the step and one of action, wait and failure with words of its message.
type decision struct {
	given  func() Observation
	when   func(*Observation)
	step   ucv1.Step
	line   string
	action outcome.ActionKind
	wait   string
	fails  string
	says   []string
	never  string
	why    string
	facts  func(Gomega, ucv1.Facts)
}

func runDecisions(t *testing.T, tests map[string]decision) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := test.given()
			if test.when != nil {
				test.when(&o)
			}
			d := Decide(o, noon())
			g.Expect(d.Step).To(Equal(test.step), "%+v", d)
			g.Expect(d.Stage).To(Equal(test.line))
			g.Expect(messages.Check(d.Calls(), d.Wait, saidBeside(d)...)).To(Succeed())
			kind, wait, failure, message := outcome.ActionKind(""), "", "", ""
			if d.Next() != nil {
				kind, message = d.Next().Kind, d.Next().Why
				g.Expect(message).To(ContainSubstring(test.why))
			}
			if d.Wait != nil {
				wait, message = d.Wait.Reason, d.Wait.Message
			}
			if d.Calls() != nil {
				failure, message = d.Calls().Reason, d.Calls().Message
			}
			g.Expect([]string{string(kind), wait, failure}).To(Equal([]string{string(test.action), test.wait, test.fails}), message)
			for _, words := range test.says {
				g.Expect(message).To(ContainSubstring(words))
			}
			if test.never != "" {
				g.Expect(message).NotTo(ContainSubstring(test.never))
			}
			facts := o.Cluster.Status.Facts
			if d.Facts != nil {
				facts = *d.Facts
			}
			if test.facts != nil {
				test.facts(g, facts)
			}
		})
	}
}

// saidBeside what is waited for: what is done, that a deletion waits, and how the loops are attended.
func saidBeside(d Decision) []string {
	said := []string{d.Leaving}
	if d.Next() != nil {
		said = append(said, d.Next().Why)
	}
	if d.Attendance != nil {
		said = append(said, d.Attendance.Message)
	}
	return said
}
