//go:build volumes

package volumes_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/keeper"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// keeperName is that of the workload with data and of its claim.
const keeperName = "data-keeper"

func keeperObjects() []client.Object {
	labels := map[string]string{"app": keeperName}
	object := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: keeperName}
	return []client.Object{
		&corev1.PersistentVolumeClaim{ObjectMeta: object, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(className),
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		}},
		&appsv1.Deployment{ObjectMeta: object, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: new(int64(5)),
				Containers: []corev1.Container{{
					Name: keeperName, Image: images + keeperName + ":v1",
					Args: []string{"--dir=/data", "--node-name=$(NODE_NAME)", "--health-address=$(POD_IP):9808"},
					Env:  []corev1.EnvVar{fromField("NODE_NAME", "spec.nodeName"), fromField("POD_IP", "status.podIP")},
					ReadinessProbe: &corev1.Probe{PeriodSeconds: 2, ProbeHandler: corev1.ProbeHandler{
						HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(9808)},
					}},
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
				}},
				Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: keeperName},
				}}},
			}},
		}},
	}
}

// keep starts the workload and returns the name of its volume, once it is ready.
func (h *volumes) keep(ctx context.Context, s *suite.Scene, u *bed.UserCluster) string {
	GinkgoHelper()
	for _, object := range keeperObjects() {
		s.Expect(u.Client.Create(ctx, object)).To(Succeed())
	}
	h.waitForKeeper(ctx, s, u)
	claim := &corev1.PersistentVolumeClaim{}
	s.Expect(u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: keeperName}, claim)).To(Succeed())
	volume := &corev1.PersistentVolume{}
	s.Expect(u.Client.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume)).To(Succeed())
	s.Expect(volume.Spec.CSI).NotTo(BeNil())
	s.Expect(volume.Spec.CSI.VolumeHandle).To(Equal(volume.Name), "the driver calls it as the provisioner does")
	return volume.Name
}

// waitForKeeper waits until the only pod of the workload has found its data.
func (h *volumes) waitForKeeper(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	s.Expect(h.WaitFor(ctx, "the workload with data", suite.Patience, func(ctx context.Context) (string, error) {
		pods := &corev1.PodList{}
		if err := u.Client.List(ctx, pods, client.MatchingLabels{"app": keeperName}); err != nil {
			return "", err
		}
		if len(pods.Items) != 1 {
			return "it has not one pod", nil
		}
		return lacksReadiness(&pods.Items[0]), nil
	})).To(Succeed())
}

func lacksReadiness(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return ""
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return "Pod " + pod.Name + " waits: " + waiting.Message
		}
	}
	return "Pod " + pod.Name + " is not ready"
}

// letGo deletes the workload and its claim, and waits until nothing is left of its volume.
func (h *volumes) letGo(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	objects := keeperObjects()
	slices.Reverse(objects)
	for _, object := range objects {
		s.Expect(u.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
	}
	s.Expect(h.WaitFor(ctx, "the end of the volume", suite.Patience, func(ctx context.Context) (string, error) {
		volumes := &corev1.PersistentVolumeList{}
		if err := u.Client.List(ctx, volumes); err != nil {
			return "", err
		}
		for _, volume := range volumes.Items {
			if volume.Spec.StorageClassName == className {
				return "PersistentVolume " + volume.Name + " is " + string(volume.Status.Phase), nil
			}
		}
		err := u.Client.Get(ctx, client.ObjectKeyFromObject(objects[1]), objects[1])
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return "the claim is there", err
	})).To(Succeed())
}

// disk is where the instance of a volume sees it.
func (h *volumes) disk(s *suite.Scene, u *bed.UserCluster, volume string) string {
	GinkgoHelper()
	all := h.Cloud.Snapshot(u.Options.Name).Volumes
	at := slices.IndexFunc(all, func(v simcloud.Volume) bool { return v.Name == volume })
	s.Expect(at).NotTo(Equal(-1), "the cloud has volume %s", volume)
	s.Expect(all[at].DevicePath).NotTo(BeEmpty(), "volume %s is attached", volume)
	return all[at].DevicePath
}

func (h *volumes) visits(s *suite.Scene, u *bed.UserCluster, volume string) []keeper.Visit {
	GinkgoHelper()
	visits, err := keeper.Visits(h.disk(s, u, volume))
	s.Expect(err).NotTo(HaveOccurred())
	return visits
}

func (h *volumes) checksum(s *suite.Scene, u *bed.UserCluster, volume string) string {
	GinkgoHelper()
	sum, err := os.ReadFile(filepath.Join(h.disk(s, u, volume), keeper.ChecksumFile))
	s.Expect(err).NotTo(HaveOccurred())
	return string(sum)
}
