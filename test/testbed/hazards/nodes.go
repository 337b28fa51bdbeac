package hazards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	blocking = ucv1.FindingSeverity("Blocking")
	warning  = ucv1.FindingSeverity("Warning")
	info     = ucv1.FindingSeverity("Info")
)

func withoutMachines() bed.UserClusterOptions {
	return bed.UserClusterOptions{KCMReplicas: 1, WithoutMachineController: true}
}

func nodeGroups() []Group {
	return []Group{
		{
			Name: "silent-node", Options: withoutMachines(), Nodes: []string{"steady", "silent"}, CI: true,
			Hazards: []Hazard{{
				Name: "A Node whose kubelet has gone silent", ID: "NodeNotReady", Severity: blocking, Objects: []string{"Node silent"},
				Stage:   func(ctx context.Context, p *Play) error { return p.User.SilenceNode(ctx, "silent") },
				Happens: silentNode,
			}},
		},
		{
			Name: "strange-nodes", Options: withoutMachines(), Nodes: []string{"base", "newcomer", "moved"},
			Hazards: []Hazard{
				{
					Name: "A Node that carries the taint of a kubelet with an external provider", ID: "NodeUninitialized", Severity: warning,
					Objects: []string{"Node newcomer"}, Stage: taint, Happens: initialized,
				},
				{
					Name: "A Node whose beta label of the zone differs from the present one", ID: "NodeLabelsDiffer", Severity: warning,
					Objects: []string{"Node moved"}, Stage: relabel, Happens: relabelled,
				},
				{
					Name: "Nodes that belong to no Machine", ID: "NodeWithoutMachine", Severity: warning,
					Objects: []string{"Node base", "Node moved", "Node nameless", "Node newcomer", "Node stranger", "Node twin"},
					Happens: func(ctx context.Context, p *Play) (string, error) {
						if err := p.acceptChanges(ctx); err != nil {
							return "", err
						}
						return "Nothing was replaced, and step Verify stood still with reason NodesNotInitialized and named them.",
							p.untilSaid(ctx, ucv1.NodesNotInitializedReason, "base has no Machine")
					},
				},
				{
					Name: "A Node without a providerID and without a machine in the cloud", ID: "NodeProviderIDMissing", Severity: blocking,
					Objects: []string{"Node nameless"}, Stage: nameless, Happens: namelessDeleted,
				},
				{
					Name: "A Node with a providerID kubermatic://…", ID: "NodeProviderIDForeign", Severity: blocking,
					Objects: []string{"Node stranger"}, Stage: foreign, Happens: foreignKept,
				},
				{
					Name: "Two Nodes with one providerID", ID: "NodeProviderIDShared", Severity: blocking,
					Objects: []string{"Node base", "Node twin"}, Stage: twin, Happens: twinKept,
				},
			},
		},
	}
}

// silentNode is not Ready: first its machine is there, and the second time it is not.
func silentNode(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.RollingOutReason, "simcloud-csi-node"); err != nil {
		return "", err
	}
	if err := p.kcmAsBefore(ctx); err != nil {
		return "", err
	}
	p.Kubelet(p.Group.Name).SetNodeSilent("silent", false)
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	if err := p.User.KillNode(ctx, "silent"); err != nil {
		return "", err
	}
	if err := p.deletedByCCM(ctx, "silent"); err != nil {
		return "", err
	}
	return "Step Addons waited with reason RollingOut, because the CSI driver did not run there, and KCM was not changed until " +
		"the Node was Ready. When the Node was silent again and its machine gone from the cloud, the CCM deleted the Node.", nil
}

// deletedByCCM waits until a Node is gone because the CCM asked for its machine.
func (p *Play) deletedByCCM(ctx context.Context, name string) error {
	if err := p.untilGone(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return err
	}
	return p.untilCalled(ctx, "the CCM to ask for machine "+name, func(call simcloud.Call) bool {
		return call.Object == name && call.Method == "InstanceExists"
	})
}

// addNode registers a Node that the cloud has no machine of its own for.
func (p *Play) addNode(ctx context.Context, name, providerID string, addresses []corev1.NodeAddress, podCIDR string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}},
		Spec:       corev1.NodeSpec{ProviderID: providerID, PodCIDR: podCIDR},
		Status:     corev1.NodeStatus{Addresses: addresses},
	}
	if podCIDR != "" {
		node.Spec.PodCIDRs = []string{podCIDR}
	}
	return p.User.Client.Create(ctx, node)
}

func (p *Play) node(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	return node, p.User.Client.Get(ctx, client.ObjectKey{Name: name}, node)
}

func (p *Play) patchNode(ctx context.Context, name, patch string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return p.User.Client.Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, []byte(patch)))
}

const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// taint leaves the Node with a zone that the cloud does not name either.
func taint(ctx context.Context, p *Play) error {
	return p.patchNode(
		ctx,
		"newcomer",
		`{"metadata":{"labels":{"`+corev1.LabelTopologyZone+`":"nowhere","`+corev1.LabelFailureDomainBetaZone+`":"nowhere"}},`+
			`"spec":{"taints":[{"key":"`+uninitializedTaint+`","value":"true","effect":"NoSchedule"}]}}`,
	)
}

// initialized has the address that only a CCM writes: in the testbed no one else writes one of type Hostname.
func initialized(ctx context.Context, p *Play) (string, error) {
	leads := false
	err := p.WaitFor(ctx, "the taint to go", patience, func(ctx context.Context) (string, error) {
		cluster, err := p.User.Get(ctx)
		if err != nil {
			return "", err
		}
		node, err := p.node(ctx, "newcomer")
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitializedTaint }) {
			// Whoever takes it away from here on does so when the fence is open, or was never seen to wait.
			leads = leads || cluster.Status.Handover != nil && cluster.Status.Handover.StartedAt != nil
			return "it is there", nil
		}
		if !slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeHostName }) {
			return "", errors.New("no one wrote its addresses again")
		}
		return "", nil
	})
	if err == nil && !leads {
		err = errors.New("the taint went before the hand-over began")
	}
	if err != nil {
		return "", err
	}
	return "The taint stayed until the CCM led, which then wrote the Node's addresses and labels again and took it away. Step " +
			"Verify stood still with reason InventoryChanged " +
			"and named the Node, until that was accepted.", p.untilSaid(ctx, ucv1.InventoryChangedReason, "Node newcomer has lost or "+
			"changed labels")
}

// acceptChanges is a person who has looked at what became of the Nodes.
func (p *Play) acceptChanges(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := p.User.Client.List(ctx, nodes); err != nil {
		return err
	}
	var accepted []string
	for _, node := range nodes.Items {
		accepted = append(accepted, "Node "+node.Name)
	}
	return p.patch(ctx, map[string]any{"rollout": map[string]any{"acceptChanges": accepted}})
}

func relabel(ctx context.Context, p *Play) error {
	return p.patchNode(ctx, "moved", `{"metadata":{"labels":{"`+corev1.LabelFailureDomainBetaZone+`":"old-zone"}}}`)
}

func relabelled(ctx context.Context, p *Play) (string, error) {
	err := p.WaitFor(ctx, "the label of the zone", patience, func(ctx context.Context) (string, error) {
		node, err := p.node(ctx, "moved")
		if err != nil {
			return "", err
		}
		if zone := node.Labels[corev1.LabelTopologyZone]; zone != "old-zone" {
			return "it is " + zone, nil
		}
		return "", nil
	})
	if err != nil {
		return "", err
	}
	return "The CCM wrote the beta label's value into " + corev1.LabelTopologyZone +
			". Step Verify stood still with reason InventoryChanged and named the Node, until " +
			"that was accepted.", p.untilSaid(ctx, ucv1.InventoryChangedReason,
			"Node moved has lost or changed labels "+corev1.LabelTopologyZone)
}

func foreign(ctx context.Context, p *Play) error {
	return p.addNode(ctx, "stranger", "kubermatic://other/machine", nil, "")
}

func twin(ctx context.Context, p *Play) error {
	base, err := p.node(ctx, "base")
	if err != nil {
		return err
	}
	return p.addNode(ctx, "twin", base.Spec.ProviderID, base.Status.Addresses, "")
}

const balancer = "kubernetes-default-web"

func nameless(ctx context.Context, p *Play) error {
	if err := p.addNode(ctx, "nameless", "", nil, ""); err != nil {
		return err
	}
	return p.User.Client.Create(ctx, bed.LoadBalancer("web"))
}

// namelessDeleted silences the other two before, and ends another Node after it: the loop has come to all of them in between.
func namelessDeleted(ctx context.Context, p *Play) (string, error) {
	// The cloud of the testbed takes members by their names.
	members := p.members(balancer)
	for _, name := range []string{"base", "twin", "stranger", "nameless"} {
		if !slices.Contains(members, name) {
			return "", fmt.Errorf("the load balancer has the members %v", members)
		}
	}
	for _, name := range []string{"twin", "stranger", "nameless"} {
		if err := p.User.SilenceNode(ctx, name); err != nil {
			return "", err
		}
	}
	if err := p.deletedByCCM(ctx, "nameless"); err != nil {
		return "", err
	}
	if err := p.User.KillNode(ctx, "newcomer"); err != nil {
		return "", err
	}
	return "The testbed's cloud does without the ID, so the load balancer had it as a member. When it was not Ready, the CCM " +
			"looked it up by its name and deleted it.",
		p.deletedByCCM(ctx, "newcomer")
}

// members of a load balancer.
func (p *Play) members(name string) []string {
	for _, found := range p.Cloud.Snapshot(p.Group.Name).LoadBalancers {
		if found.Name == name {
			return found.Hosts
		}
	}
	return nil
}

func foreignKept(ctx context.Context, p *Play) (string, error) {
	node, err := p.node(ctx, "stranger")
	if err != nil {
		return "", err
	}
	if isReady(*node) {
		return "", errors.New("the Node is Ready")
	}
	err = p.patchNode(ctx, "stranger", `{"spec":{"providerID":"simcloud://`+p.Group.Name+`/stranger"}}`)
	if !apierrors.IsInvalid(err) {
		return "", fmt.Errorf("the API server did not refuse another providerID, but said %s", apierrors.ReasonForError(err))
	}
	calls, err := p.calls()
	if slices.ContainsFunc(calls, func(call simcloud.Call) bool {
		return strings.Contains(call.Object, "stranger") && call.Loop == "cloud-node-lifecycle"
	}) {
		return "", errors.New("the CCM asked the cloud for it")
	}
	return "The CCM never asked the cloud for it: when it was not Ready and no machine was behind it, it stayed. The API server " +
		"refused another providerID.", err
}

func twinKept(ctx context.Context, p *Play) (string, error) {
	node, err := p.node(ctx, "twin")
	if err != nil {
		return "", err
	}
	if isReady(*node) {
		return "", errors.New("the Node is Ready")
	}
	return "No machine was behind the one that was silent, and it stayed: the CCM asked the cloud by providerID, and found the " +
			"other one's.",
		p.untilCalled(ctx, "the CCM to ask for machine base", func(call simcloud.Call) bool {
			return call.Object == "base" && call.Method == "InstanceExists"
		})
}
