package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/registries"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

func TestImagesAreReported(t *testing.T) {
	there := func(platforms ...string) observation.Observed[registries.Manifest] {
		return observation.Known(registries.Manifest{Digest: "sha256:1", Platforms: platforms})
	}
	absent := observation.Absent[registries.Manifest]()
	notAsked := observation.Unknown[registries.Manifest]("cannot connect.")
	for about, tc := range map[string]struct {
		manifests []observation.Observed[registries.Manifest]
		code      int
		want      []string
	}{
		"all are there": {
			manifests: []observation.Observed[registries.Manifest]{there(), there("linux/amd64", "linux/arm64")},
			want: []string{
				"ok             a:v1@sha256:1", "ok             a:v1@sha256:1", "2 images: 2 ok, 0 absent, 0 could not be asked for",
			},
		},
		"one is absent": {
			manifests: []observation.Observed[registries.Manifest]{there(), absent, there()}, code: 1,
			want: []string{
				"ok             a:v1@sha256:1", "absent         a:v1: its registry answered 404", "ok  ",
				"3 images: 2 ok, 1 absent, 0 could not be asked for",
			},
		},
		"one is absent for the platform of the catalogue": {
			manifests: []observation.Observed[registries.Manifest]{there("linux/arm64", "windows/amd64")}, code: 1,
			want: []string{"absent         a:v1: its index has no linux/amd64.", "1 images: 0 ok, 1 absent, 0 could not be asked for"},
		},
		"one could not be asked for": {
			manifests: []observation.Observed[registries.Manifest]{notAsked, there()}, code: 3,
			want: []string{"could not ask  a:v1: cannot connect.", "ok  ", "2 images: 1 ok, 0 absent, 1 could not be asked for"},
		},
		"one that no one asked for is not there": {
			manifests: []observation.Observed[registries.Manifest]{{}}, code: 3,
			want: []string{"could not ask  a:v1: it was not looked at", "1 images: 0 ok, 0 absent, 1 could not be asked for"},
		},
		"what is absent counts more than what could not be asked for": {
			manifests: []observation.Observed[registries.Manifest]{notAsked, absent}, code: 1,
			want: []string{"could not ask  a:v1", "absent         a:v1", "2 images: 0 ok, 1 absent, 1 could not be asked for"},
		},
	} {
		t.Run(about, func(t *testing.T) {
			g, out := NewWithT(t), &bytes.Buffer{}
			var answers []registries.Answer
			for _, manifest := range tc.manifests {
				answers = append(answers, registries.Answer{Image: "a:v1", Manifest: manifest})
			}
			g.Expect(terminal.ExitCode(report(out, answers))).To(Equal(tc.code))
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			g.Expect(lines).To(HaveLen(len(tc.want)))
			for i, want := range tc.want {
				g.Expect(lines[i]).To(HavePrefix(want))
			}
		})
	}
}

func TestEveryImageOfTheCatalogueIsAskedForOnce(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	asked := map[string]int{}
	err := run(t.Context(), out, provider.New(), func(_ context.Context, images []string) []registries.Answer {
		for _, image := range images {
			asked[image]++
		}
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.String()).To(Equal("0 images: 0 ok, 0 absent, 0 could not be asked for\n"))
	for _, image := range []string{
		// The oldest and the newest minor of a provider, and another provider.
		"registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.24.6",
		"registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0",
		"docker.io/hetznercloud/hcloud-csi-driver:v2.22.1",
	} {
		g.Expect(asked).To(HaveKeyWithValue(image, 1))
	}
	for image, times := range asked {
		g.Expect(times).To(Equal(1), image)
		g.Expect(image).NotTo(HavePrefix("registry.example/"), "the programs of the testbed are in no registry")
	}
}
