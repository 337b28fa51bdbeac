package kubelet

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const (
	mirrorAnnotation = "kubernetes.io/config.mirror"
	hashAnnotation   = "kubernetes.io/config.hash"
	sourceAnnotation = "kubernetes.io/config.source"
	fromFile         = "file"
	staticInterval   = time.Second
)

// staticPods keeps a mirror Pod in the API for every manifest in a Node's folder.
// The mirror Pod is then run like any other, which keeps the promise that counts:
// the API server allows one Pod of a name, so the new one starts after the
// process of the old one ended. Unlike with a real kubelet, deleting the mirror
// Pod through the API restarts the process.
type staticPods struct {
	kubelet *Kubelet
}

func newStaticPods(k *Kubelet) *staticPods { return &staticPods{kubelet: k} }

func (s *staticPods) run(ctx context.Context) {
	ticker := time.NewTicker(staticInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		nodes, err := s.kubelet.nodes.List(labels.Everything())
		if err != nil {
			continue
		}
		for _, node := range nodes {
			if !s.kubelet.serves(node.Name) || s.kubelet.isSilent(node.Name) {
				continue
			}
			if err := s.sync(ctx, node); err != nil && ctx.Err() == nil {
				s.kubelet.options.Log.Error(err, "static pods will be retried", "node", node.Name)
			}
		}
	}
}

// sync makes the mirror Pods of a Node those of its folder.
func (s *staticPods) sync(ctx context.Context, node *corev1.Node) error {
	wanted, err := s.manifests(node)
	if err != nil {
		return err
	}
	present, err := s.kubelet.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list mirror pods: %w", err)
	}
	for _, pod := range present {
		if pod.Spec.NodeName != node.Name || pod.Annotations[sourceAnnotation] != fromFile {
			continue
		}
		key := pod.Namespace + "/" + pod.Name
		if err := s.retire(ctx, pod, wanted[key]); err != nil {
			return err
		}
		delete(wanted, key)
	}
	for _, pod := range wanted {
		_, err := s.kubelet.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create mirror pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// manifests reads the folder of a Node.
func (s *staticPods) manifests(node *corev1.Node) (map[string]*corev1.Pod, error) {
	files, err := filepath.Glob(filepath.Join(s.kubelet.options.StaticPodDir, node.Name, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list static pods: %w", err)
	}
	wanted := map[string]*corev1.Pod{}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read static pod: %w", err)
		}
		pod, err := mirrorPod(node, content)
		if err != nil {
			return nil, fmt.Errorf("static pod %s: %w", path, err)
		}
		wanted[pod.Namespace+"/"+pod.Name] = pod
	}
	return wanted, nil
}

// retire deletes a mirror Pod that is not the wanted one.
func (s *staticPods) retire(ctx context.Context, pod, wanted *corev1.Pod) error {
	same := wanted != nil && wanted.Annotations[hashAnnotation] == pod.Annotations[hashAnnotation]
	if same || pod.DeletionTimestamp != nil {
		return nil
	}
	err := s.kubelet.client.CoreV1().Pods(pod.Namespace).
		Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete mirror pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// mirrorPod is what the API shows of a static Pod.
func mirrorPod(node *corev1.Node, manifest []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(manifest, pod); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	sum := fnv.New128a()
	// A hash never fails to be written to.
	_, _ = sum.Write(append(manifest, node.Name...))
	hash := fmt.Sprintf("%x", sum.Sum(nil))
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Name += "-" + node.Name
	pod.Spec.NodeName = node.Name
	for key, value := range map[string]string{mirrorAnnotation: hash, hashAnnotation: hash, sourceAnnotation: fromFile} {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(node, corev1.SchemeGroupVersion.WithKind("Node"))}
	return pod, nil
}
