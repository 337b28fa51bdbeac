package manifest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestWhatWorkloadsNeed(t *testing.T) {
	g := NewWithT(t)
	meta := metav1.ObjectMeta{Namespace: manifest.Namespace, Name: "a"}
	set, err := manifest.NewSet("part", "v1", []manifest.Object{
		&appsv1.Deployment{ObjectMeta: meta},
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name, Annotations: manifest.Needing(manifest.Privileged)},
		},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.PodSecurity(set.Workloads[0])).To(Equal(manifest.Restricted), "nothing is said of it")
	g.Expect(set.PodSecurity(set.Workloads[1])).To(Equal(manifest.Privileged))
	again := manifest.SetOf("part", "v2", set.Objects)
	g.Expect(again.PodSecurity(again.Workloads[1])).To(Equal(manifest.Privileged), "another set of the same objects says it, too")
}
