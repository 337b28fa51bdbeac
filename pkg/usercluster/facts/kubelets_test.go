package facts

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func fieldsOf(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource,
		FieldsV1: metav1.NewFieldsV1(fields),
	}
}

const (
	providerIDField = `{"f:spec":{"f:providerID":{}}}`
	inTreeFields    = `{"f:metadata":{"f:labels":{".":{},"f:node.kubernetes.io/instance-type":{}}},"f:spec":{"f:providerID":{}}}`
	zoneFields      = `{"f:metadata":{"f:labels":{"f:topology.kubernetes.io/zone":{}}},"f:spec":{"f:providerID":{}}}`
)

func TestRegisteredBy(t *testing.T) {
	for name, test := range map[string]struct {
		entries  []metav1.ManagedFieldsEntry
		external observation.Proof
		inTree   string
	}{
		"the CCM set the providerID": {
			entries: []metav1.ManagedFieldsEntry{
				fieldsOf("kubelet", "", `{"f:metadata":{}}`), fieldsOf("openstack-cloud-controller-manager", "", providerIDField),
			},
			external: observation.ProviderIDOwned,
		},
		"the node manager of Azure set it": {
			entries:  []metav1.ManagedFieldsEntry{fieldsOf("cloud-node-manager", "", providerIDField)},
			external: observation.ProviderIDOwned,
		},
		"the kubelet set it with the instance type":            {entries: []metav1.ManagedFieldsEntry{fieldsOf("kubelet", "", inTreeFields)}, inTree: "instance-type"},
		"the kubelet set it with the zone":                     {entries: []metav1.ManagedFieldsEntry{fieldsOf("kubelet", "", zoneFields)}, inTree: "zone"},
		"the kubelet set it alone, as --provider-id has it do": {entries: []metav1.ManagedFieldsEntry{fieldsOf("kubelet", "", providerIDField)}},
		"the machine-controller set it":                        {entries: []metav1.ManagedFieldsEntry{fieldsOf("machine-controller", "", inTreeFields)}},
		"KCM set it":                                           {entries: []metav1.ManagedFieldsEntry{fieldsOf("kube-controller-manager", "", providerIDField)}},
		"the CCM set labels only":                              {entries: []metav1.ManagedFieldsEntry{fieldsOf("aws-cloud-controller-manager", "", `{"f:metadata":{"f:labels":{}}}`)}},
		"fields of the status are not of the spec":             {entries: []metav1.ManagedFieldsEntry{fieldsOf("aws-cloud-controller-manager", "status", providerIDField)}},
		"fields that cannot be read":                           {entries: []metav1.ManagedFieldsEntry{fieldsOf("aws-cloud-controller-manager", "", `[`), {Manager: "kubelet"}}},
		"nothing is known of the fields":                       {},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			proof := registeredBy(test.entries)
			g.Expect(proof.External).To(Equal(test.external))
			if test.inTree == "" {
				g.Expect(proof.InTree).To(BeEmpty())
			} else {
				g.Expect(proof.InTree).To(ContainSubstring(test.inTree))
			}
		})
	}
}

func TestKubeletProofsAreKept(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	node := func(uid string, taints ...corev1.Taint) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
			Spec:       corev1.NodeSpec{Taints: taints},
		}
	}
	memory := &kubeletMemory{}
	look := func(now time.Time, nodes ...corev1.Node) bool {
		look := memory.begin(now)
		for _, node := range nodes {
			look.add([]corev1.Node{node})
		}
		return look.end()
	}
	g.Expect(look(now)).To(BeFalse())
	g.Expect(look(now, node("a", corev1.Taint{Key: uninitializedTaint}))).To(BeFalse())
	g.Expect(look(now, node("a"))).To(BeFalse(), "the taint was seen")
	g.Expect(memory.of("a").External).To(Equal(observation.TaintSeen))

	g.Expect(look(now, node("b"))).To(BeTrue(), "another Node of that name has no proof")
	g.Expect(memory.of("a")).To(BeZero(), "a Node that is gone is forgotten")
	g.Expect(look(now.Add(askEvery-time.Second), node("b"))).To(BeFalse(), "events are not asked for all the time")
	g.Expect(look(now.Add(askEvery), node("b"))).To(BeTrue())
	g.Expect(look(now.Add(2*eventsLive), node("b"))).To(BeFalse(), "its event is gone")

	event := func(uid, component string) corev1.Event {
		return corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "Node", UID: types.UID(uid)},
			Reason:         syncedEvent,
			Source:         corev1.EventSource{Component: component},
		}
	}
	memory.synced([]corev1.Event{event("b", "someone"), event("n", syncedComponent)})
	g.Expect(memory.of("b")).To(BeZero(), "an event of another component, or of another Node, proves nothing")
	memory.synced([]corev1.Event{event("b", syncedComponent)})
	g.Expect(memory.of("b").External).To(Equal(observation.SyncedSeen))

	look(now, node("c"))
	look(now, node("c", corev1.Taint{Key: uninitializedTaint}))
	g.Expect(memory.of("c")).To(BeZero(), "a taint that a Node was seen without was added by someone")
}

// TestATaintOfANodeThatWasNotSeenToComeProvesNothing: a person may have added it before we began to look.
func TestATaintOfANodeThatWasNotSeenToComeProvesNothing(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tainted := func(uid string, fields ...metav1.ManagedFieldsEntry) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(now), ManagedFields: fields},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: uninitializedTaint}}},
		}
	}
	memory := &kubeletMemory{}
	for range 2 {
		look := memory.begin(now)
		look.add([]corev1.Node{tainted("before")})
		g.Expect(look.end()).To(Or(BeTrue(), BeFalse()))
		g.Expect(memory.of("before")).To(BeZero())
	}
	look := memory.begin(now)
	look.add([]corev1.Node{tainted("before"), tainted("new"), tainted("in-tree", fieldsOf("kubelet", "", zoneFields))})
	look.end()
	g.Expect(memory.of("before")).To(BeZero())
	g.Expect(memory.of("new").External).To(Equal(observation.TaintSeen))
	g.Expect(memory.of("in-tree").External).To(BeEmpty(), "who registered it outranks its taint")
	g.Expect(memory.of("in-tree").InTree).To(ContainSubstring("zone"))

	look = memory.begin(now)
	look.add([]corev1.Node{tainted("new", fieldsOf("kubelet", "", zoneFields))})
	look.end()
	g.Expect(memory.of("new").External).To(BeEmpty(), "also what was seen before")
}
