package addons_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// levels of the Pod Security Standards, the strictest first.
func levels() []manifest.PodSecurity {
	return []manifest.PodSecurity{manifest.Restricted, manifest.Baseline, manifest.Privileged}
}

// stricter is the next level up, if there is one.
func stricter(level manifest.PodSecurity) (manifest.PodSecurity, bool) {
	for i, other := range levels()[1:] {
		if other == level {
			return levels()[i], true
		}
	}
	return "", false
}

// secured says of every workload that it needs the level that is declared for it, and no other.
func secured(t *testing.T, r rendering) {
	t.Helper()
	beside, err := render.Place{Namespace: "user-a", Cluster: "a"}.Put(r.addons.CCM)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, set := range append(r.sets(), beside) {
		NewWithT(t).Expect(securityObjections(t, set, r.minor)).To(BeEmpty())
	}
}

func securityObjections(t *testing.T, set manifest.Set, minor int) []string {
	t.Helper()
	g := NewWithT(t)
	pods, err := podsOf(set)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pods).To(HaveLen(len(set.Workloads)))
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	var all []string
	for i, pod := range pods {
		workload := set.Workloads[i]
		declared := set.PodSecurity(workload)
		// The standards of its own minor, and the newest ones: they became stricter.
		for _, version := range []api.Version{api.MajorMinorVersion(1, minor), api.LatestVersion()} {
			if needed, why := evaluate(evaluator, version, pod); needed != declared {
				all = append(
					all,
					fmt.Sprintf("%s is declared %s and needs %s by the standards of %s: %s", workload, declared, needed, version.String(), why),
				)
			}
		}
		all = append(all, admissionObjections(t.Context(), workload.String(), declared, pod)...)
	}
	return all
}

// evaluate says which level a pod needs, and what in it the next stricter one forbids.
func evaluate(evaluator policy.Evaluator, version api.Version, pod *corev1.Pod) (needed manifest.PodSecurity, why string) {
	for _, level := range levels() {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(
			api.LevelVersion{Level: api.Level(level), Version: version}, &pod.ObjectMeta, &pod.Spec))
		if result.Allowed {
			return level, why
		}
		why = result.ForbiddenDetail()
	}
	return "", why
}

// admissionObjections have the API server let the pod into a namespace of its level, and not into a stricter one.
func admissionObjections(ctx context.Context, workload string, level manifest.PodSecurity, pod *corev1.Pod) (all []string) {
	if err := admit(ctx, level, pod); err != nil {
		all = append(all, fmt.Sprintf("%s is not let into a namespace that is %s: %v", workload, level, err))
	}
	if above, has := stricter(level); has {
		err := admit(ctx, above, pod)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "violates PodSecurity") {
			all = append(all, fmt.Sprintf("%s is not kept out of a namespace that is %s: %v", workload, above, err))
		}
	}
	return all
}

// admit tries a pod in the namespace that is called after a level.
func admit(ctx context.Context, level manifest.PodSecurity, pod *corev1.Pod) error {
	pod = pod.DeepCopy()
	pod.Namespace = string(level)
	return suite.admin.Create(ctx, pod, client.DryRunAll)
}

// podsOf a set are those of its workloads, in their order.
func podsOf(set manifest.Set) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	copies := make([]*unstructured.Unstructured, 0, len(set.Objects))
	for _, object := range set.Objects {
		copies = append(copies, object.DeepCopy())
	}
	err := manifest.ChangePods(copies, func(template *corev1.PodTemplateSpec) {
		pods = append(pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name:        "pod",
				Labels:      template.Labels,
				Annotations: template.Annotations,
			},
			Spec: *template.Spec.DeepCopy(),
		})
	})
	return pods, err
}
