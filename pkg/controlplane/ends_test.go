package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func microTime(at time.Time) *metav1.MicroTime { return new(metav1.NewMicroTime(at)) }

func testLeaseOf(lease *coordinationv1.Lease, renewed time.Time) *coordinationv1.Lease {
	lease.Spec.RenewTime = microTime(renewed)
	return lease
}

// followed is a recorded process and what becomes of the record; because says that it has ended now.
type followed struct {
	recorded ucv1.ManagerProcess
	pod      *observation.Process
	node     *observation.ManagementNode
	accept   []string
	ledger   bool
	want     ucv1.ManagerProcess
	because  string
}

func (f followed) run(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	if f.ledger {
		reader.Ledger.Track(testNamespace)
		reader.Ledger.OnUpdate(nil, deleting(ledgerPod(terminated("a", "Completed"))))
	}
	cluster, plane := testCluster(f.recorded), observation.ControlPlane{}
	cluster.Spec.Handover.AcceptLostManagers = f.accept
	if f.pod != nil {
		plane.KCM.Pods = []observation.Process{*f.pod}
	}
	if f.node != nil {
		plane.ManagementNodes = map[string]observation.ManagementNode{"node-1": *f.node}
	}
	want := f.want
	got := reader.Processes(cluster, plane)[0]
	if f.because != "" {
		want.EndedAt = microTime(startTime())
		g.Expect(got.EndedBecause).To(ContainSubstring(f.because))
		want.EndedBecause = got.EndedBecause
	}
	g.Expect(got).To(Equal(want))
	g.Expect(cluster.Status.Handover.Processes[0]).To(Equal(f.recorded), "the status was changed in place")
}

func record(change func(p *ucv1.ManagerProcess)) ucv1.ManagerProcess {
	process := ucv1.ManagerProcess{
		PodUID: "kube-controller-manager-1-a", PodName: "kcm-a", NodeName: "node-1", BootID: "boot-1", ContainerID: "a",
		GracePeriodSeconds: 30,
	}
	if change != nil {
		change(&process)
	}
	return process
}

// vanished was a minute ago: grace period and margin are just over.
func vanished(p *ucv1.ManagerProcess) { p.VanishedAt = microTime(startTime().Add(-time.Minute)) }

func livePod(id string, hasEnded bool, arguments observation.Arguments) *observation.Process {
	return &observation.Process{
		PodUID: "kube-controller-manager-1-a", PodName: "kcm-a", NodeName: "node-1", BootID: "boot-1", ContainerID: id,
		GracePeriodSeconds: 30, Ended: hasEnded, Started: true, Arguments: arguments,
	}
}

func provider(name string) observation.Arguments {
	return observation.Arguments{Flags: map[string]string{"cloud-provider": name}}
}

func TestProcessesFollowsPods(t *testing.T) {
	loopsOn, loopsOff := provider("openstack"), provider("external")
	seen := func(p *ucv1.ManagerProcess) {
		p.EndedAt, p.EndedBecause = microTime(startTime().Add(-time.Hour)), "seen"
	}
	runAll(t, map[string]followed{
		"a running container goes on": {
			recorded: record(nil), pod: livePod("a", false, loopsOn), want: record(nil),
		},
		"an ended container has ended": {
			recorded: record(nil), pod: livePod("a", true, loopsOn), want: record(nil), because: "the container of Pod kcm-a was seen " +
				"terminated",
		},
		"an end stays as it was recorded": {
			recorded: record(seen), want: record(seen),
		},
		"a restarted container with loops on goes on under its new ID": {
			recorded: record(nil), pod: livePod("b", false, loopsOn), want: record(func(p *ucv1.ManagerProcess) { p.ContainerID = "b" }),
		},
		"a restarted container that we cannot read goes on under its new ID": {
			recorded: record(nil),
			pod:      livePod("b", false, observation.Arguments{}),
			want:     record(func(p *ucv1.ManagerProcess) { p.ContainerID = "b" }),
		},
		"a restarted container with loops on that has ended, too": {
			recorded: record(nil), pod: livePod("b", true, loopsOn),
			want: record(func(p *ucv1.ManagerProcess) { p.ContainerID = "b" }), because: "was seen terminated",
		},
		"a restarted container with loops off is another process": {
			recorded: record(nil),
			pod:      livePod("b", false, loopsOff),
			want:     record(nil),
			because:  "a newer container, without cloud loops",
		},
		"a record without container learns it": {
			recorded: record(func(p *ucv1.ManagerProcess) {
				p.ContainerID, p.NodeName, p.BootID, p.GracePeriodSeconds = "", "", "", 10
			}),
			pod: livePod("a", false, loopsOn), want: record(nil),
		},
		"a pod that was found again had not vanished": {
			recorded: record(vanished), pod: livePod("a", false, loopsOn), want: record(nil),
		},
	})
}

func TestProcessesLooksForTheEndsOfVanishedPods(t *testing.T) {
	now := startTime()
	long := now.Add(-time.Hour)
	runAll(t, map[string]followed{
		"a vanished pod proves nothing": {
			recorded: record(nil), node: &observation.ManagementNode{BootID: "boot-1"},
			want: record(func(p *ucv1.ManagerProcess) { p.VanishedAt = microTime(now) }),
		},
		"a vanished pod whose end a watch saw": {
			recorded: record(nil), ledger: true, want: record(nil), because: "a watch saw container kube-controller-manager",
		},
		"a vanished pod whose node's kubelet went on": {
			recorded: record(vanished), node: &observation.ManagementNode{BootID: "boot-1", LeaseRenewed: now, RenewingSince: long},
			want: record(vanished), because: "the kubelet of Node node-1 went on for the grace period and 30s",
		},
		"a vanished pod whose node's kubelet was cut off meanwhile": {
			recorded: record(vanished),
			node:     &observation.ManagementNode{BootID: "boot-1", LeaseRenewed: now, RenewingSince: now.Add(-59 * time.Second)},
			want:     record(vanished),
		},
		"a vanished pod whose end a watch showed after the pod was missed": {
			recorded: record(vanished), ledger: true, want: record(nil), because: "a watch saw container kube-controller-manager",
		},
		"a vanished pod whose node's kubelet has not gone on for long enough": {
			recorded: record(vanished),
			node:     &observation.ManagementNode{BootID: "boot-1", LeaseRenewed: now.Add(-time.Millisecond), RenewingSince: long},
			want:     record(vanished),
		},
		"a vanished pod whose node's kubelet does not renew": {
			recorded: record(vanished), node: &observation.ManagementNode{BootID: "boot-1"}, want: record(vanished),
		},
		"a vanished pod whose node was started again": {
			recorded: record(vanished),
			node:     &observation.ManagementNode{BootID: "boot-2", LeaseRenewed: now, RenewingSince: long},
			want:     record(vanished),
		},
		"a vanished pod whose node is gone": {
			recorded: record(vanished), want: record(vanished),
		},
		"a vanished pod whose boot is not known": {
			recorded: record(func(p *ucv1.ManagerProcess) { vanished(p); p.BootID = "" }),
			node:     &observation.ManagementNode{LeaseRenewed: now, RenewingSince: long},
			want:     record(func(p *ucv1.ManagerProcess) { vanished(p); p.BootID = "" }),
		},
		"a vanished pod that a person vouches for": {
			recorded: record(vanished), accept: []string{"kcm-a"}, want: record(vanished), because: "spec.handover.acceptLostManagers",
		},
		"a person cannot vouch for a pod that is there": {
			recorded: record(nil), pod: livePod("a", false, provider("openstack")), accept: []string{"kcm-a"}, want: record(nil),
		},
	})
}

func TestProcessesWithoutAHandover(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	g.Expect(reader.Processes(&ucv1.Cluster{}, observation.ControlPlane{})).To(BeNil())
}

func TestLeaseWatch(t *testing.T) {
	g, watch, at := NewWithT(
		t,
	), &leaseWatch{}, func(seconds int) time.Time { return startTime().Add(time.Duration(seconds) * time.Second) }
	far := startTime().Add(-24 * time.Hour)
	expect := func(node string, renewTime time.Time, now int, renewed, since time.Time, why string) {
		t.Helper()
		gotRenewed, gotSince := watch.look(node, renewTime, at(now))
		g.Expect(gotRenewed).To(Equal(renewed), why)
		g.Expect(gotSince).To(Equal(since), why)
	}
	expect("node-1", far, 0, time.Time{}, time.Time{}, "the first look is no renewal")
	expect("node-1", far.Add(10*time.Second), 5, at(0), at(5), "a renewal")
	expect("node-1", far.Add(10*time.Second), 8, at(0), at(5), "nothing new")
	expect("node-1", far, 7, at(0), at(5), "a look that was overtaken")
	expect("node-1", far.Add(20*time.Second), 15, at(8), at(5), "since the last look that found the former value")
	expect("node-1", far.Add(20*time.Second), 48, at(8), at(5), "a pause that is not over")
	expect("node-1", far.Add(60*time.Second), 49, at(48), at(49), "a long pause")
	expect("node-2", far, 7200, time.Time{}, time.Time{}, "another node")
	g.Expect(watch.seen).To(HaveLen(1), "no one has looked at node-1 for long")
}
