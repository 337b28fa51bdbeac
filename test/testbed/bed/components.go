package bed

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	kubeAPIServer = "kube-apiserver"
	kubeScheduler = "kube-scheduler"
	apiServerPort = 6443
)

// startComponents makes kube-apiserver and kube-scheduler Deployments, if that is asked for, with in-tree flags as long as the
// cluster is in-tree. The API server that the cluster began with ends, and its address leads to the Pods of the Deployment.
func (u *UserCluster) startComponents() error {
	if !u.Options.WholeControlPlane {
		return nil
	}
	b := u.bed
	files, err := u.pki()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{u.secret(kubeAPIServer, files), u.apiServer().deployment(), u.scheduler().deployment()} {
		if err := b.Client.Create(b.ctx, object); err != nil {
			return err
		}
	}
	if err := b.WaitForDeployment(u.Namespace, kubeAPIServer); err != nil {
		return err
	}
	u.leadToAPIServers()
	return b.WaitForDeployment(u.Namespace, kubeScheduler)
}

// leadToAPIServers from the cluster's address, until the cluster is removed.
func (u *UserCluster) leadToAPIServers() {
	u.run("front of "+u.Options.Name, func(ctx context.Context) error { return u.Front(ctx, u.apiServers) })
}

// inTree adds what a component has of the in-tree provider to its gates and flags. Neither takes simcloud for a provider.
func (u *UserCluster) inTree(gates []string, flags ...string) []string {
	if u.Options.External {
		flags = nil
	} else {
		gates = append(gates, "DisableCloudProviders=false")
	}
	if len(gates) > 0 {
		flags = append(flags, "--feature-gates="+strings.Join(gates, ","))
	}
	return flags
}

func (u *UserCluster) apiServer() workload {
	args := append(u.APIServerArgs("/etc/testbed"),
		"--bind-address=$(POD_IP)", fmt.Sprintf("--secure-port=%d", apiServerPort), "--enable-priority-and-fairness=false")
	return workload{
		namespace: u.Namespace, name: kubeAPIServer, program: kubeAPIServer, version: u.Options.Version,
		replicas: u.Options.APIServers, secret: kubeAPIServer,
		args:       append(args, u.inTree([]string{"APIServerTracing=false"}, "--cloud-config=/etc/testbed/cloud.conf")...),
		healthPort: apiServerPort, healthScheme: corev1.URISchemeHTTPS,
	}
}

func (u *UserCluster) scheduler() workload {
	const kubeconfig = "/etc/testbed/scheduler.kubeconfig"
	args := []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=$(POD_IP)", "--secure-port=10259",
	}
	return workload{
		namespace: u.Namespace, name: kubeScheduler, program: kubeScheduler, version: u.Options.Version, replicas: 1,
		secret: kubeAPIServer,
		args:   append(args, u.inTree(nil)...), healthPort: 10259, healthScheme: corev1.URISchemeHTTPS,
	}
}

// pki are the files that the API server finds in /etc/testbed, named as in the folder that they come from.
func (u *UserCluster) pki() (map[string][]byte, error) {
	folder := filepath.Dir(u.Files().CA)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"cloud.conf": u.CloudConf()}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// apiServers are the addresses of the API server's Pods. To ask one of them for its static pods would need the address that is
// looked for: their kubelet knows what they said last.
func (u *UserCluster) apiServers(ctx context.Context) ([]string, error) {
	if u.Options.ControlPlaneNodes == 0 {
		return u.addresses(ctx, kubeAPIServer, apiServerPort)
	}
	kubelet, err := u.kubelet()
	if err != nil {
		return nil, err
	}
	pods, err := kubelet.Pods(metav1.NamespaceSystem, map[string]string{"component": kubeAPIServer})
	return spread(pods, apiServerPort), err
}

// addresses of the Pods of a Deployment.
func (u *UserCluster) addresses(ctx context.Context, app string, port int) ([]string, error) {
	pods := &corev1.PodList{}
	if err := u.bed.Client.List(ctx, pods, client.InNamespace(u.Namespace), client.MatchingLabels{"app": app}); err != nil {
		return nil, err
	}
	all := make([]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		all[i] = &pods.Items[i]
	}
	return spread(all, port), nil
}

// spread has the addresses of those Pods first that are ready and stay, in no order among them, as a load balancer spreads who
// comes.
func spread(pods []*corev1.Pod, port int) []string {
	rand.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(rank(a), rank(b)) })
	var addresses []string
	for _, pod := range pods {
		if pod.Status.PodIP != "" {
			addresses = append(addresses, fmt.Sprintf("%s:%d", pod.Status.PodIP, port))
		}
	}
	return addresses
}

func rank(pod *corev1.Pod) int {
	switch {
	case isReady(pod) && pod.DeletionTimestamp == nil:
		return 0
	case isReady(pod):
		return 1
	}
	return 2
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// claimComponents has the controller change them.
func (u *UserCluster) claimComponents(cluster *ucv1.Cluster) {
	if u.Options.WholeControlPlane {
		cluster.Spec.ControlPlane.KubeAPIServer = &ucv1.ControlPlaneComponent{Ownership: ucv1.OursComponent}
		cluster.Spec.ControlPlane.KubeScheduler = &ucv1.ControlPlaneComponent{Ownership: ucv1.OursComponent}
	}
}
