package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestWhoReconcilesADeployment(t *testing.T) {
	labeled := func(key, value string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Labels = map[string]string{key: value} }
	}
	written := func(manager string, operation metav1.ManagedFieldsOperationType, field string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			fields := `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"` + kubeControllerManager + `\"}":{"f:` + field +
				`":{}}}}}}}`
			entry := metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsV1: &metav1.FieldsV1{}}
			entry.FieldsV1.SetRawBytes([]byte(fields))
			d.ManagedFields = append(d.ManagedFields, entry)
		}
	}
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	for name, tc := range map[string]struct {
		given func(*appsv1.Deployment)
		want  []string
	}{
		"no one, where nothing tells":               {given: func(*appsv1.Deployment) {}},
		"no one, where it was made with kubectl":    {given: written("kubectl-client-side-apply", update, "args")},
		"no one, where kubectl applied it":          {given: written("kubectl", apply, "args")},
		"no one, where we changed it":               {given: written(ucv1.FieldManager, apply, "args")},
		"no one, where a script wrote it once":      {given: written("setup", update, "args")},
		"no one, where others apply something else": {given: written("kustomize-controller", apply, "image")},
		"a tool by its label": {
			given: labeled("kustomize.toolkit.fluxcd.io/name", "tenants"), want: []string{"Flux Kustomization tenants"},
		},
		"Gardener by the role":             {given: labeled("gardener.cloud/role", "controlplane"), want: []string{"Gardener"}},
		"KKP by its field manager":         {given: written("seed-controller-manager", update, "args"), want: []string{"KKP"}},
		"whoever applies the arguments":    {given: written("tenants", apply, "args"), want: []string{"field manager tenants"}},
		"a tool that wrote it in two ways": {given: func(d *appsv1.Deployment) { written("helm", update, "args")(d); written("helm", apply, "args")(d) }, want: []string{"Helm"}},
		"the object that controls it": {given: func(d *appsv1.Deployment) {
			d.OwnerReferences = []metav1.OwnerReference{{Kind: "TenantControlPlane", Name: "alpha", Controller: new(true)}}
		}, want: []string{"TenantControlPlane alpha"}},
		"no object that only owns it": {given: func(d *appsv1.Deployment) {
			d.OwnerReferences = []metav1.OwnerReference{{Kind: "ConfigMap", Name: "release"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := testDeployment(kubeControllerManager, "--v=2")
			tc.given(deployment)
			NewWithT(t).Expect(reconcilersOf(deployment, kubeControllerManager)).To(Equal(tc.want))
		})
	}
}
