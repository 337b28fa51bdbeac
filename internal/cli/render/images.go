package render

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/registries"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// Images are those of a minor of Kubernetes, as render --images lists them without a ProviderProfile.
func Images(profile provider.Profile, kubernetes string) ([]string, error) {
	flags := renderFlags{
		kubernetes: kubernetes, placement: string(ucv1.InUserCluster), uid: defaultUID,
		inherited: ucv1.InheritedConfiguration{ClusterName: defaultName},
	}
	objects, err := flags.objects(profile, profile.Example())
	if err != nil {
		return nil, err
	}
	return imagesOf(objects), nil
}

func imagesOf(objects []*unstructured.Unstructured) []string {
	var images []string
	for _, object := range objects {
		for _, field := range []string{"initContainers", "containers"} {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", field)
			for _, container := range containers {
				image, _, _ := unstructured.NestedString(container.(map[string]any), "image")
				images = append(images, image)
			}
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// pinned are the images with their digests: all or none, because a part of the list looks like all of it once it is in a file.
func pinned(ctx context.Context, images []string) ([]string, error) {
	var pinned, problems []string
	for _, answer := range registries.New().Ask(ctx, images) {
		if problem := answer.Problem(); problem != "" {
			problems = append(problems, "- "+answer.Image+": "+problem)
			continue
		}
		pinned = append(pinned, answer.Pinned())
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf(
			"--digests: the digests of %d of %d images are not known:\n%s", len(problems), len(images), strings.Join(problems, "\n"),
		)
	}
	return pinned, nil
}
