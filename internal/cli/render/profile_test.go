package render_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

const profileHead = "apiVersion: usercluster.k8c.io/v1alpha1\nkind: ProviderProfile\nmetadata: {name: draft}\nspec:\n" +
	"  providerName: openstack\n"

func TestRenderWithAProfile(t *testing.T) {
	config := configs(t)["a file"]
	for name, tc := range map[string]struct {
		profile string
		args    []string
		code    int
		stdout  string
		stderr  string
	}{
		"images come from the mirror": {
			profile: profileHead + "  mirrors: [{source: registry.k8s.io, mirror: mirror.example.com/k8s}]\n", args: []string{"--images"},
			stdout: "mirror.example.com/k8s/provider-os/cinder-csi-plugin:v1.30.3\n" +
				"mirror.example.com/k8s/provider-os/openstack-cloud-controller-manager:v1.30.3\n" +
				"mirror.example.com/k8s/sig-storage/csi-attacher",
		},
		"arguments are added": {
			profile: profileHead +
				"  workloads: [{name: openstack-cloud-controller-manager, extraArguments: [--concurrent-service-syncs=3]}]\n",
			stdout: "- --concurrent-service-syncs=3\n",
		},
		"all problems are said": {
			profile: profileHead + "  images: [{image: a, tag: v1}]\n  workloads: [{name: b}]\n", code: 1,
			stderr: "ProviderProfile draft cannot be used:\n- spec.images[0].image \"a\" is not in the catalogue",
		},
		"the profile of another provider": {
			profile: "apiVersion: usercluster.k8c.io/v1alpha1\nkind: ProviderProfile\nmetadata: {name: simcloud}\n" +
				"spec: {providerName: simcloud}\n",
			code: 1, stderr: `ProviderProfile simcloud is for provider "simcloud", not for openstack`,
		},
		"a field that no one knows": {
			profile: profileHead + "  mirror: []\n", code: 1, stderr: `unknown field "mirror"`,
		},
		"another kind": {
			profile: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", code: 1,
			stderr: "is not the manifest of a ProviderProfile: write apiVersion usercluster.k8c.io/v1alpha1",
		},
		"no YAML": {profile: "{", code: 1, stderr: "is not a ProviderProfile: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := filepath.Join(t.TempDir(), "profile.yaml")
			g.Expect(os.WriteFile(file, []byte(tc.profile), 0o600)).To(Succeed())
			arguments := []string{"render", "--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--profile", file}
			stdout, stderr, code := execute(append(arguments, tc.args...)...)
			g.Expect(code).To(Equal(tc.code), stderr)
			g.Expect(stdout).To(ContainSubstring(tc.stdout))
			g.Expect(stderr).To(ContainSubstring(tc.stderr))
			if tc.code != 0 {
				g.Expect(stdout).To(BeEmpty())
			}
		})
	}
	_, stderr, code := execute(
		"render", "--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--profile", config+"x",
	)
	g := NewWithT(t)
	g.Expect(code).To(Equal(1))
	g.Expect(stderr).To(ContainSubstring("--profile: open "))
}

func TestTheSampleProfileCanBeUsed(t *testing.T) {
	g := NewWithT(t)
	stdout, stderr, code := execute("render", "--provider", "openstack", "--kubernetes", "1.30", "--cloud-config",
		configs(t)["a file"],
		"--profile", filepath.Join("..", "..", "..", "config", "samples", "provider_profile.yaml"), "--images")
	g.Expect(stderr).To(BeEmpty())
	g.Expect(code).To(Equal(0))
	g.Expect(stdout).To(
		ContainSubstring("mirror.example.com/k8s/provider-os/openstack-cloud-controller-manager:v1.30.3@sha256:0000"),
	)
}
