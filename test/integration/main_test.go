package integration_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// suite is the API servers of this package; TestMain fills it before any test runs.
var suite struct {
	scheme *runtime.Scheme

	// The management cluster, which all tests share: what a test makes there is in a namespace of its own.
	management  server
	environment *envtest.Environment
	client      client.Client

	// The user clusters, and those of them that no test has.
	etcd  *envtest.Etcd
	users []*userCluster
	pool  chan *userCluster

	// commandLine is locked while a command runs.
	commandLine sync.Mutex

	// folder has the audit logs of all.
	folder string

	// catalogue of providers, which takes a while to make and is never changed.
	catalogue *provider.Catalogue
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
	if err := parallelWorlds(); err != nil {
		fmt.Fprintln(os.Stderr, "letting tests run side by side:", errors.Join(err, stop()))
		return 1
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API servers:", err)
		return 1
	}
	return code
}

// parallelWorlds lets as many tests run at a time as there are user clusters, unless the command line says how many.
// The number of cores, which is the default, says little: a test mostly waits for API servers, which are other processes.
func parallelWorlds() error {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	return flag.Set(name, strconv.Itoa(userClusters))
}

// start sets GOGC for the API servers, which inherit it: they live for minutes, and memory is cheaper than their time.
func start() error {
	if err := os.Setenv("GOGC", "400"); err != nil {
		return err
	}
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
	suite.catalogue = provider.New()
	var err error
	// The place is always the same: a run that was broken off leaves hundreds of megabytes.
	if suite.folder, err = filepath.Abs(filepath.Join("..", "..", "_output", "integration")); err != nil {
		return err
	}
	if err := os.RemoveAll(suite.folder); err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(startManagement)
	group.Go(startUserClusters)
	return group.Wait()
}

func stop() error {
	errs := []error{stopUserClusters()}
	if suite.environment != nil {
		errs = append(errs, suite.environment.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(suite.folder))...)
}

// startManagement installs the webhook configurations as config/default renders them, and the rules of the manager. No one
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
		ControlPlaneStartTimeout: startTimeout,
		Scheme:                   suite.scheme,
		CRDDirectoryPaths:        []string{configPath("crd/bases")},
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks:   []*admissionregistrationv1.MutatingWebhookConfiguration{configuration},
			ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{versions},
		},
	}
	suite.management.plane = &suite.environment.ControlPlane
	if err := suite.management.configure("management"); err != nil {
		return err
	}
	if _, err := suite.environment.Start(); err != nil {
		return err
	}
	if suite.client, err = client.New(suite.management.as("admin"), client.Options{Scheme: suite.scheme}); err != nil {
		return err
	}
	// What the manager may write is bound in all tests: one that it needs and that the policy refuses fails there.
	for _, optional := range []string{"admission", "fleet-approvals"} {
		if err := install(suite.client, optional, func(*unstructured.Unstructured) bool { return true }); err != nil {
			return err
		}
	}
	return install(suite.client, "default", func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "ClusterRole" || object.GetKind() == "ClusterRoleBinding"
	})
}

func install(c client.Client, directory string, wanted func(*unstructured.Unstructured) bool) error {
	objects, err := kustomized(directory)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !wanted(object) {
			continue
		}
		err := c.Apply(
			context.Background(),
			client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("integration"),
			client.ForceOwnership,
		)
		if err != nil {
			return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
