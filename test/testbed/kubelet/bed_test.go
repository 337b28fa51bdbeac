package kubelet_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	deadline  = 60 * time.Second
	namespace = "user-east"
)

// bed is a cluster with two Nodes and a kubelet.
type bed struct {
	t         *testing.T
	client    kubernetes.Interface
	kubelet   *kubelet.Kubelet
	runDir    string
	manifests string
	stop      func()
	outlive   sync.Map
}

// newBed needs the programs of the testbed in the directory KUBEBUILDER_ASSETS.
func newBed(t *testing.T) *bed {
	t.Helper()
	g := NewWithT(t)
	supervisor := process.NewSupervisor()
	t.Cleanup(supervisor.Close)
	bin := os.Getenv("KUBEBUILDER_ASSETS")
	b := &bed{t: t, runDir: t.TempDir(), manifests: t.TempDir()}
	cluster, err := apiserver.Start(t.Context(), apiserver.Options{
		Name: "management", Index: 1, Dir: filepath.Join(b.runDir, "management"), BinDir: bin, Supervisor: supervisor,
		WithScheduler: true, WithControllerManager: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cluster.Stop)
	b.client = kubernetes.NewForConfigOrDie(cluster.AdminConfig())

	programs := t.TempDir()
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(self, filepath.Join(programs, serverName))).To(Succeed())
	b.kubelet, err = kubelet.New(kubelet.Options{
		Cluster: "management", Index: 1, Config: cluster.AdminConfig(), RunDir: b.runDir, BinDir: programs,
		Supervisor: supervisor, StaticPodDir: b.manifests, Log: testr.New(t),
		OutliveForceDelete: func(pod *corev1.Pod) bool { _, ok := b.outlive.Load(pod.Name); return ok },
	})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.kubelet.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		g.Eventually(ended, deadline).Should(Receive(BeNil()))
	})
	t.Cleanup(b.stop)

	_, err = b.client.CoreV1().Namespaces().Create(
		ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		metav1.CreateOptions{},
	)
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"node-a", "node-b"} {
		_, err := b.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	return b
}

// deployment runs the tiny server with everything that a kubelet can give it.
func deployment(name string, env ...corev1.EnvVar) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	health := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: ptr.To[int64](2),
				InitContainers:                []corev1.Container{{Name: "faked", Image: "registry.example/faked:1"}},
				Containers: []corev1.Container{
					{
						Name:  "server",
						Image: "registry.example/testbed/" + serverName + ":1",
						Args:  []string{"$(POD_IP):8080"},
						Env: append(
							[]corev1.EnvVar{
								{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
							},
							env...),
						ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: health},
						LivenessProbe:  &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, InitialDelaySeconds: 1, ProbeHandler: health},
						VolumeMounts:   []corev1.VolumeMount{{Name: "cloud", MountPath: "/etc/cloud"}},
					},
				},
				Volumes: []corev1.Volume{
					{Name: "cloud", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "cloud"}}},
				},
			}},
		},
	}
}

// ready returns the Pods of a Deployment once all of them are ready and no other is left.
func (b *bed) ready(name string, count int) []corev1.Pod {
	b.t.Helper()
	var ready []corev1.Pod
	NewWithT(b.t).Eventually(func(g Gomega) {
		list, err := b.client.CoreV1().Pods(namespace).List(b.t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(HaveLen(count))
		for _, pod := range list.Items {
			g.Expect(isReady(&pod)).To(BeTrue(), "%s: %v", pod.Name, pod.Status)
			g.Expect(pod.DeletionTimestamp).To(BeNil())
		}
		ready = list.Items
	}, deadline, "100ms").Should(Succeed())
	return ready
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// ask sends a request to a Pod.
func (b *bed) ask(pod *corev1.Pod, path string, query ...string) string {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	response, err := http.Get("http://" + pod.Status.PodIP + ":8080" + path + "?" + values.Encode())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	NewWithT(b.t).Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// entries are the registered processes of the Pods whose names start with prefix.
func (b *bed) entries(prefix string) []kubelet.Entry {
	b.t.Helper()
	files, _ := filepath.Glob(filepath.Join(b.runDir, "processes", "management", prefix+"*.json"))
	var entries []kubelet.Entry
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var entry kubelet.Entry
		NewWithT(b.t).Expect(json.Unmarshal(content, &entry)).To(Succeed())
		entries = append(entries, entry)
	}
	return entries
}

// lives tells whether the process of a Pod is registered and runs.
func (b *bed) lives(pod *corev1.Pod) bool {
	b.t.Helper()
	entries := b.entries(pod.Name)
	return len(entries) == 1 && syscall.Kill(entries[0].PID, 0) == nil
}

// get returns a Pod unless it, not just another of its name, is gone.
func (b *bed) get(pod *corev1.Pod) *corev1.Pod {
	found, err := b.client.CoreV1().Pods(pod.Namespace).Get(b.t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil || found.UID != pod.UID {
		return nil
	}
	return found
}

func (b *bed) delete(pod *corev1.Pod, options metav1.DeleteOptions) {
	b.t.Helper()
	NewWithT(b.t).Expect(b.client.CoreV1().Pods(pod.Namespace).Delete(b.t.Context(), pod.Name, options)).To(Succeed())
}

func force() metav1.DeleteOptions { return metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)} }

// ending is what a watcher last saw of a Pod before it was gone.
type ending struct {
	status corev1.PodStatus
	// alive tells whether its process still ran when the Pod vanished.
	alive bool
}

// watchEndings records the end of Pods until the test ends.
func (b *bed) watchEndings(alive func(*corev1.Pod) bool) func(types.UID) (ending, bool) {
	watcher, err := b.client.CoreV1().Pods(namespace).Watch(b.t.Context(), metav1.ListOptions{})
	NewWithT(b.t).Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	// The next part takes b.t for itself, so nothing of this one may still read it.
	b.t.Cleanup(func() { watcher.Stop(); <-done })
	var mu sync.Mutex
	last, ended := map[types.UID]corev1.PodStatus{}, map[types.UID]ending{}
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				return
			}
			mu.Lock()
			if event.Type == watch.Deleted {
				ended[pod.UID] = ending{status: last[pod.UID], alive: alive(pod)}
			} else {
				last[pod.UID] = pod.Status
			}
			mu.Unlock()
		}
	}()
	return func(uid types.UID) (ending, bool) {
		mu.Lock()
		defer mu.Unlock()
		e, ok := ended[uid]
		return e, ok
	}
}

func (b *bed) log(pod *corev1.Pod) string {
	content, _ := os.ReadFile(b.kubelet.LogFile(pod.Namespace, pod.Name, "server"))
	return strings.TrimSpace(string(content))
}
