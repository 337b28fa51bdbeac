package hazards

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	// patience bounds each wait; machines are shared and noisy.
	patience = 4 * time.Minute
	kcmName  = "kube-controller-manager"
	ccmName  = "cloud-controller-manager"
)

// Play is a group that runs. Its methods are what hazards need.
type Play struct {
	*bed.Bed
	User  *bed.UserCluster
	Group Group

	// kcm is the generation of KCM's Deployment before the feature was switched on, startedAt when it was.
	kcm       int64
	startedAt time.Time
	rows      []Row
}

// run plays the group from the set-up of its cluster to the last thing that happens.
func (p *Play) run(ctx context.Context) error {
	options := p.Group.Options
	options.Name = p.Group.Name
	// The gate is on already, so that KCM is not rolled out again as soon as it is handed over.
	options.KCMFlags = append([]string{
		"--feature-gates=DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false,CSIMigrationPortworx=true",
	}, options.KCMFlags...)
	var err error
	if p.User, err = p.AddUserCluster(options); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{p.populate, p.stage, p.begin, p.found, p.untouched, p.accept, p.happens} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// populate makes what is fine.
func (p *Play) populate(ctx context.Context) error {
	nodes := len(p.Group.Nodes)
	for _, name := range p.Group.Nodes {
		if err := p.User.AddNode(ctx, name, false); err != nil {
			return err
		}
	}
	for name, replicas := range p.Group.Pools {
		if err := p.User.Client.Create(ctx, bed.MachineDeployment(name, replicas)); err != nil {
			return err
		}
		nodes += int(replicas)
	}
	return p.nodesReady(ctx, nodes)
}

func (p *Play) nodesReady(ctx context.Context, count int) error {
	return p.WaitFor(ctx, fmt.Sprintf("%d Nodes of %s", count, p.Group.Name), patience, func(ctx context.Context) (string, error) {
		nodes := &corev1.NodeList{}
		if err := p.User.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		ready := slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool { return !isReady(node) })
		if len(ready) < count {
			return fmt.Sprintf("%d are Ready", len(ready)), nil
		}
		return "", nil
	})
}

func isReady(node corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (p *Play) stage(ctx context.Context) error {
	for _, hazard := range p.Group.Hazards {
		if hazard.Stage == nil {
			continue
		}
		if err := hazard.Stage(ctx, p); err != nil {
			return fmt.Errorf("staging %q: %w", hazard.Name, err)
		}
	}
	return nil
}

// begin makes the Cluster object in-tree and switches the feature on. Where nothing blocks, a plan that no one approved keeps the
// migration back.
func (p *Play) begin(ctx context.Context) error {
	deployment := &appsv1.Deployment{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.User.Namespace, Name: kcmName}, deployment); err != nil {
		return err
	}
	p.kcm = deployment.Generation
	cluster := p.User.NewCluster(false)
	if p.Group.Spec != nil {
		p.Group.Spec(cluster)
	}
	if len(p.Group.blocking()) == 0 {
		cluster.Spec.Mode = ucv1.PlanOnlyMode
	}
	if err := p.Client.Create(ctx, cluster); err != nil {
		return err
	}
	err := p.until(ctx, "Ready with reason InTree", func(cluster *ucv1.Cluster) string {
		if ready := meta.FindStatusCondition(
			cluster.Status.Conditions,
			ucv1.ReadyCondition,
		); ready == nil ||
			ready.Reason != ucv1.InTreeReason {
			return fmt.Sprintf("Ready is %+v", ready)
		}
		return ""
	})
	if err != nil {
		return err
	}
	p.startedAt = time.Now()
	return p.patch(ctx, map[string]any{"features": map[string]any{"externalCloudProvider": true}})
}

// patch changes the Cluster's spec, as a person does.
func (p *Play) patch(ctx context.Context, spec map[string]any) error {
	content, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: p.User.Options.Name}}
	return p.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, content))
}

// accept takes upon itself what blocks, objects by name, and lets the migration go on.
func (p *Play) accept(ctx context.Context) error {
	var accepted []map[string]any
	for _, hazard := range p.Group.blocking() {
		entry := map[string]any{"id": hazard.ID, "reason": "It was made on purpose, to see what happens."}
		if len(hazard.Objects) > 0 {
			entry["objects"] = hazard.Objects
		}
		accepted = append(accepted, entry)
	}
	if err := p.patch(ctx, map[string]any{"mode": ucv1.MigrateMode, "preflight": map[string]any{"accept": accepted}}); err != nil {
		return err
	}
	if slices.ContainsFunc(p.Group.Hazards, func(h Hazard) bool { return h.Refused }) {
		return nil
	}
	return p.until(ctx, "the start with "+fmt.Sprint(len(accepted))+" accepted findings", func(cluster *ucv1.Cluster) string {
		if status := cluster.Status; status.StartedAt == nil || status.Preflight == nil ||
			int(status.Preflight.Accepted) != len(accepted) {
			return fmt.Sprintf("%+v", status.Preflight)
		}
		return ""
	})
}

func (p *Play) happens(ctx context.Context) error {
	for i, hazard := range p.Group.Hazards {
		happened, err := hazard.Happens(ctx, p)
		if err != nil {
			p.rows[i].Unmet = "not as the finding says: " + err.Error()
			return fmt.Errorf("%s: %s", hazard.ID, p.rows[i].Unmet)
		}
		p.rows[i].Happened = happened
		p.Options().Progress(fmt.Sprintf("%s: %s: %s", p.Group.Name, hazard.ID, happened))
	}
	return nil
}

// until waits until the Cluster lacks nothing.
func (p *Play) until(ctx context.Context, what string, lacks func(*ucv1.Cluster) string) error {
	last := "it could not be read"
	return p.WaitFor(ctx, "Cluster "+p.Group.Name+": "+what, patience, func(ctx context.Context) (string, error) {
		cluster, err := p.User.Get(ctx)
		if err == nil {
			last = lacks(cluster)
		}
		// At the end of its patience nothing can be read, and what it lacked before is worth more.
		return last, nil
	})
}

// untilTrue waits for a condition.
func (p *Play) untilTrue(ctx context.Context, condition string) error {
	return p.until(ctx, "condition "+condition, func(cluster *ucv1.Cluster) string {
		if !meta.IsStatusConditionTrue(cluster.Status.Conditions, condition) {
			return where(cluster)
		}
		return ""
	})
}

// where a Cluster is, for messages.
func where(cluster *ucv1.Cluster) string {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	if ready == nil {
		return "it has no condition Ready"
	}
	return fmt.Sprintf("step %s, %s: %s", cluster.Status.Step, ready.Reason, ready.Message)
}

// untilSaid waits until a condition that is not as it should be has the reason and says all of that.
func (p *Play) untilSaid(ctx context.Context, reason string, fragments ...string) error {
	return p.until(ctx, "reason "+reason+" with "+strings.Join(fragments, ", "), func(cluster *ucv1.Cluster) string {
		for _, condition := range cluster.Status.Conditions {
			says := func(fragment string) bool { return !strings.Contains(condition.Message, fragment) }
			if condition.Reason == reason && !slices.ContainsFunc(fragments, says) {
				return ""
			}
		}
		return where(cluster)
	})
}

// handedOver waits for the end of the hand-over.
func (p *Play) handedOver(ctx context.Context) error {
	return p.untilTrue(ctx, ucv1.HandoverCompletedCondition)
}

// untilGone waits until an object of the user cluster is no more.
func (p *Play) untilGone(ctx context.Context, object client.Object) error {
	what := fmt.Sprintf("the end of %T %s", object, object.GetName())
	return p.WaitFor(ctx, what, patience, func(ctx context.Context) (string, error) {
		err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil {
			return "it is there", nil
		}
		return "", client.IgnoreNotFound(err)
	})
}

// calls that the cloud got since the feature was switched on.
func (p *Play) calls() ([]simcloud.Call, error) {
	file, err := os.Open(p.File("simcloud.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	calls, err := loops.ReadCalls(file)
	return slices.DeleteFunc(
		loops.OfCluster(calls, p.Group.Name),
		func(call simcloud.Call) bool { return call.Time.Before(p.startedAt) },
	), err
}

// samples of the loops.
func (p *Play) samples() ([]loops.Sample, error) {
	file, err := os.Open(p.File("loops.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	samples, err := loops.ReadSamples(file)
	return loops.OfCluster(samples, p.Group.Name), err
}

// untilCalled waits until the CCM asked for something at the cloud.
func (p *Play) untilCalled(ctx context.Context, what string, is func(simcloud.Call) bool) error {
	return p.WaitFor(ctx, what, patience, func(context.Context) (string, error) {
		calls, err := p.calls()
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(calls, func(call simcloud.Call) bool { return call.Component == ccmName && is(call) }) {
			return fmt.Sprintf("none of %d calls", len(calls)), nil
		}
		return "", nil
	})
}
