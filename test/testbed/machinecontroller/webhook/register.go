package webhook

import (
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	// configurationName is the real one's.
	configurationName = "machine-controller.kubermatic.io"
	// startedAtAnnotation orders the processes that want to be called.
	startedAtAnnotation = "testbed.machine-controller.kubermatic.io/started-at"
)

// registration is what one process wants the API server to call.
type registration struct {
	baseURL   string
	bundle    []byte
	startedAt time.Time
}

// register writes the registration unless a process that started later has
// written its own: during a rolling update the newest wins, whoever comes last.
func (r *registration) register(ctx context.Context, c client.Client) error {
	current := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := c.Get(ctx, client.ObjectKey{Name: configurationName}, current)
	if apierrors.IsNotFound(err) {
		if err := c.Create(ctx, r.configuration()); err != nil {
			return fmt.Errorf("create webhook configuration %s: %w", configurationName, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read webhook configuration %s: %w", configurationName, err)
	}
	if r.isCurrent(current) || r.isOutdatedBy(current) {
		return nil
	}
	wanted := r.configuration()
	wanted.ResourceVersion = current.ResourceVersion
	if err := c.Update(ctx, wanted); err != nil {
		return fmt.Errorf("update webhook configuration %s: %w", configurationName, err)
	}
	return nil
}

func (r *registration) stamp() string { return r.startedAt.UTC().Format(time.RFC3339Nano) }

func (r *registration) isCurrent(current *admissionregistrationv1.MutatingWebhookConfiguration) bool {
	return len(current.Webhooks) == 2 && current.Annotations[startedAtAnnotation] == r.stamp()
}

func (r *registration) isOutdatedBy(current *admissionregistrationv1.MutatingWebhookConfiguration) bool {
	other, err := time.Parse(time.RFC3339Nano, current.Annotations[startedAtAnnotation])
	return err == nil && other.After(r.startedAt)
}

func (r *registration) configuration() *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{
			Name:        configurationName,
			Annotations: map[string]string{startedAtAnnotation: r.stamp()},
		},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			r.webhook("machines", machinesPath),
			r.webhook("machinedeployments", deploymentsPath),
		},
	}
}

func (r *registration) webhook(resource, path string) admissionregistrationv1.MutatingWebhook {
	group := machines.GroupVersion()
	return admissionregistrationv1.MutatingWebhook{
		Name:                    resource + "." + configurationName,
		ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: new(r.baseURL + path), CABundle: r.bundle},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: []string{"v1"},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{group.Group}, APIVersions: []string{group.Version}, Resources: []string{resource},
			},
		}},
	}
}
