package overlay

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

// profile is a ProviderProfile without problems, for a minor of Kubernetes.
type profile struct {
	spec  ucv1.ProviderProfileSpec
	minor int
}

// Lay lays a ProviderProfile that has no problems over the addons of a cluster. When anything in it cannot be used all the
// same, nothing of it is.
func Lay(addons manifest.Addons, spec ucv1.ProviderProfileSpec, minor int) (manifest.Addons, error) {
	p := profile{spec, minor}
	for _, part := range []struct {
		set *manifest.Set
		// suffix of the names of its workloads: the probe is what is said of the CCM.
		suffix string
	}{{&addons.CCM, ""}, {&addons.CSI, ""}, {&addons.Nodes, ""}, {&addons.Probe, render.ProbeSuffix}} {
		if err := p.lay(part.set, part.suffix); err != nil {
			return manifest.Addons{}, err
		}
	}
	return addons, nil
}

// lay changes the set, and not the objects that it had.
func (p profile) lay(set *manifest.Set, suffix string) error {
	objects := make([]*unstructured.Unstructured, 0, len(set.Objects))
	version := set.Version
	for _, object := range set.Objects {
		object = object.DeepCopy()
		var problem error
		err := manifest.ChangePods([]*unstructured.Unstructured{object}, func(pod *corev1.PodTemplateSpec) {
			// What the set is called for people follows the image that it is called after.
			if image := manifest.ContainerImage(manifest.MainContainer(pod)); image.Tag == set.Version {
				version = p.version(image.Repository, version)
			}
			p.images(pod)
			problem = p.workload(pod, strings.TrimSuffix(object.GetName(), suffix))
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

func (p profile) images(pod *corev1.PodTemplateSpec) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Image = p.image(manifest.ContainerImage(&containers[i]))
		}
	}
}

func (p profile) image(image manifest.Image) string {
	tag := image.Tag
	if override := p.override(image.Repository); override != nil {
		tag = override.Tag
		if override.Digest != "" {
			tag += "@" + override.Digest
		}
	}
	return manifest.ImageOf(p.mirrored(image.Repository), tag)
}

func (p profile) version(repository, version string) string {
	if override := p.override(repository); override != nil {
		return override.Tag
	}
	return version
}

// override is the entry for the minor, or the one for all of them.
func (p profile) override(repository string) *ucv1.ImageOverride {
	for _, minor := range []string{minorName(p.minor), ""} {
		at := slices.IndexFunc(p.spec.Images, func(image ucv1.ImageOverride) bool {
			return image.Image == repository && image.Kubernetes == minor
		})
		if at >= 0 {
			return &p.spec.Images[at]
		}
	}
	return nil
}

// mirrored takes the longest source. A source ends where a part of the name ends: registry.k8s.io is not the beginning of
// registry.k8s.io.example.com.
func (p profile) mirrored(repository string) string {
	longest := ucv1.ImageMirror{}
	for _, mirror := range p.spec.Mirrors {
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
func (p profile) workload(pod *corev1.PodTemplateSpec, name string) error {
	at := slices.IndexFunc(p.spec.Workloads, func(workload ucv1.WorkloadOverride) bool { return workload.Name == name })
	if at < 0 {
		return nil
	}
	workload, container := p.spec.Workloads[at], manifest.MainContainer(pod)
	passed := manifest.FlagsOf(*container)
	for _, argument := range workload.ExtraArguments {
		if flag := manifest.FlagOf(argument); passed[flag] {
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
