package integration_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/crds"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// userClusters is how many tests can have a world at a time. An API server takes about 270 MB.
const userClusters = 3

// userCluster is one API server of the pool, which belongs to one test at a time. All of them share an etcd, in which
// each has a prefix of its own.
type userCluster struct {
	server

	config *rest.Config
	client client.Client
	// kubeconfig is what the owner of the cluster gives the controller; certified has a certificate for it, which ends.
	kubeconfig, certified []byte
}

// takeUserCluster has an empty user cluster for this test alone; it waits until another test is done with one.
func takeUserCluster(t *testing.T) *userCluster {
	t.Helper()
	var user *userCluster
	select {
	case user = <-suite.pool:
	case <-t.Context().Done():
		t.Fatal("the test was over before there was a user cluster for it")
	}
	t.Cleanup(func() { suite.pool <- user })
	user.empty(t)
	return user
}

// startUserClusters starts the etcd and the API servers of the pool.
func startUserClusters() error {
	suite.etcd = &envtest.Etcd{StartTimeout: startTimeout}
	if err := suite.etcd.Start(); err != nil {
		return fmt.Errorf("start the etcd of the user clusters: %w", err)
	}
	suite.users = make([]*userCluster, userClusters)
	var group errgroup.Group
	for i := range suite.users {
		name := fmt.Sprintf("user-%d", i)
		user := &userCluster{server: server{plane: &envtest.ControlPlane{}}}
		suite.users[i] = user
		group.Go(func() error { return user.start(name, suite.etcd.URL) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	suite.pool = make(chan *userCluster, userClusters)
	for _, user := range suite.users {
		suite.pool <- user
	}
	return nil
}

func stopUserClusters() error {
	var errs []error
	for _, user := range suite.users {
		errs = append(errs, user.plane.GetAPIServer().Stop())
	}
	if suite.etcd != nil {
		errs = append(errs, suite.etcd.Stop())
	}
	return errors.Join(errs...)
}

// start installs the machine-controller's definitions, and what the controller may do there.
func (u *userCluster) start(name string, etcd *url.URL) (err error) {
	process := u.plane.GetAPIServer()
	process.EtcdURL, process.StartTimeout = etcd, startTimeout
	process.Configure().Set("etcd-prefix", "/"+name)
	if err := u.configure(name); err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	u.config = u.as("admin")
	if err := u.writeKubeconfigs(); err != nil {
		return err
	}
	definitions, err := crds.All()
	if err != nil {
		return err
	}
	options := envtest.CRDInstallOptions{Scheme: suite.scheme, CRDs: definitions}
	if _, err := envtest.InstallCRDs(u.config, options); err != nil {
		return fmt.Errorf("install the definitions in %s: %w", name, err)
	}
	if u.client, err = client.New(u.config, client.Options{Scheme: suite.scheme}); err != nil {
		return err
	}
	if err := u.awaitNamespaces(); err != nil {
		return fmt.Errorf("the namespaces of %s: %w", name, err)
	}
	boots := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: machines.BootstrapNamespace}}
	return errors.Join(u.client.Create(context.Background(), boots), u.grant())
}

// grant gives the controller its rights.
func (u *userCluster) grant() error {
	all := func(*unstructured.Unstructured) bool { return true }
	return errors.Join(install(u.client, "usercluster-rbac", all), install(u.client, "usercluster-rbac-bootstrap", all))
}

// grantAgain is for tests that take rights away or bind them to others: the next test with this user cluster begins with what
// its authorizer knows then, which reads the rules from a watch. An answer that says nothing about rights, as of a server that
// has too much to do, is no right.
func (u *userCluster) grantAgain(t *testing.T) {
	t.Helper()
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	g.Expect(u.grant()).To(Succeed())
	controller, err := client.New(u.as(controllerIdentity), client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error {
		return errors.Join(
			controller.List(ctx, &corev1.NodeList{}, client.Limit(1)),
			client.IgnoreNotFound(controller.Get(ctx, bootstrapOfFirst, &corev1.Secret{})),
		)
	}, deadline, interval).Should(Succeed())
}

// writeKubeconfigs makes those of the controller.
func (u *userCluster) writeKubeconfigs() error {
	identity, err := u.plane.AddUser(envtest.User{Name: controllerIdentity, Groups: []string{auditedGroup}}, nil)
	if err != nil {
		return err
	}
	if u.certified, err = identity.KubeConfig(); err != nil {
		return err
	}
	file, err := clientcmd.Load(u.certified)
	if err != nil {
		return err
	}
	for name := range file.AuthInfos {
		file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: controllerIdentity}
	}
	u.kubeconfig, err = clientcmd.Write(*file)
	return err
}

// awaitNamespaces waits for those that an API server makes itself, a moment after it is ready.
func (u *userCluster) awaitNamespaces() error {
	there := func(ctx context.Context) (bool, error) {
		for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, corev1.NamespaceNodeLease} {
			if err := u.client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{}); err != nil {
				return false, client.IgnoreNotFound(err)
			}
		}
		return true, nil
	}
	return wait.PollUntilContextTimeout(context.Background(), interval, deadline, true, there)
}

// empty takes out what tests before this one left.
func (u *userCluster) empty(t *testing.T) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	remove := func(object client.Object, options ...client.DeleteAllOfOption) {
		group.Go(func() error { return u.client.DeleteAllOf(ctx, object, options...) })
	}
	ours := client.MatchingLabels{"app.kubernetes.io/managed-by": "ccm-migration-controller"}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &storagev1.CSIDriver{}, &storagev1.StorageClass{},
	} {
		remove(object, ours)
	}
	system := client.InNamespace(metav1.NamespaceSystem)
	for _, object := range []client.Object{
		&rbacv1.Role{}, &rbacv1.RoleBinding{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{},
		&appsv1.Deployment{}, &appsv1.DaemonSet{}, &policyv1.PodDisruptionBudget{},
	} {
		remove(object, system, ours)
	}
	for _, object := range []client.Object{&machines.MachineDeployment{}, &machines.MachineSet{}, &machines.Machine{}} {
		remove(object, system)
	}
	remove(&corev1.Node{})
	remove(&storagev1.CSINode{})
	for _, name := range []string{kcm, ccm, ccm + "-probe", handover.LockName} {
		remove(&coordinationv1.Lease{}, system, client.MatchingFields{"metadata.name": name})
	}
	NewWithT(t).Expect(group.Wait()).To(Succeed())
}
