package manager

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// The names below are those of config/self-managed-certificates.
const (
	certificateSecret    = "ccm-migration-controller-webhook-certificate"
	webhookConfiguration = "ccm-migration-controller"
	webhookService       = "ccm-migration-controller-webhook"
)

// rotateCertificates keeps a certificate of our own for the webhooks, where there is no cert-manager.
func rotateCertificates(mgr ctrl.Manager, o *managerOptions, ready chan struct{}) error {
	return rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: o.namespace, Name: certificateSecret},
		CertDir:        o.certificateDir,
		CAName:         "ccm-migration-controller-ca",
		CAOrganization: "ccm-migration-controller",
		DNSName:        webhookService + "." + o.namespace + ".svc",
		ExtraDNSNames:  extraNames(o.webhookHost),
		IsReady:        ready,
		Webhooks: []rotator.WebhookInfo{
			{Name: webhookConfiguration, Type: rotator.Mutating}, {Name: webhookConfiguration, Type: rotator.Validating},
		},
		// Every replica serves the webhook, so every replica needs the certificate.
		RequireLeaderElection: false,
	})
}

func extraNames(host string) []string {
	if host == "" {
		return nil
	}
	return []string{host}
}

// webhookStarter serves the webhook once its certificate is there; the rest of the manager does not wait for that.
type webhookStarter struct {
	ready  <-chan struct{}
	serve  func() webhook.Server
	server atomic.Pointer[webhook.Server]
}

// Start implements manager.Runnable.
func (w *webhookStarter) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-w.ready:
		server := w.serve()
		w.server.Store(&server)
	}
	return nil
}

// NeedLeaderElection says that every replica serves.
func (w *webhookStarter) NeedLeaderElection() bool { return false }

func (w *webhookStarter) check(req *http.Request) error {
	server := w.server.Load()
	if server == nil {
		return errors.New("the webhook's certificate is not there yet")
	}
	return (*server).StartedChecker()(req)
}
