package demo

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func newMachine(uid string, created float64, restart string) *machines.Machine {
	machine := &machines.Machine{ObjectMeta: metav1.ObjectMeta{
		UID: types.UID(uid), CreationTimestamp: metav1.NewTime(at(created)), Annotations: map[string]string{},
	}}
	if restart != "" {
		machine.Annotations[ucv1.ForceRestartAnnotation] = restart
	}
	return machine
}

func TestMachinesFromBefore(t *testing.T) {
	g := NewWithT(t)
	w := newWitness("alpha", NewScreen(io.Discard))
	canary := newMachine("canary", 5, "v1")
	canary.Labels = map[string]string{ucv1.CanaryLabel: "true"}
	w.machine(newMachine("old-1", -9, ""), false)
	w.machine(newMachine("old-2", -9, ""), false)
	w.machine(newMachine("new", 6, "v1"), false)
	w.machine(canary, false)
	g.Expect(w.Machines(at(0))).To(Equal(MachinesReport{Before: 2}))

	rolling := &ucv1.Cluster{}
	rolling.Status.RollGeneration = "v1"
	w.cluster(rolling, false)
	w.machine(newMachine("old-1", -9, ""), true)
	w.machine(canary, true)
	g.Expect(w.Machines(at(0))).To(Equal(MachinesReport{Before: 2, Replaced: 1, Canaries: 1}))

	w.machine(newMachine("new", 6, "v1"), true)
	g.Expect(w.Machines(at(0))).To(Equal(MachinesReport{Before: 2, Replaced: 1, ReplacedTwice: 1, Canaries: 1}))
}

func TestMachinesThatAreMadeLaterAreNotFromBefore(t *testing.T) {
	g := NewWithT(t)
	w := newWitness("delta", NewScreen(io.Discard))
	w.machine(newMachine("first", 30, ""), false)
	g.Expect(w.Machines(at(0))).To(Equal(MachinesReport{}), "nothing was ever rolled, and it came after the flip")
}

func TestTermsAreKeptOnce(t *testing.T) {
	g := NewWithT(t)
	w := newWitness("alpha", NewScreen(io.Discard))
	lease := func(name, holder string, transitions int32) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, LeaseTransitions: &transitions, AcquireTime: &metav1.MicroTime{Time: at(float64(transitions))},
			},
		}
	}
	w.lease(lease(kcmName, "kcm-0_id", 1), false)
	w.lease(lease(kcmName, "kcm-0_id", 1), false)
	w.lease(lease(kcmName, "", 1), false)
	w.lease(lease(ccmName+"-probe", "ccm-0_id", 1), false)
	w.lease(lease(kcmName, "kcm-0_id", 2), false)
	w.lease(lease(kcmName, "kcm-0_id", 2), true)
	g.Expect(w.Terms()).To(HaveLen(2))
	g.Expect(w.Terms()[1].AcquiredAt).To(Equal(at(2)))

	g.Expect(w.FirstNode()).To(BeZero())
	w.node(&corev1.Node{}, true)
	g.Expect(w.FirstNode()).To(BeZero())
	w.node(&corev1.Node{}, false)
	g.Expect(w.FirstNode()).NotTo(BeZero())
}
