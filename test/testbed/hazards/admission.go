package hazards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

func admissionGroups() []Group {
	one := bed.UserClusterOptions{KCMReplicas: 1}
	return []Group{
		{
			Name: "refused", Options: one, Pools: map[string]int32{"workers": 1},
			Hazards: []Hazard{{
				Name: "A MachineDeployment whose image is gone", ID: "MachineDeploymentRefused", Severity: blocking,
				Objects: []string{"MachineDeployment kube-system/dated"}, Stage: date, Happens: heldBack,
			}},
		},
		{
			Name: "rewritten", Options: one, Pools: map[string]int32{"workers": 1},
			Hazards: []Hazard{{
				Name: "A MachineDeployment that its webhook would write in another form", ID: "MachineDeploymentRewritten", Severity: info,
				Objects: []string{"MachineDeployment kube-system/workers"}, Stage: withoutForm, Happens: rolledByALabel,
			}},
		},
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
		err := p.label(ctx, deployment.DeepCopy(), client.DryRunAll)
		switch {
		case err == nil:
			return "it accepts", nil
		case strings.Contains(err.Error(), "denied the request"):
			return "", nil
		}
		return "", err
	})
}

// label a MachineDeployment, which is no change of its template.
func (p *Play) label(ctx context.Context, deployment *machines.MachineDeployment, options ...client.PatchOption) error {
	return p.User.Client.Patch(
		ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"one"}}}`)), options...,
	)
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

// formed is a field that the webhook writes without a value where it is missing.
const formed = "caPublicKey"

// withoutForm takes the field away while no webhook is called, as before an upgrade of the machine-controller. The registration
// says that it is of a process which started later, so that the running one leaves it as it is.
func withoutForm(ctx context.Context, p *Play) error {
	before, err := p.machineOf(ctx, "workers")
	if err != nil {
		return err
	}
	registration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := p.User.Client.Get(ctx, client.ObjectKey{Name: "machine-controller.kubermatic.io"}, registration); err != nil {
		return err
	}
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
	none := fmt.Appendf(
		nil, `{"metadata":{"annotations":{"testbed.machine-controller.kubermatic.io/started-at":%q}},"webhooks":null}`, later,
	)
	if err := p.User.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, none)); err != nil {
		return err
	}
	deployment := bed.MachineDeployment("workers", 1)
	without := client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"providerSpec":{"value":{"`+formed+`":null}}}}}}`))
	err = p.WaitFor(ctx, "a write that no webhook sees", patience, func(ctx context.Context) (string, error) {
		if err := p.User.Client.Patch(ctx, deployment, without); err != nil {
			return "", err
		}
		if hasForm(deployment.Spec.Template) {
			return "the field is there", nil
		}
		return "", nil
	})
	if err != nil {
		return err
	}
	if err := p.User.Client.Delete(ctx, registration); err != nil {
		return err
	}
	if err := p.untilGone(ctx, before); err != nil {
		return err
	}
	return p.WaitFor(ctx, "the webhook", patience, func(ctx context.Context) (string, error) {
		tried := deployment.DeepCopy()
		if err := p.label(ctx, tried, client.DryRunAll); err != nil {
			return "", err
		}
		if !hasForm(tried.Spec.Template) {
			return "it is not called", nil
		}
		return "", nil
	})
}

func hasForm(template machines.MachineTemplateSpec) bool {
	value := template.Spec.ProviderSpec.Value
	return value != nil && strings.Contains(string(value.Raw), formed)
}

// rolledByALabel before the migration comes to the roll.
func rolledByALabel(ctx context.Context, p *Play) (string, error) {
	if err := p.label(ctx, bed.MachineDeployment("workers", 1)); err != nil {
		return "", err
	}
	err := p.WaitFor(ctx, "Machines of the other form", patience, func(ctx context.Context) (string, error) {
		sets := &machines.MachineSetList{}
		if err := p.User.Client.List(ctx, sets, client.MatchingLabels{"pool": "workers"}); err != nil {
			return "", err
		}
		for _, set := range sets.Items {
			// That of before the field was taken away is used again.
			if hasForm(set.Spec.Template) && set.Spec.Template.Annotations[ucv1.ForceRestartAnnotation] == "" &&
				*set.Spec.Replicas > 0 {
				return "", nil
			}
		}
		return fmt.Sprintf("there are %d MachineSets", len(sets.Items)), nil
	})
	return "A label was put on it, and the machine-controller replaced its Machine, before the roll of the migration.", err
}
