package bed

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bystanders"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/crds"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// KubernetesVersion of every cluster of the testbed: the last minor with in-tree providers, unless hack/binaries.sh built
// the testbed for another.
var KubernetesVersion = "1.30.14"

// ManagerUser is our manager's identity in user clusters.
const ManagerUser = "ccm-migration-controller"

// UserClusterOptions describe a user cluster.
type UserClusterOptions struct {
	Name string
	// Version is the release of its control plane, KubernetesVersion when it is empty. Another one is in Options.ReleasesDir of
	// the Bed.
	Version string
	// External means that the cluster never was in-tree.
	External bool
	// KCMReplicas is 2 by default.
	KCMReplicas int32
	// ControlPlaneNodes run KCM as a static pod each. With none of them KCM is a Deployment of the management cluster.
	ControlPlaneNodes int
	// WholeControlPlane has kube-apiserver and kube-scheduler run where KCM does, too, as what the controller may change.
	WholeControlPlane bool
	// APIServers is how many replicas the Deployment of kube-apiserver has with WholeControlPlane, 1 by default.
	APIServers int32
	// WithoutElection has KCM run without leader election; there must be one of it only.
	WithoutElection bool
	// LeaseDuration of its KCM is that of the Bed by default.
	LeaseDuration time.Duration
	// KCMFlags are added to KCM's, or take the place of those of the same name: --name=value.
	KCMFlags []string
	// CCMBesideControlPlane has its CCM run in the management cluster.
	CCMBesideControlPlane bool
	// JoinTimeout has the machine-controller make a Machine again that has no Node for so long. Kubelets then have no --node-ip,
	// so that it finds their Nodes late.
	JoinTimeout time.Duration
	// WithoutMachineController leaves its Deployments and CRDs out; Nodes are made by AddNode then.
	WithoutMachineController bool
	// Cloud is another one than simcloud, where its instances are even so; its KCM is one that knows it.
	Cloud *OtherCloud
}

// OtherCloud is one whose CCM others wrote.
type OtherCloud struct {
	// Provider is its name in the catalogue, and Conf the cloud.conf of KCM and CCM.
	Provider string
	Conf     []byte
	// ProviderID is what it calls an instance.
	ProviderID func(simcloud.Instance) string
}

// UserCluster is a running user cluster.
type UserCluster struct {
	Options UserClusterOptions
	// Namespace of its control plane in the management cluster.
	Namespace string
	*apiserver.Cluster
	// Client of the user cluster, with all rights.
	Client     client.Client
	bed        *Bed
	index      int
	metricsTLS *tls.Config
	// removed is closed when it is.
	removed chan struct{}
	// manifestsMu is held by who changes a manifest of a static pod.
	manifestsMu sync.Mutex
}

// AddUserCluster starts a user cluster's API server and its control plane in the management cluster, and waits until
// its KCM leads. There is no Cluster object yet.
func (b *Bed) AddUserCluster(options UserClusterOptions) (*UserCluster, error) {
	if options.KCMReplicas == 0 {
		options.KCMReplicas = 2
	}
	if options.LeaseDuration == 0 {
		options.LeaseDuration = b.options.LeaseDuration
	}
	options.Version, options.APIServers = cmp.Or(options.Version, KubernetesVersion), cmp.Or(options.APIServers, 1)
	b.options.Progress("starting user cluster " + options.Name)
	b.mu.Lock()
	u := &UserCluster{
		Options: options, Namespace: "user-" + options.Name, bed: b, index: b.freeIndex(), removed: make(chan struct{}),
	}
	b.clusters[options.Name] = u
	b.mu.Unlock()
	if err := u.start(u.index); err != nil {
		return nil, fmt.Errorf("user cluster %s: %w", options.Name, err)
	}
	return u, nil
}

func (u *UserCluster) start(index int) error {
	b := u.bed
	var err error
	u.Cluster, err = apiserver.Start(b.ctx, apiserver.Options{
		Name: u.Options.Name, Index: index, Dir: b.File(u.Options.Name), BinDir: u.binDir(),
		Supervisor: b.supervisor, WithScheduler: !u.Options.WholeControlPlane, Audited: b.options.Audited,
	})
	if err != nil {
		return err
	}
	b.watchFailures(u.Cluster)
	if u.Client, err = b.client(u.AdminConfig()); err != nil {
		return err
	}
	if err := u.setMetricsTLS(); err != nil {
		return err
	}
	if !u.Options.WithoutMachineController {
		if err := crds.Install(b.ctx, u.AdminConfig()); err != nil {
			return err
		}
	}
	if err := u.grantRights(); err != nil {
		return err
	}
	if err := b.startKubelet(u.Options.Name, index, u.AdminConfig(), u.manifests()); err != nil {
		return err
	}
	b.Cloud.AddCluster(u.Options.Name, u.token())
	if other := u.Options.Cloud; other != nil {
		b.Cloud.SetProviderID(u.Options.Name, other.ProviderID)
	}
	if err := u.startControlPlane(); err != nil {
		return err
	}
	return u.addBystanders()
}

// grantRights of the manager. The operating-system-manager's namespace is there before it is, as installers make it.
func (u *UserCluster) grantRights() error {
	b := u.bed
	if err := b.applyKustomization(u.Client, "usercluster-rbac", nil); err != nil || u.Options.WithoutMachineController {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: machines.BootstrapNamespace}}
	if err := u.Client.Create(b.ctx, namespace); err != nil {
		return fmt.Errorf("make namespace %s in %s: %w", namespace.Name, u.Options.Name, err)
	}
	return b.applyKustomization(u.Client, "usercluster-rbac-bootstrap", nil)
}

// addBystanders waits for the KCM that makes their ServiceAccount.
func (u *UserCluster) addBystanders() error {
	objects := bystanders.New(u.bed.options.Seed, u.Options.Name)
	return u.bed.WaitFor(u.bed.ctx, "what else the cluster runs", patience, func(ctx context.Context) (string, error) {
		return "", bystanders.Create(ctx, u.Client, objects)
	})
}

func (u *UserCluster) setMetricsTLS() error {
	config, err := u.MetricsTLS()
	if err != nil {
		return err
	}
	u.bed.mu.Lock()
	defer u.bed.mu.Unlock()
	u.metricsTLS = config
	return nil
}

func (u *UserCluster) token() string { return "token-of-" + u.Options.Name }

// startControlPlane puts what a Hosted control plane has into the management cluster.
func (u *UserCluster) startControlPlane() error {
	b := u.bed
	if err := u.startNamespace(); err != nil {
		return err
	}
	workloads := u.machineController()
	if u.Options.ControlPlaneNodes > 0 {
		if err := u.startStaticPods(); err != nil {
			return err
		}
	} else {
		workloads = append(workloads, u.kcm())
		if err := u.startComponents(); err != nil {
			return err
		}
	}
	if err := u.beforeMachineController(); err != nil {
		return err
	}
	for _, w := range workloads {
		if err := b.Client.Create(b.ctx, w.deployment()); err != nil {
			return err
		}
	}
	for _, w := range workloads {
		if err := b.WaitForDeployment(u.Namespace, w.name); err != nil {
			return err
		}
	}
	return nil
}

// startNamespace makes the namespace of the control plane, with its Secrets.
func (u *UserCluster) startNamespace() error {
	b := u.bed
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.Namespace}}
	if err := b.Client.Create(b.ctx, namespace); err != nil {
		return err
	}
	secrets, err := u.secrets()
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if err := b.Client.Create(b.ctx, secret); err != nil {
			return err
		}
	}
	return nil
}

func (u *UserCluster) secrets() ([]client.Object, error) {
	manager, err := u.ClientCert(ManagerUser)
	if err != nil {
		return nil, err
	}
	files, err := u.controlPlaneFiles()
	if err != nil {
		return nil, err
	}
	return []client.Object{
		u.secret("control-plane", files),
		u.secret(u.Options.Name+"-kubeconfig", map[string][]byte{"value": u.Kubeconfig(manager)}),
		u.secret(u.Options.Name+"-cloud-config", u.configuration()),
	}, nil
}

// configuration of the cloud, as the provider of the catalogue takes it.
func (u *UserCluster) configuration() map[string][]byte {
	if other := u.Options.Cloud; other != nil {
		return map[string][]byte{"cloud.conf": other.Conf}
	}
	return map[string][]byte{
		"endpoint": []byte(u.bed.cloudURL), "cluster": []byte(u.Options.Name), "token": []byte(u.token()),
	}
}

// controlPlaneFiles are what the processes of a control plane find in /etc/testbed.
func (u *UserCluster) controlPlaneFiles() (map[string][]byte, error) {
	files := map[string][]byte{"admin.kubeconfig": u.Kubeconfig(u.AdminConfig()), "cloud.conf": u.CloudConf()}
	if other := u.Options.Cloud; other != nil {
		files["provider.conf"] = other.Conf
	}
	for name, path := range map[string]string{
		"kubeconfig": u.Files().ControllerManagerKubeconfig, "sa.key": u.Files().ServiceAccountKey, "ca.crt": u.Files().CA,
		"ca.key": u.Files().CAKey, webhookCertificate: u.Files().ServerCert, webhookKey: u.Files().ServerKey,
	} {
		content, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// CloudConf is the file that KCM and CCM read.
func (u *UserCluster) CloudConf() []byte {
	return fmt.Appendf(nil, "endpoint=%s\ncluster=%s\ntoken=%s\n", u.bed.cloudURL, u.Options.Name, u.token())
}

func (u *UserCluster) secret(name string, data map[string][]byte) client.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: name}, Data: data}
}

func (u *UserCluster) kcm() workload {
	lease := u.Options.LeaseDuration
	args := []string{
		"--kubeconfig=/etc/testbed/kubeconfig", "--authentication-kubeconfig=/etc/testbed/kubeconfig",
		"--authorization-kubeconfig=/etc/testbed/kubeconfig", "--bind-address=$(POD_IP)", "--secure-port=10257",
		"--service-account-private-key-file=/etc/testbed/sa.key", "--root-ca-file=/etc/testbed/ca.crt",
		"--cluster-signing-cert-file=/etc/testbed/ca.crt", "--cluster-signing-key-file=/etc/testbed/ca.key",
		"--use-service-account-credentials=true", "--cluster-name=kubernetes",
		"--allocate-node-cidrs=true", "--cluster-cidr=10.244.0.0/16", "--controllers=*,bootstrapsigner,tokencleaner",
		"--leader-elect=" + strconv.FormatBool(!u.Options.WithoutElection), "--leader-elect-lease-duration=" + lease.String(),
		"--leader-elect-renew-deadline=" + (lease * 2 / 3).String(), "--leader-elect-retry-period=" + RetryPeriod(lease).String(),
	}
	switch {
	case u.Options.External:
		args = append(args, "--cloud-provider=external")
	case u.Options.Cloud != nil:
		args = append(args, "--cloud-provider="+u.Options.Cloud.Provider, "--cloud-config=/etc/testbed/provider.conf",
			"--configure-cloud-routes=false")
	default:
		args = append(args, "--cloud-provider=simcloud", "--cloud-config=/etc/testbed/cloud.conf", "--configure-cloud-routes=true",
			"--feature-gates=DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false")
	}
	return workload{
		namespace: u.Namespace, name: kcmName, program: kcmName, version: u.Options.Version, replicas: u.Options.KCMReplicas,
		args: withFlags(args, u.Options.KCMFlags), secret: "control-plane", healthPort: 10257, healthScheme: corev1.URISchemeHTTPS,
	}
}

// withFlags replaces flags of the same name and adds the others.
func withFlags(args, flags []string) []string {
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
	}
	return append(args, flags...)
}

// RetryPeriod is two seconds for the usual lease of 15 s, and shorter for the shorter ones of tests.
func RetryPeriod(lease time.Duration) time.Duration { return min(2*time.Second, lease/4) }

// NewCluster is the Cluster object of a user cluster.
func (u *UserCluster) NewCluster(externalCloudProvider bool) *ucv1.Cluster {
	cluster := &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name},
		Spec: ucv1.ClusterSpec{
			Version: u.Options.Version,
			Cloud: ucv1.CloudSpec{
				ProviderName: "simcloud", ConfigSecretRef: ucv1.SecretReference{Name: u.Options.Name + "-cloud-config"},
			},
			// The breaker holds each Machine of a roll back for 45 seconds, and tests of other things do without an extra one.
			Rollout: ucv1.RolloutSpec{
				SoakSeconds: new(int32(0)), InitializationDeadlineSeconds: new(int32(15)), Canary: ucv1.CanaryMachineDeployment,
			},
		},
	}
	if u.Options.Cloud != nil {
		cluster.Spec.Cloud.ProviderName = u.Options.Cloud.Provider
	}
	if u.Options.ControlPlaneNodes > 0 {
		cluster.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
		cluster.Spec.Rollout.AcceptNodes = u.ControlPlaneNodes()
	}
	if u.Options.CCMBesideControlPlane {
		cluster.Spec.Cloud.ControllerManager.Placement = ucv1.BesideControlPlane
	}
	u.claimComponents(cluster)
	if externalCloudProvider {
		cluster.Spec.Features.ExternalCloudProvider = new(true)
	}
	return cluster
}

// Get reads the Cluster object of the user cluster.
func (u *UserCluster) Get(ctx context.Context) (*ucv1.Cluster, error) {
	cluster := &ucv1.Cluster{}
	return cluster, u.bed.Client.Get(ctx, client.ObjectKey{Namespace: u.Namespace, Name: u.Options.Name}, cluster)
}

// WriteKubeconfig writes an admin kubeconfig for people and returns its path.
func (b *Bed) WriteKubeconfig(name string, cluster *apiserver.Cluster, config *rest.Config) (string, error) {
	path := b.File("kubeconfigs", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, cluster.Kubeconfig(config), 0o600)
}
