//go:build commandlines

package releases_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// allowLocks gives KCM the right that a migration gives it for the migration lock.
func (r *release) allowLocks(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "migration-lock"}
	g.Expect(r.client.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"},
	}}})).To(Succeed())
	g.Expect(r.client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:kube-controller-manager"}},
	})).To(Succeed())
}

// expectManager starts KCM, and compares what it runs with what we read out of its command line.
func (r *release) expectManager(t *testing.T, line commandLine) {
	t.Helper()
	g := NewWithT(t)
	t.Log(line.flags())
	// The KCM before it was killed and holds its Leases.
	g.Expect(r.client.DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	manager := r.start(t, line.flags()...)
	// KCM works only when it has started all controllers, but for those that wait for the migration lock.
	r.expectWork(t, "work-"+rand.String(8))
	loops := []string{}
	for _, name := range (observation.Arguments{Flags: line}).CloudLoops() {
		loops = append(loops, observation.CloudLoops()[name])
	}
	g.Eventually(func() ([]string, error) {
		log, err := os.ReadFile(manager.LogFile())
		return started(string(log)), err
	}).WithTimeout(patience).WithPolling(interval).Should(ConsistOf(loops))
	g.Expect(manager.Done()).NotTo(BeClosed(), "%s", manager.LogTail(12))
	manager.Kill()
	<-manager.Done()
}

// expectServer starts an API server that answers.
func (r *release) expectServer(t *testing.T, line commandLine) {
	t.Helper()
	t.Log(line.flags())
	r.control(t, line.flags()...).Stop()
}

// expectScheduler starts kube-scheduler and has it find a Node for a Pod.
func (r *release) expectScheduler(t *testing.T, line commandLine) {
	t.Helper()
	g := NewWithT(t)
	t.Log(line.flags())
	started, err := r.supervisor.Start(process.Options{
		Name: scheduler, Command: filepath.Join(r.servers, scheduler), LogFile: filepath.Join(t.TempDir(), scheduler+".log"),
		Args: append(
			[]string{"--kubeconfig=" + r.cluster.Files().SchedulerKubeconfig, "--leader-elect=false", "--secure-port=0"},
			line.flags()...,
		),
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { started.Kill(); <-started.Done() }()
	r.addNode(t)
	pod := &corev1.Pod{ObjectMeta: named("pod-" + rand.String(8)), Spec: corev1.PodSpec{
		Containers:  []corev1.Container{{Name: "any", Image: "registry.example/any:v1"}},
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
	}}
	g.Expect(r.client.Create(t.Context(), pod)).To(Succeed())
	g.Eventually(func() (string, error) {
		err := r.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)
		return pod.Spec.NodeName, err
	}).WithTimeout(patience).WithPolling(interval).ShouldNot(BeEmpty(), "%s", started.LogTail(12))
	g.Expect(started.Done()).NotTo(BeClosed(), "%s", started.LogTail(12))
}

func (r *release) addNode(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + rand.String(8)}}
	g.Expect(r.client.Create(t.Context(), node)).To(Succeed())
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	node.Status.Capacity = node.Status.Allocatable
	g.Expect(r.client.Status().Update(t.Context(), node)).To(Succeed())
}
