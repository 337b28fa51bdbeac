package provider

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// overlay is a ProviderProfile without problems, for a minor of Kubernetes.
type overlay struct {
	spec  ucv1.ProviderProfileSpec
	minor int
}

// Overlay lays a ProviderProfile over the addons of a cluster. When anything in it cannot be used, nothing of it is: the
// addons are empty then, and the problems are sentences that say what to do.
func (c *Catalogue) Overlay(addons manifest.Addons, spec ucv1.ProviderProfileSpec, version string) (manifest.Addons, []string) {
	problems := c.OverlayProblems(spec)
	minor, err := manifest.Minor(version)
	if err != nil {
		problems = append(problems, err.Error()+".")
	}
	if len(problems) > 0 {
		return manifest.Addons{}, problems
	}
	o := overlay{spec, minor}
	for _, part := range []struct {
		set *manifest.Set
		// suffix of the names of its workloads: the probe is what is said of the CCM.
		suffix string
	}{{&addons.CCM, ""}, {&addons.CSI, ""}, {&addons.Nodes, ""}, {&addons.Probe, render.ProbeSuffix}} {
		if err := o.lay(part.set, part.suffix); err != nil {
			return manifest.Addons{}, []string{err.Error() + "."}
		}
	}
	return addons, nil
}

// lay changes the set, and not the objects that it had.
func (o overlay) lay(set *manifest.Set, suffix string) error {
	objects := make([]*unstructured.Unstructured, 0, len(set.Objects))
	version := set.Version
	for _, object := range set.Objects {
		object = object.DeepCopy()
		var problem error
		err := manifest.ChangePods([]*unstructured.Unstructured{object}, func(pod *corev1.PodTemplateSpec) {
			// What the set is called for people follows the image that it is called after.
			if image := imageOf(mainContainer(pod)); image.Tag == set.Version {
				version = o.version(image.Repository, version)
			}
			o.images(pod)
			problem = o.workload(pod, strings.TrimSuffix(object.GetName(), suffix))
		})
		if err == nil {
			err = problem
		}
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	if len(set.Objects) > 0 {
		set.Objects, set.Version = objects, version
	}
	return nil
}

// mainContainer is the last one: that of the CCM is alone, and the plugin of a CSI driver stands behind its sidecars.
func mainContainer(pod *corev1.PodTemplateSpec) *corev1.Container {
	return &pod.Spec.Containers[len(pod.Spec.Containers)-1]
}

func (o overlay) images(pod *corev1.PodTemplateSpec) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Image = o.image(imageOf(&containers[i]))
		}
	}
}

func (o overlay) image(image manifest.Image) string {
	tag := image.Tag
	if override := o.override(image.Repository); override != nil {
		tag = override.Tag
		if override.Digest != "" {
			tag += "@" + override.Digest
		}
	}
	return manifest.ImageOf(o.mirrored(image.Repository), tag)
}

func (o overlay) version(repository, version string) string {
	if override := o.override(repository); override != nil {
		return override.Tag
	}
	return version
}

// override is the entry for the minor, or the one for all of them.
func (o overlay) override(repository string) *ucv1.ImageOverride {
	for _, minor := range []string{minorName(o.minor), ""} {
		at := slices.IndexFunc(o.spec.Images, func(image ucv1.ImageOverride) bool {
			return image.Image == repository && image.Kubernetes == minor
		})
		if at >= 0 {
			return &o.spec.Images[at]
		}
	}
	return nil
}

// mirrored takes the longest source. A source ends where a part of the name ends: registry.k8s.io is not the beginning of
// registry.k8s.io.example.com.
func (o overlay) mirrored(repository string) string {
	longest := ucv1.ImageMirror{}
	for _, mirror := range o.spec.Mirrors {
		if len(mirror.Source) > len(longest.Source) && strings.HasPrefix(repository+"/", mirror.Source+"/") {
			longest = mirror
		}
	}
	if longest.Source == "" {
		return repository
	}
	return longest.Mirror + strings.TrimPrefix(repository, longest.Source)
}

// workload changes the pod of a workload that is named. What the catalogue passes is asked for once more, in the arguments
// of this very cluster.
func (o overlay) workload(pod *corev1.PodTemplateSpec, name string) error {
	at := slices.IndexFunc(o.spec.Workloads, func(workload ucv1.WorkloadOverride) bool { return workload.Name == name })
	if at < 0 {
		return nil
	}
	workload, container := o.spec.Workloads[at], mainContainer(pod)
	passed := flagsOf(*container)
	for _, argument := range workload.ExtraArguments {
		if flag := flagOf(argument); passed[flag] {
			return fmt.Errorf("spec.workloads[%d].extraArguments: the catalogue passes --%s to %s already; take it out", at, flag, name)
		}
	}
	container.Args = append(container.Args, workload.ExtraArguments...)
	if workload.Resources != nil {
		container.Resources = resourcesOf(*workload.Resources)
	}
	for _, toleration := range workload.Tolerations {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: toleration.Key, Operator: corev1.TolerationOperator(toleration.Operator), Value: toleration.Value,
			Effect: corev1.TaintEffect(toleration.Effect), TolerationSeconds: toleration.TolerationSeconds,
		})
	}
	if workload.PriorityClassName != "" {
		pod.Spec.PriorityClassName = workload.PriorityClassName
	}
	return nil
}

func resourcesOf(resources ucv1.ContainerResources) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: amountsOf(resources.Requests), Limits: amountsOf(resources.Limits)}
}

func amountsOf(amounts ucv1.ResourceAmounts) corev1.ResourceList {
	list := corev1.ResourceList{}
	if amounts.CPU != nil {
		list[corev1.ResourceCPU] = *amounts.CPU
	}
	if amounts.Memory != nil {
		list[corev1.ResourceMemory] = *amounts.Memory
	}
	if amounts.EphemeralStorage != nil {
		list[corev1.ResourceEphemeralStorage] = *amounts.EphemeralStorage
	}
	return list
}

func minorName(minor int) string { return fmt.Sprintf("1.%d", minor) }
