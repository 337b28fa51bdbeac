package render

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// withoutCloudNode has the name that every minor of the library knows; the registered one would end a CCM before 1.28:
// https://github.com/kubernetes/cloud-provider/blob/v0.27.16/app/controllermanager.go#L444
const withoutCloudNode = ",-cloud-node"

// WithoutCloudNode takes the loop that initializes Nodes, and writes their addresses, from the CCM.
func WithoutCloudNode(ccm manifest.Set, id manifest.Identity) (manifest.Set, error) {
	objects := make([]*unstructured.Unstructured, 0, len(ccm.Objects))
	for _, object := range ccm.Objects {
		objects = append(objects, object.DeepCopy())
	}
	changed := 0
	err := manifest.ChangePods(objects, func(pod *corev1.PodTemplateSpec) {
		for i := range pod.Spec.Containers {
			arguments := pod.Spec.Containers[i].Args
			at := slices.IndexFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, "--controllers=") })
			if at >= 0 && slices.Contains(arguments, "--leader-elect-resource-name="+id.LeaseName) {
				arguments[at] += withoutCloudNode
				changed++
			}
		}
	})
	if err == nil && changed != 1 {
		err = errors.New("take the loop cloud-node from the CCM: no single container has its list of controllers")
	}
	if err != nil {
		return manifest.Set{}, err
	}
	ccm.Objects = objects
	return ccm, nil
}
