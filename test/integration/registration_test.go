package integration_test

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
)

// registers is the simulated cloud with a CSI driver that has to register in-tree volumes, as that of vSphere.
type registers struct{ simcloud.Profile }

func (r registers) Facts(version string) observation.Provider {
	facts := r.Profile.Facts(version)
	facts.MigratedPlugins = append(facts.MigratedPlugins, "kubernetes.io/vsphere-volume")
	facts.RegisteredBy = "cnsvspherevolumemigrations.cns.vmware.com"
	return facts
}

// registrations is the kind that vSphere's CSI driver makes, with the fields that it has:
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/apis/migration/config/cns.vmware.com_cnsvspherevolumemigrations.yaml
func registrations() *apiextensionsv1.CustomResourceDefinition {
	text, flag := apiextensionsv1.JSONSchemaProps{Type: "string"}, apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	spec := apiextensionsv1.JSONSchemaProps{
		Type:     "object",
		Required: []string{"volumeid", "volumepath"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"volumeid": text, "volumepath": text, "protectvolumefromvmdelete": flag,
		},
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "cnsvspherevolumemigrations.cns.vmware.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cns.vmware.com", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "CnsVSphereVolumeMigration", ListKind: "CnsVSphereVolumeMigrationList",
				Plural: "cnsvspherevolumemigrations", Singular: "cnsvspherevolumemigration",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"apiVersion": text, "kind": text, "metadata": {Type: "object"}, "spec": spec,
					},
				}},
			}},
		},
	}
}

// register is the syncer, which knows a volume by its path from then on.
func (w *world) register(path string) {
	w.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generateName": "fcd-"}, "spec": map[string]any{"volumeid": "6f4cbf1e", "volumepath": path},
	}}
	object.SetGroupVersionKind(
		schema.GroupVersionKind{Group: "cns.vmware.com", Version: "v1alpha1", Kind: "CnsVSphereVolumeMigration"},
	)
	create := func() error { return w.user.client.Create(w.t.Context(), object.DeepCopy()) }
	NewWithT(w.t).Eventually(create, deadline, interval).Should(Succeed())
}

func TestVolumesAreRegisteredOnAnAPIServer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.observeBy(suite.catalogue.With("simcloud", registers{}))
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "by-hand-" + w.namespace},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[fast] kubevols/a.vmdk"},
			},
		},
	}
	g.Expect(w.user.client.Create(t.Context(), volume)).To(Succeed())
	volume.Status.Phase = corev1.VolumeAvailable
	g.Expect(w.user.client.Status().Update(t.Context(), volume)).To(Succeed())
	definition := envtest.CRDInstallOptions{Scheme: suite.scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{registrations()}}
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		// Of the finalizer no one is there to take away.
		g.Expect(
			w.user.client.Patch(ctx, volume, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))),
		).To(Succeed())
		g.Expect(client.IgnoreNotFound(w.user.client.Delete(ctx, volume))).To(Succeed())
		g.Expect(envtest.UninstallCRDs(w.user.config, definition)).To(Succeed())
		g.Eventually(func() bool {
			return apierrors.IsNotFound(w.user.client.Get(ctx, client.ObjectKeyFromObject(registrations()), registrations()))
		}, deadline, interval).Should(BeTrue())
	})
	w.flip()

	rolledOut := func() metav1.Condition { return w.condition(ucv1.MachineDeploymentsRolledOutCondition) }
	registering := func(*ucv1.Cluster) bool { return rolledOut().Reason == ucv1.RegisteringVolumesReason }
	w.until("a wait before the syncer began", registering, w.playEverybody)
	g.Expect(rolledOut().Message).To(And(ContainSubstring(volume.Name), ContainSubstring("The CRD does not exist")))

	_, err := envtest.InstallCRDs(w.user.config, definition)
	g.Expect(err).NotTo(HaveOccurred())
	w.register("[fast] kubevols/another.vmdk")
	w.until("a wait for the one volume", func(c *ucv1.Cluster) bool {
		return registering(c) && !strings.Contains(rolledOut().Message, "CRD")
	}, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("pool-0-0"), "no Node is drained")

	w.register(volume.Spec.VsphereVolume.VolumePath)
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("pool-1-0"))
}
