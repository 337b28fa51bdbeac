package facts

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// A kubelet with an external cloud provider registers its Node with the taint, and nothing else adds that taint; one with the
// in-tree provider sets providerID and the cloud's labels itself.
// https://github.com/kubernetes/kubernetes/blob/v1.29.14/pkg/kubelet/kubelet_node_status.go (initialNode)
// The cloud-node loop looks at Nodes with the taint only, sets providerID and says so in an event.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/node/node_controller.go (syncNode)
const (
	kubeletManager  = "kubelet"
	syncedEvent     = "Synced"
	syncedComponent = "cloud-node-controller"
	// eventsLive is for how long an API server keeps events unless it is told otherwise, askEvery how often we look for them.
	eventsLive = time.Hour
	askEvery   = 30 * time.Second
)

// cloudNodeManagers end the names of the programs that run the loop cloud-node: managedFields have the name of the program.
func cloudNodeManagers() []string { return []string{"cloud-controller-manager", "cloud-node-manager"} }

// kubeletMemory keeps what proves with which cloud provider each Node was registered, by the Node's UID: the taint goes, and
// events expire. It has the Nodes of the last look only.
type kubeletMemory struct {
	mu      sync.Mutex
	proofs  map[types.UID]observation.Kubelet
	askedAt time.Time
	// looked says that all Nodes were seen once: those that a later look shows for the first time came since.
	looked bool
}

// kubeletLook is a look at all Nodes, page by page. It replaces what is remembered once it saw the last one.
type kubeletLook struct {
	memory   *kubeletMemory
	now      time.Time
	proofs   map[types.UID]observation.Kubelet
	unproven bool
	// later says that it is not the first one.
	later bool
}

func (m *kubeletMemory) begin(now time.Time) *kubeletLook {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &kubeletLook{memory: m, now: now, proofs: map[types.UID]observation.Kubelet{}, later: m.looked}
}

// add judges Nodes. The taint proves the kubelet of a Node that was seen to come with it: a person who adds it later, so that a
// CCM initializes an in-tree Node, proves nothing. So neither does that of a Node which was there before we looked; the event of
// the loop cloud-node, or who owns the providerID, proves it a moment later. That a kubelet is in-tree outranks all that was
// seen.
func (l *kubeletLook) add(nodes []corev1.Node) {
	for i := range nodes {
		node := &nodes[i]
		proof, before := l.memory.recall(node.UID)
		registered := registeredBy(node.ManagedFields)
		switch {
		case registered.InTree != "":
			proof = registered
		case l.later && !before && isUninitialized(node):
			proof = observation.Kubelet{External: observation.TaintSeen}
		case proof == (observation.Kubelet{}):
			proof = registered
		}
		l.proofs[node.UID] = proof
		l.unproven = l.unproven || proof == (observation.Kubelet{}) && l.now.Sub(node.CreationTimestamp.Time) < eventsLive
	}
}

// end says that an event may still prove one of the Nodes.
func (l *kubeletLook) end() (ask bool) {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.memory.proofs, l.memory.looked = l.proofs, true
	if ask = l.unproven && l.now.Sub(l.memory.askedAt) >= askEvery; ask {
		l.memory.askedAt = l.now
	}
	return ask
}

// synced takes the events of the loop cloud-node into account.
func (m *kubeletMemory) synced(events []corev1.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range events {
		uid := events[i].InvolvedObject.UID
		if proof, exists := m.proofs[uid]; exists && proof == (observation.Kubelet{}) && events[i].Source.Component == syncedComponent {
			m.proofs[uid] = observation.Kubelet{External: observation.SyncedSeen}
		}
	}
}

func (m *kubeletMemory) of(uid types.UID) observation.Kubelet {
	proof, _ := m.recall(uid)
	return proof
}

// recall also says whether the Node was seen before.
func (m *kubeletMemory) recall(uid types.UID) (proof observation.Kubelet, seen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	proof, seen = m.proofs[uid]
	return proof, seen
}

// lookAtKubelets: events that cannot be listed prove nothing, and are looked for again.
func (r *Reader) lookAtKubelets(ctx context.Context, seen *kubeletLook) {
	if !seen.end() {
		return
	}
	only := client.MatchingFields{"involvedObject.kind": "Node", "reason": syncedEvent}
	err := reads.Pages(ctx, r.client, "events of Nodes", func() *corev1.EventList { return &corev1.EventList{} },
		func(list *corev1.EventList) { r.kubelets.synced(list.Items) }, only)
	if err != nil {
		r.log.V(1).Info("Could not list events of Nodes", "error", err.Error())
	}
}

// registeredBy reads who set providerID, and who set the labels that only a cloud knows.
func registeredBy(entries []metav1.ManagedFieldsEntry) observation.Kubelet {
	for _, entry := range entries {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		fields := struct {
			Spec     map[string]json.RawMessage `json:"f:spec"`
			Metadata struct {
				Labels map[string]json.RawMessage `json:"f:labels"`
			} `json:"f:metadata"`
		}{}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		if _, sets := fields.Spec["f:providerID"]; !sets {
			continue
		}
		for _, manager := range cloudNodeManagers() {
			if strings.HasSuffix(entry.Manager, manager) {
				return observation.Kubelet{External: observation.ProviderIDOwned}
			}
		}
		for _, label := range []string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone} {
			if _, sets := fields.Metadata.Labels["f:"+label]; sets && entry.Manager == kubeletManager {
				return observation.Kubelet{InTree: "it set its providerID and label " + label + " itself"}
			}
		}
	}
	return observation.Kubelet{}
}
