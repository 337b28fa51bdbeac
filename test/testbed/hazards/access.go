package hazards

import (
	"context"
	"errors"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	webhookName = "policy.example.com"
	webhookText = "ValidatingWebhookConfiguration policy webhook " + webhookName
)

func accessGroups() []Group {
	return []Group{
		{
			Name: "webhook", Options: withoutMachines(), Nodes: []string{"steady"}, CI: true,
			Hazards: []Hazard{
				{
					Name:     "An admission webhook that refuses what it is not asked about, and no one answers",
					ID:       "WebhookBroken",
					Severity: blocking,
					Objects:  []string{webhookText},
					Stage:    brokenWebhook,
					Happens:  refusedAddons,
				},
				{
					Name: "The same webhook, asked about our addons", ID: "WebhookMatches", Severity: info, Objects: []string{webhookText},
					Happens: func(ctx context.Context, p *Play) (string, error) {
						return "It was asked about the DaemonSet of the CSI driver, and refused it. Without the webhook the addons were applied.",
							p.untilTrue(ctx, ucv1.CSIReadyCondition)
					},
				},
			},
		},
		{
			Name: "rights", Options: withoutMachines(), Nodes: []string{"steady"},
			Hazards: []Hazard{
				{
					Name:     "Credentials without the right to open the fence",
					ID:       "RightsMissing",
					Severity: blocking,
					Stage:    withdrawRights,
					Happens:  fenceRefused,
				},
			},
		},
		{
			Name: "expiry", Options: withoutMachines(), Nodes: []string{"steady"},
			Hazards: []Hazard{{
				Name: "A client certificate that runs out in minutes", ID: "CredentialsExpire", Severity: blocking,
				Stage:   func(ctx context.Context, p *Play) error { return p.credentials(ctx, shortLife) },
				Happens: expired,
			}},
		},
	}
}

func brokenWebhook(ctx context.Context, p *Play) error {
	return p.User.Client.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "policy"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{
				Name:                    webhookName,
				AdmissionReviewVersions: []string{"v1"},
				SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
				FailurePolicy:           new(admissionregistrationv1.Fail),
				TimeoutSeconds:          new(int32(1)),
				ClientConfig: admissionregistrationv1.WebhookClientConfig{
					Service: &admissionregistrationv1.ServiceReference{Namespace: metav1.NamespaceDefault, Name: "policy"},
				},
				Rules: []admissionregistrationv1.RuleWithOperations{
					{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
						Rule: admissionregistrationv1.Rule{
							APIGroups:   []string{"apps"},
							APIVersions: []string{"v1"},
							Resources:   []string{"daemonsets", "deployments"},
						},
					},
				},
			},
		},
	})
}

func refusedAddons(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.CouldNotActReason, "DaemonSet kube-system/simcloud-csi-node"); err != nil {
		return "", err
	}
	if err := p.kcmAsBefore(ctx); err != nil {
		return "", err
	}
	return "The addons were refused, and step Addons stood still with reason CouldNotAct, before KCM was touched.",
		p.User.Client.Delete(
			ctx,
			&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "policy"}},
		)
}

// fenceRights changes what we may do with the RoleBinding of the fence.
func (p *Play) fenceRights(ctx context.Context, verbs ...string) error {
	role := &rbacv1.Role{}
	if err := p.User.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: bed.ManagerUser}, role); err != nil {
		return err
	}
	at := slices.IndexFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "rolebindings") })
	if at < 0 {
		return errors.New("the Role has no rule about RoleBindings")
	}
	role.Rules[at].Verbs = verbs
	return p.User.Client.Update(ctx, role)
}

func withdrawRights(ctx context.Context, p *Play) error { return p.fenceRights(ctx, "get") }

// fenceRefused is the worst moment: KCM has been changed, and the CCM may not lead.
func fenceRefused(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.CouldNotActReason, "fence"); err != nil {
		return "", err
	}
	cluster, err := p.User.Get(ctx)
	if err != nil {
		return "", err
	}
	silent := cluster.Status.Handover != nil && cluster.Status.Handover.LoopsOffAt != nil
	if err := p.fenceRights(ctx, "create", "delete", "get", "patch"); err != nil {
		return "", err
	}
	happened := "The API server refused it, and the migration stood still with reason CouldNotAct before KCM was touched, until " +
		"we had the right."
	if silent {
		happened = "The API server refused to open the fence when KCM's loops were off already: with reason CouldNotAct no one ran " +
			"the cloud loops until we had the right."
	}
	return happened, p.handedOver(ctx)
}

const shortLife = 150 * time.Second

// credentials are the manager's for the user cluster.
func (p *Play) credentials(ctx context.Context, lifetime time.Duration) error {
	config, err := p.User.ClientCertFor(lifetime, bed.ManagerUser)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: p.Group.Name + "-kubeconfig"}}
	if err := p.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return err
	}
	secret.Data["value"] = p.User.Kubeconfig(config)
	return p.Client.Update(ctx, secret)
}

func expired(ctx context.Context, p *Play) (string, error) {
	err := p.until(ctx, "the end of the credentials", func(cluster *ucv1.Cluster) string {
		reachable := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.UserClusterReachableCondition)
		if reachable == nil || reachable.Reason != ucv1.UnauthorizedReason {
			return where(cluster)
		}
		return ""
	})
	if err != nil {
		return "", err
	}
	cluster, err := p.User.Get(ctx)
	if err != nil {
		return "", err
	}
	if meta.IsStatusConditionTrue(cluster.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition) {
		return "", errors.New("the migration was over before")
	}
	if err := p.credentials(ctx, time.Hour*24*365); err != nil {
		return "", err
	}
	return "In the middle of the migration the API server did not take them any more: nothing went on, with reason Unauthorized, " +
			"until the kubeconfig was renewed.",
		p.handedOver(ctx)
}
