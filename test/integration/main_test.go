package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/crds"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// suite is the two API servers of this package; TestMain fills it before any test runs.
var suite struct {
	scheme *runtime.Scheme

	// The management cluster.
	environment *envtest.Environment
	client      client.Client

	// The user cluster, and the kubeconfig that its owner gives the controller.
	user struct {
		environment *envtest.Environment
		client      client.Client
		kubeconfig  []byte
		log         audit.Log
	}

	// audit is a folder with the audit logs of both; log is that of the management cluster.
	audit string
	log   audit.Log
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS does not name a directory with etcd and kube-apiserver: run make test")
		return 1
	}
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "starting the API servers:", errors.Join(err, stop()))
		return 1
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API servers:", err)
		return 1
	}
	return code
}

func start() error {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	suite.scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, ucv1.AddToScheme, machines.AddToScheme,
	} {
		if err := add(suite.scheme); err != nil {
			return err
		}
	}
	var err error
	// The place is always the same: a run that was broken off leaves hundreds of megabytes.
	if suite.audit, err = filepath.Abs(filepath.Join("..", "..", "_output", "integration")); err != nil {
		return err
	}
	if err := os.RemoveAll(suite.audit); err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(startManagement)
	group.Go(startUser)
	return group.Wait()
}

func stop() error {
	var errs []error
	for _, environment := range []*envtest.Environment{suite.environment, suite.user.environment} {
		if environment != nil {
			errs = append(errs, environment.Stop())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(suite.audit))...)
}

// startManagement installs the webhook configurations as config/default renders them, and the rules of the manager. Nobody
// answers the webhooks until a test does.
func startManagement() error {
	configuration, err := mutatingWebhook("default")
	if err != nil {
		return err
	}
	versions, err := validatingWebhook("default")
	if err != nil {
		return err
	}
	suite.environment = &envtest.Environment{
		Scheme:                suite.scheme,
		CRDDirectoryPaths:     []string{configPath("crd/bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks:   []*admissionregistrationv1.MutatingWebhookConfiguration{configuration},
			ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{versions},
		},
	}
	if suite.log, err = audited(suite.environment, "management"); err != nil {
		return err
	}
	restConfig, err := suite.environment.Start()
	if err != nil {
		return err
	}
	if suite.client, err = client.New(restConfig, client.Options{Scheme: suite.scheme}); err != nil {
		return err
	}
	return install(suite.client, "default", func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "ClusterRole" || object.GetKind() == "ClusterRoleBinding"
	})
}

// startUser installs the machine-controller's definitions, and what the controller may do there.
func startUser() error {
	definitions, err := crds.All()
	if err != nil {
		return err
	}
	environment := &envtest.Environment{Scheme: suite.scheme, CRDs: definitions}
	suite.user.environment = environment
	if suite.user.log, err = audited(environment, "user"); err != nil {
		return err
	}
	restConfig, err := environment.Start()
	if err != nil {
		return err
	}
	identity, err := environment.AddUser(envtest.User{Name: "ccm-migration-controller"}, nil)
	if err != nil {
		return err
	}
	if suite.user.kubeconfig, err = identity.KubeConfig(); err != nil {
		return err
	}
	restConfig.QPS = -1
	if suite.user.client, err = client.New(restConfig, client.Options{Scheme: suite.scheme}); err != nil {
		return err
	}
	return install(suite.user.client, "usercluster-rbac", func(*unstructured.Unstructured) bool { return true })
}

func install(c client.Client, directory string, wanted func(*unstructured.Unstructured) bool) error {
	objects, err := render(directory)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !wanted(object) {
			continue
		}
		err := c.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("integration"), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
