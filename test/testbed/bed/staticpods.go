package bed

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
)

const (
	kcmName = "kube-controller-manager"
	// controlPlaneTier is a label of kubeadm.
	controlPlaneTier = "control-plane"
)

// manifests is the folder with a folder of static pods for each control-plane Node; none where there is no such Node.
func (u *UserCluster) manifests() string {
	if u.Options.ControlPlaneNodes == 0 {
		return ""
	}
	return u.bed.File("manifests", u.Options.Name)
}

// ControlPlaneNodes are the names of the Nodes that run static pods.
func (u *UserCluster) ControlPlaneNodes() []string {
	var names []string
	for i := range u.Options.ControlPlaneNodes {
		names = append(names, fmt.Sprintf("%s-cp-%d", u.Options.Name, i))
	}
	return names
}

// staticPods are what each control-plane Node runs.
func (u *UserCluster) staticPods() []workload {
	if u.Options.WholeControlPlane {
		return []workload{u.apiServer(), u.scheduler(), u.kcm()}
	}
	return []workload{u.kcm()}
}

// startStaticPods makes the control-plane Nodes with their files and manifests, and waits until a KCM works. Where they have API
// servers, too, the one that the cluster began with ends.
func (u *UserCluster) startStaticPods() error {
	for _, node := range u.ControlPlaneNodes() {
		if err := u.startControlPlaneNode(node); err != nil {
			return fmt.Errorf("node %s: %w", node, err)
		}
	}
	b := u.bed
	if err := b.WaitFor(b.ctx, "the static pods of user cluster "+u.Options.Name, patience, u.staticPodsLack); err != nil {
		return err
	}
	if u.Options.WholeControlPlane {
		u.leadToAPIServers()
	}
	return nil
}

// staticPodsLack says what is missing.
func (u *UserCluster) staticPodsLack(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := u.Client.List(
		ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"tier": controlPlaneTier},
	); err != nil {
		return "", err
	}
	ready := 0
	for i := range pods.Items {
		if isReady(&pods.Items[i]) {
			ready++
		}
	}
	if wanted := u.Options.ControlPlaneNodes * len(u.staticPods()); ready < wanted {
		return fmt.Sprintf("%d of %d are ready", ready, wanted), nil
	}
	if u.Options.WithoutElection {
		return "", nil
	}
	lease := &coordinationv1.Lease{}
	return "", u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmName}, lease)
}

func (u *UserCluster) startControlPlaneNode(name string) error {
	b := u.bed
	files, err := u.nodeFiles()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.Kubelet(u.Options.Name).NodeRoot(name), "etc", "testbed")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			return err
		}
	}
	for _, w := range u.staticPods() {
		if err := u.writeManifest(name, staticPod(w)); err != nil {
			return err
		}
	}
	config, err := cloud.ParseConfig(u.CloudConf())
	if err != nil {
		return err
	}
	instance, err := cloud.New(config, name).Create(b.ctx, cloud.Instance{Name: name})
	if err != nil {
		return err
	}
	return u.Client.Create(b.ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname:                    name,
			corev1.LabelOSStable:                    "linux",
			"node-role.kubernetes.io/control-plane": "",
			corev1.LabelNodeExcludeBalancers:        "",
		}},
		Spec: corev1.NodeSpec{
			ProviderID: instance.ProviderID,
			Taints:     []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}},
		},
		Status: corev1.NodeStatus{
			Addresses: addresses(instance.Addresses), NodeInfo: corev1.NodeSystemInfo{KubeletVersion: u.kubeletVersion()},
		},
	})
}

// addresses that the Node has from the start: pods do not move to another one when a cloud manager finds it.
func addresses(ips []string) []corev1.NodeAddress {
	var all []corev1.NodeAddress
	for _, ip := range ips {
		all = append(all, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	return all
}

// nodeFiles are in /etc/testbed of each control-plane Node.
func (u *UserCluster) nodeFiles() (map[string][]byte, error) {
	files, err := u.controlPlaneFiles()
	if err != nil || !u.Options.WholeControlPlane {
		return files, err
	}
	pki, err := u.pki()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, pki)
	return files, nil
}

// staticPod is a component as kubeadm runs it: with the host's network and files.
func staticPod(w workload) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: w.name, Labels: map[string]string{"component": w.name, "tier": controlPlaneTier},
		},
		Spec: corev1.PodSpec{
			HostNetwork:                   true,
			TerminationGracePeriodSeconds: new(int64(10)),
			AutomountServiceAccountToken:  new(false),
			Containers:                    []corev1.Container{w.container()},
			Volumes: []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/etc/testbed"},
			}}},
		},
	}
}

// manifest of a component on a Node.
func (u *UserCluster) manifest(node, component string) string {
	return filepath.Join(u.manifests(), node, component+".yaml")
}

// editManifest is how people change a static pod; several may at once.
func (u *UserCluster) editManifest(node, component string, edit func(*corev1.Pod) error) error {
	u.manifestsMu.Lock()
	defer u.manifestsMu.Unlock()
	content, err := os.ReadFile(u.manifest(node, component))
	if err != nil {
		return err
	}
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(content, pod); err != nil {
		return err
	}
	if err := edit(pod); err != nil {
		return err
	}
	return u.writeManifest(node, pod)
}

// writeManifest replaces the file at once: a kubelet that reads half of one would end the pod.
func (u *UserCluster) writeManifest(node string, pod *corev1.Pod) error {
	content, err := yaml.Marshal(pod)
	if err != nil {
		return err
	}
	path := u.manifest(node, pod.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
