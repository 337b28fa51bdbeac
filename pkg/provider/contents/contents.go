package contents

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// Provider is what has to be known of one.
type Provider interface {
	// Release says which releases run with a version of Kubernetes, or why none does.
	Release(version string) (manifest.Release, error)
	// Example is a cloud configuration that is complete; its values are made up.
	Example() map[string][]byte
	// Render makes the objects of a cluster.
	Render(in manifest.RenderInput) (manifest.Addons, error)
}

// Contents are what the catalogue has for a provider, over all its minors.
type Contents struct {
	// Images are the minors that an image is used in, by its name without a tag.
	Images map[string][]int
	// Workloads are the flags that are passed to the last container of a workload in any minor, by its name.
	Workloads map[string]map[string]bool
	// Programs are the images of the CCM by the last element of their names; true are those that have the loop cloud-node only.
	Programs map[string]bool
	// CCM are its workloads, and those of its probe.
	CCM    []observation.Ref
	Minors []int
	// Problem is a fault of the catalogue itself.
	Problem string
}

// Of renders a provider for each minor that it has a release for.
func Of(provider Provider) Contents {
	found := Contents{Images: map[string][]int{}, Workloads: map[string]map[string]bool{}, Programs: map[string]bool{}}
	for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
		version := fmt.Sprintf("1.%d.0", minor)
		if _, err := provider.Release(version); err != nil {
			continue
		}
		addons, err := provider.Render(fullInput(provider, version))
		if err != nil {
			found.Problem = "the catalogue cannot be rendered: " + err.Error() + "."
			return found
		}
		found.Minors = append(found.Minors, minor)
		if err := found.addManagers(addons); err != nil {
			found.Problem = err.Error() + "."
			return found
		}
		for _, object := range slices.Concat(addons.WithNodes().Objects, addons.CSI.Objects) {
			// The objects are no one else's, and nothing of them is changed.
			if err := manifest.ChangePods([]*unstructured.Unstructured{object}, func(pod *corev1.PodTemplateSpec) {
				found.add(object.GetName(), pod, minor)
			}); err != nil {
				found.Problem = err.Error() + "."
				return found
			}
		}
	}
	return found
}

// fullInput is that of a cluster whose KCM ran all loops, so that every flag is there that ever is.
func fullInput(provider Provider, version string) manifest.RenderInput {
	return manifest.RenderInput{
		Version: version, CloudConfig: provider.Example(), ClusterUID: "uid",
		Inherited: ucv1.InheritedConfiguration{
			ClusterName: "kubernetes", ClusterCIDR: "10.0.0.0/8", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
		},
	}
}

func (c *Contents) add(workload string, pod *corev1.PodTemplateSpec, minor int) {
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		repository := manifest.ContainerImage(&container).Repository
		if !slices.Contains(c.Images[repository], minor) {
			c.Images[repository] = append(c.Images[repository], minor)
		}
	}
	if c.Workloads[workload] == nil {
		c.Workloads[workload] = map[string]bool{}
	}
	maps.Copy(c.Workloads[workload], manifest.FlagsOf(*manifest.MainContainer(pod)))
}

// addManagers notes the programs and the workloads of a minor's CCM.
func (c *Contents) addManagers(addons manifest.Addons) error {
	for set, nodesOnly := range map[*manifest.Set]bool{&addons.CCM: false, &addons.Nodes: true} {
		for _, object := range set.Objects {
			err := manifest.ChangePods([]*unstructured.Unstructured{object}, func(pod *corev1.PodTemplateSpec) {
				c.Programs[manifest.ImageName(manifest.MainContainer(pod).Image)] = nodesOnly
			})
			if err != nil {
				return err
			}
		}
		for _, ref := range set.Workloads {
			probe := observation.Ref{Kind: "Deployment", Namespace: ref.Namespace, Name: ref.Name + render.ProbeSuffix}
			for _, one := range []observation.Ref{ref, probe} {
				if !slices.Contains(c.CCM, one) {
					c.CCM = append(c.CCM, one)
				}
			}
		}
	}
	return nil
}
