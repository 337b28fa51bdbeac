package integration_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// suite is the one API server of this package; TestMain fills it before any test runs.
var suite struct {
	environment *envtest.Environment
	scheme      *runtime.Scheme
	client      client.Client
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS does not name a directory with etcd and kube-apiserver: run make test")
		return 1
	}
	stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server:", err)
		return 1
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		return 1
	}
	return code
}

// start installs the webhook configuration as config/default renders it. Nobody answers the webhook until a test does.
func start() (stop func() error, err error) {
	suite.scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, ucv1.AddToScheme,
	} {
		if err := add(suite.scheme); err != nil {
			return nil, err
		}
	}
	configuration, err := mutatingWebhook("default")
	if err != nil {
		return nil, err
	}
	suite.environment = &envtest.Environment{
		Scheme:                suite.scheme,
		CRDDirectoryPaths:     []string{configPath("crd/bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{configuration},
		},
	}
	restConfig, err := suite.environment.Start()
	if err != nil {
		return nil, err
	}
	ctrl.SetLogger(logr.Discard())
	suite.client, err = client.New(restConfig, client.Options{Scheme: suite.scheme})
	return suite.environment.Stop, err
}
