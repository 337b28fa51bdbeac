package hazards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const forgotten = "kcm-forgotten"

func controlPlaneGroups() []Group {
	twice := bed.UserClusterOptions{KCMReplicas: 2, WithoutElection: true, WithoutMachineController: true}
	return []Group{
		{
			Name: "forgotten-kcm", Options: withoutMachines(), Nodes: []string{"steady"},
			Hazards: []Hazard{{
				Name: "A KCM that no one knows of, which leads", ID: "LeaderUnknown", Severity: blocking,
				Objects: []string{"Lease kube-system/kube-controller-manager"}, Stage: forget, Happens: remembered,
			}},
		},
		{
			Name: "no-election", Options: twice, Nodes: []string{"steady"},
			Hazards: []Hazard{{
				Name: "Two replicas of KCM without leader election", ID: "LeaderElectionOff", Severity: blocking,
				Objects: []string{"Deployment user-no-election/kube-controller-manager"}, Stage: runTwice, Happens: ranTwice,
			}},
		},
		{
			Name: "renamed", Options: withoutMachines(), Nodes: []string{"steady"},
			Spec: func(cluster *ucv1.Cluster) { cluster.Spec.Cloud.ClusterName = "another" },
			Hazards: []Hazard{{
				Name: "A cluster name that is not KCM's", ID: "ClusterNameChanges", Severity: blocking, Refused: true,
				Stage: func(ctx context.Context, p *Play) error { return p.served(ctx, "web") }, Happens: nameKept,
			}},
		},
	}
}

// forget starts a KCM of the same arguments under another name, and lets it lead.
func forget(ctx context.Context, p *Play) error {
	known := &appsv1.Deployment{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.User.Namespace, Name: kcmName}, known); err != nil {
		return err
	}
	labels := map[string]string{"app": forgotten}
	other := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: forgotten, Labels: labels},
		Spec:       *known.Spec.DeepCopy(),
	}
	other.Spec.Selector, other.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
	if err := p.scale(ctx, 0); err != nil {
		return err
	}
	if err := p.Client.Create(ctx, other); err != nil {
		return err
	}
	if err := p.leads(ctx, kcmName, forgotten); err != nil {
		return err
	}
	if err := p.scale(ctx, 1); err != nil {
		return err
	}
	return p.WaitForDeployment(p.User.Namespace, kcmName)
}

func (p *Play) scale(ctx context.Context, replicas int) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: kcmName}}
	return p.Client.Patch(
		ctx,
		deployment,
		client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)),
	)
}

// leads waits until someone whose name begins so holds a Lease.
func (p *Play) leads(ctx context.Context, name, holder string) error {
	return p.WaitFor(ctx, holder+" to hold Lease "+name, patience, func(ctx context.Context) (string, error) {
		lease := &coordinationv1.Lease{}
		if err := p.User.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}, lease); err != nil {
			return "", err
		}
		if lease.Spec.HolderIdentity == nil || !strings.HasPrefix(*lease.Spec.HolderIdentity, holder) {
			return fmt.Sprintf("%+v", lease.Spec), nil
		}
		return "", nil
	})
}

// remembered is stopped by a person.
func remembered(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.ProvingSilenceReason, forgotten); err != nil {
		return "", err
	}
	if err := p.leads(ctx, kcmName, forgotten); err != nil {
		return "", err
	}
	if err := p.forgottenRuns(); err != nil {
		return "", err
	}
	if err := p.Client.Delete(
		ctx,
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: forgotten}},
	); err != nil {
		return "", err
	}
	return "It went on running the cloud loops when they were off in the KCM that we know. The CCM was not let in: the proof of " +
		"silence named the holder until it was stopped.", p.handedOver(ctx)
}

// forgottenRuns says that the KCM which no one knows of runs the loops now, and that the CCM never did.
func (p *Play) forgottenRuns() error {
	samples, err := p.samples()
	if err != nil {
		return err
	}
	last := samples[len(samples)-1].Time
	running := slices.ContainsFunc(samples, func(s loops.Sample) bool {
		return strings.HasPrefix(s.Instance, forgotten) && s.Running && s.Loop == "service" &&
			last.Sub(s.Time) < 10*p.Options().LeaseDuration
	})
	ccm := slices.ContainsFunc(
		samples,
		func(s loops.Sample) bool { return s.Component == ccmName && s.Running && s.Loop == "service" },
	)
	if !running || ccm {
		return fmt.Errorf("the forgotten KCM runs the loops: %t, the CCM does: %t", running, ccm)
	}
	return nil
}

// runTwice waits until every cloud loop was seen in both replicas.
func runTwice(ctx context.Context, p *Play) error {
	return p.WaitFor(ctx, "the cloud loops in both replicas", patience, func(context.Context) (string, error) {
		samples, err := p.samples()
		if err != nil {
			return "", err
		}
		for _, loop := range loops.CloudLoops() {
			if !slices.ContainsFunc(loops.Overlaps(samples), func(overlap loops.Overlap) bool { return overlap.Loop == loop }) {
				return "loop " + loop + " was seen in one of them", nil
			}
		}
		return "", nil
	})
}

func ranTwice(ctx context.Context, p *Play) (string, error) {
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	samples, err := p.samples()
	if err != nil {
		return "", err
	}
	mixed := slices.ContainsFunc(
		loops.Overlaps(samples),
		func(overlap loops.Overlap) bool { return overlap.First.Component != overlap.Second.Component },
	)
	if mixed {
		return "", errors.New("a loop ran in KCM and in the CCM")
	}
	return "Both replicas ran all cloud loops at once, before anything was done. The hand-over asked both processes, and no loop " +
		"ran in KCM and in the CCM.", nil
}

// nameKept asks in vain: it cannot be accepted.
func nameKept(ctx context.Context, p *Play) (string, error) {
	accepted, err := p.User.Get(ctx)
	if err != nil {
		return "", err
	}
	if err := p.until(ctx, "the acceptance to be judged", func(cluster *ucv1.Cluster) string {
		status := cluster.Status
		if status.ObservedGeneration < accepted.Generation || status.Preflight == nil || status.Preflight.Blocking != 1 {
			return where(cluster)
		}
		return ""
	}); err != nil {
		return "", err
	}
	before := p.Cloud.Snapshot(p.Group.Name).LoadBalancers
	if err := p.Client.Delete(ctx, accepted); err != nil {
		return "", err
	}
	p.Group.Spec = nil
	if err := p.again(ctx, accepted); err != nil {
		return "", err
	}
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	after := p.Cloud.Snapshot(p.Group.Name).LoadBalancers
	if len(before) != 1 || !slices.Equal(ids(before), ids(after)) {
		return "", fmt.Errorf("the load balancers were %v and are %v", before, after)
	}
	return "It blocked although it stood in spec.preflight.accept. When the Cluster was deleted and made again without the name, " +
		"the migration started, and the load balancer kept its name and address.", nil
}

func ids(balancers []simcloud.LoadBalancer) []string {
	var list []string
	for _, balancer := range balancers {
		list = append(list, balancer.Name+" "+balancer.ID+" "+balancer.IP)
	}
	return list
}

// again makes the Cluster object again when it is gone.
func (p *Play) again(ctx context.Context, cluster *ucv1.Cluster) error {
	err := p.WaitFor(ctx, "the end of the Cluster", patience, func(ctx context.Context) (string, error) {
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(cluster), &ucv1.Cluster{})
		if err == nil {
			return "it is there", nil
		}
		return "", client.IgnoreNotFound(err)
	})
	if err != nil {
		return err
	}
	return p.begin(ctx)
}
