package machinecontroller

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

func failingApply(c client.WithWatch, err error) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return err
		},
	})
}

func TestCanaryIsMadeSeenAndRemoved(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 7, template: {metadata: "+
		"{}, spec: {metadata: {}}}}"))
	canary := machines.NewCanary(s.client, s, s.clock, s.watches)
	empty, known := canary.Observe(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(empty.Objects).To(BeEmpty())
	plan := outcome.CanaryPlan{Image: "example.com/pause:1", StorageClass: "simcloud-csi"}
	for range 2 {
		g.Expect(canary.Create(t.Context(), breakerRef(), plan)).To(Succeed(), "also when it is there")
	}
	seen := canary.Observe(t.Context()).Value()
	g.Expect(kindsOf(seen)).To(Equal([]string{"PersistentVolumeClaim", "Pod"}))
	plan.LoadBalancer = true
	g.Expect(canary.Create(t.Context(), breakerRef(), plan)).To(Succeed())
	seen = canary.Observe(t.Context()).Value()
	g.Expect(kindsOf(seen)).To(Equal([]string{"PersistentVolumeClaim", "Pod", "Service"}))

	pod := &corev1.Pod{}
	g.Expect(s.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: ucv1.CanaryName}, pod)).To(Succeed())
	g.Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{ucv1.CanaryLabel: "true"}))
	g.Expect(pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName).To(Equal(ucv1.CanaryName))
	g.Expect(pod.Spec.Containers[0].Image).To(Equal("example.com/pause:1"))

	var refs []observation.Ref
	for _, object := range seen.Objects {
		refs = append(refs, object.Ref)
	}
	live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineDeployment", ucv1.CanaryName, "{}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(canary.Remove(t.Context(), append(refs, reads.RefOf(live)))).To(Succeed())
	g.Expect(canary.Observe(t.Context()).Value().Objects).To(BeEmpty())
	g.Expect(canary.Remove(t.Context(), refs)).To(Succeed(), "also when it is gone")
	g.Expect(canary.Remove(t.Context(), []observation.Ref{breakerRef()})).To(MatchError(ContainSubstring("is not of it")))
	g.Expect(canary.Create(t.Context(), observation.Ref{Namespace: "kube-system", Name: "gone"}, plan)).To(
		MatchError(ContainSubstring("gone")),
	)
}

func kindsOf(workload observation.CanaryWorkload) []string {
	var kinds []string
	for _, object := range workload.Objects {
		kinds = append(kinds, object.Kind)
	}
	return kinds
}
