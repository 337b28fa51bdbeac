package manifest_test

import (
	"errors"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kube-system, name: a}
spec:
  template:
    spec:
      containers:
      - {name: c, image: registry.example/c}
`

func files(text string) fstest.MapFS {
	return fstest.MapFS{"objects.yaml": &fstest.MapFile{Data: []byte(text)}}
}

func TestManifestsThatAreBroken(t *testing.T) {
	tests := map[string]struct{ file, text, want string }{
		"a file that is not there": {"other.yaml", "", "read embedded manifest other.yaml"},
		"text that is no YAML":     {"objects.yaml", "a: [", "read object 1 of embedded manifest objects.yaml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Read(files(test.text), test.file)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestReadLeavesOutEmptyDocuments(t *testing.T) {
	g := NewWithT(t)
	objects, err := manifest.Read(files("# a comment\n---\n"+deployment+"---\n"), "objects.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveLen(1))
}

func TestPodsThatCannotBeChanged(t *testing.T) {
	change := func(_ string, pod *corev1.PodTemplateSpec) error {
		return errors.Join(
			manifest.PinImages(pod, map[string]string{"registry.example/c": "v1"}),
			manifest.AddArguments(pod, "c", "--flag"),
		)
	}
	tests := map[string]struct{ container, want string }{
		"a field that does not exist":    {"{name: c, image: registry.example/c, comand: [x]}", "unknown field"},
		"an image without a tag":         {"{name: c, image: registry.example/d}", "no tag for image registry.example/d"},
		"a container that is not there":  {"{name: d, image: registry.example/c}", `no container "c"`},
		"a container of the wrong shape": {"just text", "Deployment kube-system/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := manifest.Read(files(deployment+"      - "+test.container+"\n"), "objects.yaml")
			g.Expect(err).NotTo(HaveOccurred())
			containers := objects[0].Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			containers["containers"] = containers["containers"].([]any)[1:]
			g.Expect(manifest.ChangePods(objects, change)).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestChecksum(t *testing.T) {
	g := NewWithT(t)
	first := manifest.Checksum(map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	g.Expect(first).To(HaveLen(64))
	g.Expect(manifest.Checksum(map[string][]byte{"b": []byte("2"), "a": []byte("1")})).To(Equal(first))
	g.Expect(manifest.Checksum(map[string][]byte{"a": []byte("12"), "b": nil})).NotTo(Equal(first))
	g.Expect(manifest.Checksum(map[string][]byte{"a": []byte("1b"), "": []byte("2")})).NotTo(Equal(first))
}
