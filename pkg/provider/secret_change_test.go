package provider_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// TestAChangedSecretRollsThosePodsThatReadIt changes the values of each provider's cloud configuration, one after the other: the
// pod templates that change are those that read a Secret that changes.
func TestAChangedSecretRollsThosePodsThatReadIt(t *testing.T) {
	catalogue := builtIn()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		minor := versions.LastMinor
		for ; profile.Facts(fmt.Sprintf("1.%d.0", minor)).VersionProblem != ""; minor-- {
			NewWithT(t).Expect(minor).To(BeNumerically(">", versions.FirstMinor), name)
		}
		render := func(config map[string][]byte) ([]*unstructured.Unstructured, error) {
			addons, err := profile.Render(
				manifest.RenderInput{Version: fmt.Sprintf("1.%d.0", minor), CloudConfig: config, ClusterUID: "uid",
					Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"}},
			)
			return slices.Concat(addons.CCM.Objects, addons.CSI.Objects), err
		}
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, err := render(profile.Example())
			g.Expect(err).NotTo(HaveOccurred())
			changed := 0
			for key, value := range profile.Example() {
				for _, other := range [][]byte{
					append(slices.Clone(value), 'x'), append(slices.Clone(value), "\n# x\n"...), append([]byte(" "), value...),
				} {
					config := maps.Clone(profile.Example())
					config[key] = other
					if profile.CloudConfigProblem(config) != "" {
						continue
					}
					after, err := render(config)
					g.Expect(err).NotTo(HaveOccurred())
					expectRolled(g, before, after)
					changed++
				}
			}
			g.Expect(changed).To(BeNumerically(">", 0), "one change can be used")
		})
	}
}

func expectRolled(g Gomega, before, after []*unstructured.Unstructured) {
	g.Expect(after).To(HaveLen(len(before)))
	secrets := map[string]bool{}
	for i := range before {
		if before[i].GetKind() == "Secret" {
			secrets[before[i].GetName()] = !equality.Semantic.DeepEqual(before[i].Object, after[i].Object)
		}
	}
	for i := range before {
		reads := false
		g.Expect(manifest.ChangePods(before[i:i+1], func(pod *corev1.PodTemplateSpec) { reads = readsChanged(pod.Spec, secrets) })).To(
			Succeed(),
		)
		if before[i].GetKind() == "Deployment" || before[i].GetKind() == "DaemonSet" {
			g.Expect(!equality.Semantic.DeepEqual(before[i].Object["spec"], after[i].Object["spec"])).To(Equal(reads), before[i].GetName())
		}
	}
}

func readsChanged(pod corev1.PodSpec, changed map[string]bool) bool {
	for _, volume := range pod.Volumes {
		if volume.Secret != nil && changed[volume.Secret.SecretName] {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(container corev1.Container) bool {
		return slices.ContainsFunc(container.Env, func(env corev1.EnvVar) bool {
			return env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil && changed[env.ValueFrom.SecretKeyRef.Name]
		})
	})
}
