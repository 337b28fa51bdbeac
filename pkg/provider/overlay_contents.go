package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// contents are what the catalogue has for a provider, over all its minors.
type contents struct {
	// images are the minors that an image is used in, by its name without a tag.
	images map[string][]int
	// workloads are the flags that are passed to the last container of a workload in any minor, by its name.
	workloads map[string]map[string]bool
	// managers are the images of the CCM by the last element of their names, ccm its workloads: managers.go.
	managers map[string]bool
	ccm      []observation.Ref
	minors   []int
	// problem is a fault of the catalogue itself.
	problem string
}

// contentsOf a provider, rendered once: they do not change while we run.
func (c *Catalogue) contentsOf(name string, profile Profile) contents {
	once, _ := c.contents.LoadOrStore(name, sync.OnceValue(func() contents { return newContents(profile) }))
	return once.(func() contents)()
}

func newContents(profile Profile) contents {
	found := contents{images: map[string][]int{}, workloads: map[string]map[string]bool{}, managers: map[string]bool{}}
	for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
		version := fmt.Sprintf("1.%d.0", minor)
		if _, err := profile.Release(version); err != nil {
			continue
		}
		addons, err := profile.Render(fullInput(profile, version))
		if err != nil {
			found.problem = "the catalogue cannot be rendered: " + err.Error() + "."
			return found
		}
		found.minors = append(found.minors, minor)
		if err := found.addManagers(addons); err != nil {
			found.problem = err.Error() + "."
			return found
		}
		for _, object := range slices.Concat(addons.WithNodes().Objects, addons.CSI.Objects) {
			// The objects are no one else's, and nothing of them is changed.
			if err := manifest.ChangePods([]*unstructured.Unstructured{object}, func(pod *corev1.PodTemplateSpec) {
				found.add(object.GetName(), pod, minor)
			}); err != nil {
				found.problem = err.Error() + "."
				return found
			}
		}
	}
	return found
}

// fullInput is that of a cluster whose KCM ran all loops, so that every flag is there that ever is.
func fullInput(profile Profile, version string) manifest.RenderInput {
	return manifest.RenderInput{
		Version: version, CloudConfig: profile.Example(), ClusterUID: "uid",
		Inherited: ucv1.InheritedConfiguration{
			ClusterName: "kubernetes", ClusterCIDR: "10.0.0.0/8", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
		},
	}
}

func (c *contents) add(workload string, pod *corev1.PodTemplateSpec, minor int) {
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		repository := imageOf(&container).Repository
		if !slices.Contains(c.images[repository], minor) {
			c.images[repository] = append(c.images[repository], minor)
		}
	}
	if c.workloads[workload] == nil {
		c.workloads[workload] = map[string]bool{}
	}
	maps.Copy(c.workloads[workload], flagsOf(*mainContainer(pod)))
}

// flagsOf are the names of the flags that a container is started with.
func flagsOf(container corev1.Container) map[string]bool {
	flags := map[string]bool{}
	for _, argument := range slices.Concat(container.Command, container.Args) {
		if strings.HasPrefix(argument, "-") {
			flags[flagOf(argument)] = true
		}
	}
	return flags
}

// flagOf is the name of an argument's flag. The programs of Kubernetes take an underscore in it for a dash:
// https://github.com/kubernetes/component-base/blob/v0.30.14/cli/flag/flags.go#L30
func flagOf(argument string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}
