package addons_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

const (
	deadline = 30 * time.Second
	interval = 5 * time.Millisecond

	// controller is the user that config/usercluster-rbac gives rights to; owner has all of them.
	controller = "ccm-migration-controller"
	owner      = "owner"
	// tester is the field manager of what the tests themselves write.
	tester = "conformance"
)

// suite is the API server of this package; TestMain fills it before any test runs.
var suite struct {
	directory   string
	environment *envtest.Environment
	admin       client.Client
	audit       auditLog
	// kubeconfigs of the users.
	kubeconfigs map[string][]byte
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
		fmt.Fprintln(os.Stderr, "starting the API server:", errors.Join(err, stop()))
		return 1
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		return 1
	}
	return code
}

func start() (err error) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if suite.directory, err = os.MkdirTemp("", "conformance-"); err != nil {
		return err
	}
	// Another kube-apiserver than the one beside etcd is taken from TEST_ASSET_KUBE_APISERVER.
	suite.environment = &envtest.Environment{}
	server := suite.environment.ControlPlane.GetAPIServer()
	if suite.audit, err = auditOf(server, suite.directory); err != nil {
		return err
	}
	// No test looks at fairness between clients and at traces, and they are a third of what a small request costs. Traces
	// cannot be switched off from 1.34 on.
	server.Configure().Set("enable-priority-and-fairness", "false")
	if os.Getenv("TEST_ASSET_KUBE_APISERVER") == "" {
		server.Configure().Set("feature-gates", "APIServerTracing=false")
	}
	config, err := suite.environment.Start()
	if err != nil {
		return err
	}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	version, err := api.ServerVersion()
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "kube-apiserver", version.GitVersion)
	config.QPS = -1
	if suite.admin, err = client.New(config, client.Options{}); err != nil {
		return err
	}
	suite.kubeconfigs = map[string][]byte{}
	for _, user := range []envtest.User{{Name: controller}, {Name: owner, Groups: []string{"system:masters"}}} {
		identity, err := suite.environment.AddUser(user, nil)
		if err != nil {
			return err
		}
		if suite.kubeconfigs[user.Name], err = identity.KubeConfig(); err != nil {
			return err
		}
	}
	return install()
}

func stop() error {
	err := os.RemoveAll(suite.directory)
	if suite.environment != nil {
		err = errors.Join(err, suite.environment.Stop())
	}
	return err
}

// install applies the rights of the controller, and makes the namespaces that pods are tried in.
func install() error {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join("..", "..", "..", "config", "usercluster-rbac"))
	if err != nil {
		return err
	}
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		if err != nil {
			return err
		}
		if err := write(context.Background(), &unstructured.Unstructured{Object: content}); err != nil {
			return err
		}
	}
	for _, level := range levels() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: string(level), Labels: map[string]string{"pod-security.kubernetes.io/enforce": string(level)},
		}}
		if err := suite.admin.Create(context.Background(), namespace); err != nil {
			return err
		}
	}
	return nil
}

// write applies an object as it is, past the code that is tested.
func write(ctx context.Context, object *unstructured.Unstructured) error {
	err := suite.admin.Apply(
		ctx,
		client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
		client.FieldOwner(tester),
		client.ForceOwnership,
	)
	if err != nil {
		return fmt.Errorf("apply %s: %w", nameOf(object), err)
	}
	return nil
}

// nameOf an object, for people.
func nameOf(object *unstructured.Unstructured) string {
	return addons.InventoryOf([]*unstructured.Unstructured{object})[0].Ref().String()
}

// connect makes a session as the controller has it, with the kubeconfig of a user. Its clock stands still.
func connect(t *testing.T, user string) *cluster {
	t.Helper()
	g := NewWithT(t)
	wanted := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha-kubeconfig"}}
	secret.Data = map[string][]byte{"value": suite.kubeconfigs[user]}
	clock := clocktesting.NewFakeClock(time.Now())
	registry := usercluster.NewRegistry(usercluster.Options{
		SecretReader: fake.NewClientBuilder().WithObjects(secret).Build(), Scheme: clientgoscheme.Scheme, Clock: clock,
		ConnectWorkers: 1, QPS: 10000, Burst: 10000, Log: logr.Discard(),
		Allow: usercluster.Allow{Addresses: []net.IPNet{{IP: net.IPv4(127, 0, 0, 0), Mask: net.CIDRMask(8, 32)}}},
	})
	stopped := make(chan error, 1)
	go func() { stopped <- registry.Start(t.Context()) }()
	t.Cleanup(func() { NewWithT(t).Eventually(stopped, deadline).Should(Receive(BeNil())) })
	registry.Ensure(wanted)
	key := client.ObjectKeyFromObject(wanted)
	g.Eventually(func() bool { return registry.State(key).Reachable }, deadline, interval).Should(BeTrue())
	session, connected := registry.Session(key)
	g.Expect(connected).To(BeTrue())
	return &cluster{session: session, clock: clock, user: user}
}

// as is a client with someone's identity: the real authorizer decides what it may do.
func as(user string, groups ...string) (client.Client, error) {
	config := rest.CopyConfig(suite.environment.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return client.New(config, client.Options{Mapper: suite.admin.RESTMapper()})
}
