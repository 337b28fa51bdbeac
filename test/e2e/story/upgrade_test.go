package story_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// expectUpgrade replaces KCM by that of the next minor, which knows no in-tree provider and none of its gates any more:
// what a finished migration left in its arguments has to do there.
func expectUpgrade(ctx context.Context, b *bed.Bed, name string) {
	next, err := filepath.Glob(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "v1.*", suite.KCM))
	Expect(err).NotTo(HaveOccurred())
	Expect(next).To(HaveLen(1), "make binaries-test builds KCM of the next minor")
	version := filepath.Base(filepath.Dir(next[0]))
	image := "registry.example/simcloud/" + suite.KCM + ":" + version

	cluster := &ucv1.Cluster{}
	Expect(b.WaitFor(ctx, "the end of Finalize", suite.Patience, func(ctx context.Context) (string, error) {
		err := b.Client.Get(ctx, client.ObjectKey{Namespace: "user-" + name, Name: name}, cluster)
		return suite.IsTrue(ucv1.InTreeConfigurationRemovedCondition)(cluster), err
	})).To(Succeed())
	deployment := &appsv1.Deployment{}
	Expect(b.Client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: suite.KCM}, deployment)).To(Succeed())
	container := &deployment.Spec.Template.Spec.Containers[0]
	GinkgoWriter.Printf("KCM %s gets %v %v\n", version, container.Command, container.Args)
	container.Image = image
	Expect(b.Client.Update(ctx, deployment)).To(Succeed())

	user := managersClient(ctx, b, name)
	Expect(b.WaitFor(ctx, "KCM "+version+" leading", suite.Patience, func(ctx context.Context) (string, error) {
		lease, pods := &coordinationv1.Lease{}, &corev1.PodList{}
		if err := user.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: suite.KCM}, lease); err != nil {
			return "", err
		}
		ofKCM := client.MatchingLabels{"app": suite.KCM}
		if err := b.Client.List(ctx, pods, client.InNamespace(cluster.Namespace), ofKCM); err != nil {
			return "", err
		}
		return lacksLeader(ptr.Deref(lease.Spec.HolderIdentity, ""), image, pods.Items), nil
	})).To(Succeed())

	Expect(b.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	Expect(meta.IsStatusConditionTrue(cluster.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition)).To(BeTrue())
}

// lacksLeader says what is missing until all of KCM is of that image, never restarted, and one of it leads.
func lacksLeader(holder, image string, pods []corev1.Pod) string {
	leads := false
	for _, pod := range pods {
		switch statuses := pod.Status.ContainerStatuses; {
		case pod.Spec.Containers[0].Image != image:
			return "Pod " + pod.Name + " has the old image"
		case len(statuses) != 1 || !statuses[0].Ready:
			return "Pod " + pod.Name + " is not ready"
		case statuses[0].RestartCount > 0:
			return fmt.Sprintf("Pod %s was restarted %d times", pod.Name, statuses[0].RestartCount)
		}
		leads = leads || len(holder) > len(pod.Name) && holder[:len(pod.Name)+1] == pod.Name+"_"
	}
	if !leads {
		return "the Lease is held by " + holder
	}
	return ""
}
