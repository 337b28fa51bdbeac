package hazards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

func machineGroups() []Group {
	one := bed.UserClusterOptions{KCMReplicas: 1}
	return []Group{
		{
			Name: "budget", Options: one, Pools: map[string]int32{"workers": 2},
			Hazards: []Hazard{
				{
					Name:     "A PodDisruptionBudget that allows nothing although all pods are healthy",
					ID:       "DisruptionBudgetNeverAllows",
					Severity: blocking,
					Objects:  []string{"PodDisruptionBudget default/web"},
					Stage:    strictBudget,
					Happens:  heldDrain,
				},
				{
					Name: "A volume that asks for a zone without a Node", ID: "VolumeNodeAffinity", Severity: blocking,
					Objects: []string{"PersistentVolume elsewhere"}, Stage: elsewhere, Happens: unschedulable,
				},
			},
		},
		{
			Name: "quota", Options: one, Pools: map[string]int32{"workers": 1},
			Hazards: []Hazard{
				{
					Name:     "A Machine that the cloud has no room for",
					ID:       "QuotaExceeded",
					Severity: blocking,
					Objects:  []string{"Machine kube-system/one-too-many"},
					Stage:    exhaust,
					Happens:  exhausted,
				},
			},
		},
		{
			Name: "pets", Options: one,
			Hazards: []Hazard{
				{
					Name: "A MachineDeployment that is paused", ID: "MachineDeploymentPaused", Severity: warning,
					Objects: []string{"MachineDeployment kube-system/held"}, Stage: pause, Happens: held,
				},
				{
					Name:     "A Machine that belongs to no MachineDeployment",
					ID:       "MachineStandalone",
					Severity: warning,
					Objects:  []string{"Machine kube-system/pet"},
					Stage: func(ctx context.Context, p *Play) error {
						if err := p.User.AddStandalone(ctx, "pet"); err != nil {
							return err
						}
						return p.nodesReady(ctx, 2)
					},
					Happens: func(ctx context.Context, p *Play) (string, error) {
						return "It was not replaced, and step Roll stood still with reason BlockedMachines and named it.",
							p.untilSaid(ctx, ucv1.BlockedMachinesReason, "kube-system/pet")
					},
				},
			},
		},
	}
}

func strictBudget(ctx context.Context, p *Play) error {
	web, budget := bed.Web(2)
	budget.Spec.MaxUnavailable = new(intstr.FromInt32(0))
	for _, object := range []client.Object{web, budget} {
		if err := p.User.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return p.WaitFor(ctx, "the PodDisruptionBudget to be judged", patience, func(ctx context.Context) (string, error) {
		judged := &policyv1.PodDisruptionBudget{}
		if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(budget), judged); err != nil {
			return "", err
		}
		if status := judged.Status; status.CurrentHealthy != 2 || status.ExpectedPods != 2 ||
			status.ObservedGeneration != judged.Generation {
			return fmt.Sprintf("%+v", status), nil
		}
		return "", nil
	})
}

// heldDrain ends when the budget gives in.
func heldDrain(ctx context.Context, p *Play) (string, error) {
	err := p.untilSaid(
		ctx,
		ucv1.WaitingForMachinesReason,
		"these pods may not be evicted now: default/web-",
		"default/web",
		"stops draining, and deletes the instance by force, at ",
	)
	if err != nil {
		return "", err
	}
	list := &machines.MachineList{}
	if err := p.User.Client.List(ctx, list); err != nil {
		return "", err
	}
	at := slices.IndexFunc(list.Items, func(machine machines.Machine) bool { return machine.DeletionTimestamp != nil })
	if at < 0 {
		return "", errors.New("no Machine is going")
	}
	_, budget := bed.Web(2)
	if err := p.User.Client.Patch(
		ctx,
		budget,
		client.RawPatch(types.MergePatchType, []byte(`{"spec":{"maxUnavailable":1}}`)),
	); err != nil {
		return "", err
	}
	if err := p.untilGone(ctx, &list.Items[at]); err != nil {
		return "", err
	}
	return "The drain of the first Machine stood still. The status named the pods, the PodDisruptionBudget, and when the " +
		"machine-controller would use force, two hours later. When the budget allowed one disruption, the Machine went.", nil
}

func elsewhere(ctx context.Context, p *Play) error {
	volume := bed.InTreeVolume("elsewhere")
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{
		Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"elsewhere"}},
				},
			},
		}},
	}
	return p.User.Client.Create(ctx, volume)
}

// unschedulable asks the scheduler.
func unschedulable(ctx context.Context, p *Play) (string, error) {
	volume := bed.InTreeVolume("elsewhere")
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "elsewhere"}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: volume.Spec.AccessModes, StorageClassName: new(""), VolumeName: volume.Name,
		Resources: corev1.VolumeResourceRequirements{Requests: volume.Spec.Capacity},
	}}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "web", Image: "example/web:1"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}}},
	}}
	for _, object := range []client.Object{claim, pod} {
		if err := p.User.Client.Create(ctx, object); err != nil {
			return "", err
		}
	}
	said := ""
	err := p.WaitFor(ctx, "what the scheduler says", patience, func(ctx context.Context) (string, error) {
		if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return "", err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				said = condition.Message
			}
		}
		if !strings.Contains(said, "volume node affinity conflict") {
			return "it says " + said, nil
		}
		return "", nil
	})
	return "A pod that needed the volume was not scheduled: the scheduler said volume node affinity conflict.", err
}

// exhaust has the machine-controller's stand-in fail, and says of the Machine what the real one would.
func exhaust(ctx context.Context, p *Play) error {
	p.Cloud.AddFault(simcloud.Fault{Cluster: p.Group.Name, Method: "CreateInstance", ErrorStatus: http.StatusForbidden})
	machine := bed.Machine("one-too-many")
	if err := p.User.Client.Create(ctx, machine); err != nil {
		return err
	}
	patch := `{"status":{"errorReason":"InsufficientResources","errorMessage":"the quota of instances is used up"}}`
	return p.User.Client.Patch(ctx, machine, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// exhausted takes the Machine away that no one would replace, so that the roll is all that is left.
func exhausted(ctx context.Context, p *Play) (string, error) {
	before := &machines.MachineList{}
	if err := p.User.Client.List(ctx, before, client.MatchingLabels{"pool": "workers"}); err != nil {
		return "", err
	}
	if err := p.User.Client.Delete(ctx, bed.Machine("one-too-many")); err != nil {
		return "", err
	}
	if err := p.rolls(ctx); err != nil {
		return "", err
	}
	if err := p.extraRefused(ctx); err != nil {
		return "", err
	}
	if err := p.untilSaid(ctx, ucv1.WaitingForMachinesReason, "workers"); err != nil {
		return "", err
	}
	if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(&before.Items[0]), &before.Items[0]); err != nil {
		return "", fmt.Errorf("the old Machine is gone: %w", err)
	}
	if before.Items[0].DeletionTimestamp != nil {
		return "", errors.New("the old Machine is going")
	}
	p.Cloud.ClearFaultsOf(p.Group.Name)
	if err := p.untilGone(ctx, &before.Items[0]); err != nil {
		return "", err
	}
	return "The extra Machine of the roll was not made either: the cloud refused it, the old Machine stayed, and step Roll " +
		"waited with reason WaitingForMachines. When there was room, it was made, and the old one went.", nil
}

// rolls waits until Machines are replaced.
func (p *Play) rolls(ctx context.Context) error {
	return p.until(ctx, "the roll", func(cluster *ucv1.Cluster) string {
		if cluster.Status.RollGeneration == "" {
			return where(cluster)
		}
		return ""
	})
}

// extraRefused waits until the cloud refused the Machine that a roll needs more.
func (p *Play) extraRefused(ctx context.Context) error {
	return p.WaitFor(ctx, "the extra Machine to be refused", patience, func(context.Context) (string, error) {
		calls, err := p.calls()
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(calls, func(call simcloud.Call) bool {
			return call.Method == "CreateInstance" && call.Error != "" && call.Object != "one-too-many"
		}) {
			return "it was not asked for", nil
		}
		return "", nil
	})
}

func pause(ctx context.Context, p *Play) error {
	deployment := bed.MachineDeployment("held", 1)
	if err := p.User.Client.Create(ctx, deployment); err != nil {
		return err
	}
	if err := p.nodesReady(ctx, 1); err != nil {
		return err
	}
	return p.User.Client.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`)))
}

func held(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.BlockedMachinesReason, "kube-system/held"); err != nil {
		return "", err
	}
	list := &machines.MachineList{}
	if err := p.User.Client.List(ctx, list, client.MatchingLabels{"pool": "held"}); err != nil {
		return "", err
	}
	if len(list.Items) != 1 || list.Items[0].DeletionTimestamp != nil {
		return "", fmt.Errorf("it has %d Machines", len(list.Items))
	}
	return "Its Machine was not replaced, and step Roll stood still with reason BlockedMachines and named it.", nil
}
