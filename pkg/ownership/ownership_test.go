package ownership

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestToolsAreKnownByTheirMarks(t *testing.T) {
	labeled := func(key, value string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Labels: map[string]string{key: value}}
	}
	annotated := func(key, value string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{key: value}}
	}
	for name, tc := range map[string]struct {
		object metav1.ObjectMeta
		want   []string
	}{
		"none":                      {metav1.ObjectMeta{}, nil},
		"a label that is no mark":   {labeled("app.kubernetes.io/managed-by", "hand"), nil},
		"Argo CD by its annotation": {annotated("argocd.argoproj.io/tracking-id", "web:apps/Deployment:a/b"), []string{"Argo CD application web"}},
		"Argo CD by its own label":  {labeled("argocd.argoproj.io/instance", "web"), []string{"Argo CD application web"}},
		"a Kustomization of Flux":   {labeled("kustomize.toolkit.fluxcd.io/name", "apps"), []string{"Flux Kustomization apps"}},
		"a HelmRelease of Flux":     {labeled("helm.toolkit.fluxcd.io/name", "web"), []string{"Flux HelmRelease web"}},
		"a release of Helm":         {annotated("meta.helm.sh/release-name", "web"), []string{"Helm release web"}},
		"a chart that Helm renders": {labeled("app.kubernetes.io/managed-by", "Helm"), []string{"Helm"}},
		"a HelmRelease with its release, which is told once": {metav1.ObjectMeta{
			Labels:      map[string]string{"helm.toolkit.fluxcd.io/name": "web", "app.kubernetes.io/managed-by": "Helm"},
			Annotations: map[string]string{"meta.helm.sh/release-name": "web"},
		}, []string{"Helm release web", "Flux HelmRelease web"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Tools(&tc.object)).To(Equal(tc.want))
		})
	}
}

func TestHintsNameToolsControllersAndFieldManagers(t *testing.T) {
	g := NewWithT(t)
	object := &metav1.ObjectMeta{
		Annotations:     map[string]string{"meta.helm.sh/release-name": "web"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Plain", Name: "a"}, {Kind: "Tenant", Name: "b", Controller: new(true)}},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "helm"}, {Manager: "controller", Subresource: "status"}, {Manager: "by-hand"}, {Manager: "helm"},
		},
	}
	g.Expect(Hints(object)).To(Equal("Helm release web; owned by Tenant b; managed by by-hand, helm"))
	g.Expect(Hints(&metav1.ObjectMeta{})).To(BeEmpty())
}
