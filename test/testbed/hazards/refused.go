package hazards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

func refusedGroup(options bed.UserClusterOptions) Group {
	return Group{
		Name: "refused", Options: options, Pools: map[string]int32{"workers": 1},
		Hazards: []Hazard{{
			Name: "A MachineDeployment whose image is gone", ID: "MachineDeploymentRefused", Severity: blocking,
			Objects: []string{"MachineDeployment kube-system/dated"}, Stage: date, Happens: heldBack,
		}},
	}
}

// date makes a MachineDeployment whose image the cloud has no more.
func date(ctx context.Context, p *Play) error {
	deployment := bed.MachineDeployment("dated", 1)
	deployment.Spec.Template.Spec.ProviderSpec.Value = &runtime.RawExtension{
		Raw: []byte(`{"cloudProvider":"simcloud","operatingSystem":"ubuntu","cloudProviderSpec":{"image":"old"}}`),
	}
	if err := p.User.Client.Create(ctx, deployment); err != nil {
		return err
	}
	if err := p.nodesReady(ctx, 2); err != nil {
		return err
	}
	p.Cloud.AddFault(simcloud.Fault{
		Cluster: p.Group.Name, Method: "GetImage", Object: "old", ErrorStatus: http.StatusNotFound,
	})
	return p.WaitFor(ctx, "the webhook, which keeps answers, to refuse", patience, func(ctx context.Context) (string, error) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"tried":"now"}}}`))
		err := p.User.Client.Patch(ctx, deployment.DeepCopy(), patch, client.DryRunAll)
		switch {
		case err == nil:
			return "it accepts", nil
		case strings.Contains(err.Error(), "denied the request"):
			return "", nil
		}
		return "", err
	})
}

// heldBack ends when the cloud has the image again.
func heldBack(ctx context.Context, p *Play) (string, error) {
	dated, err := p.machineOf(ctx, "dated")
	if err != nil {
		return "", err
	}
	if err := p.untilSaid(
		ctx, ucv1.WaitingForMachinesReason, "webhook", "refuses changes of MachineDeployment kube-system/dated",
	); err != nil {
		return "", err
	}
	other, err := p.machineOf(ctx, "workers")
	switch {
	case err != nil:
		return "", err
	case other.Annotations[machines.ExternalCloudProviderAnnotation] != "true":
		return "", errors.New("the Machine of the other MachineDeployment was not replaced")
	}
	if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(dated), dated); err != nil {
		return "", err
	}
	p.Cloud.ClearFaultsOf(p.Group.Name)
	if err := p.untilGone(ctx, dated); err != nil {
		return "", err
	}
	return "The webhook refused every change of it. The other MachineDeployment was rolled, and step Roll waited with the name of " +
		"this one. When the cloud had the image again, it was rolled, too.", nil
}

// machineOf a MachineDeployment of one replica that is not being rolled.
func (p *Play) machineOf(ctx context.Context, pool string) (*machines.Machine, error) {
	list := &machines.MachineList{}
	if err := p.User.Client.List(ctx, list, client.MatchingLabels{"pool": pool}); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("MachineDeployment %s has %d Machines", pool, len(list.Items))
	}
	return &list.Items[0], nil
}
