package upstream_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/upstream"
)

func TestOperatingSystemManager(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	_, err := upstream.OperatingSystemManager(folder, "ours")
	g.Expect(err).To(MatchError(ContainSubstring("hack/machine-controller.sh")))

	for name, content := range map[string]string{
		"operating.yaml": "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a\n",
		"osp.yaml":       "# Copyright\n\napiVersion: example.com/v1\nkind: OperatingSystemProfile\nmetadata:\n  name: b\n  namespace: kube-system\n",
	} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)).To(Succeed())
	}
	objects, err := upstream.OperatingSystemManager(folder, "ours")
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, object := range objects {
		names = append(names, client.ObjectKeyFromObject(object).String())
	}
	g.Expect(names).To(Equal([]string{
		"cloud-init-settings/cloud-init-getter", "cloud-init-settings/cloud-init-getter-token", "/a", "kube-system/ours",
	}))

	g.Expect(os.WriteFile(filepath.Join(folder, "z.yaml"), []byte("a: ["), 0o600)).To(Succeed())
	_, err = upstream.OperatingSystemManager(folder, "ours")
	g.Expect(err).To(MatchError(ContainSubstring("z.yaml")))
}

func TestWebhooks(t *testing.T) {
	g := NewWithT(t)
	configuration := upstream.Webhooks("https://127.0.0.1:1", []byte("ca"))
	g.Expect(configuration.Webhooks).To(HaveLen(2))
	g.Expect(*configuration.Webhooks[0].ClientConfig.URL).To(Equal("https://127.0.0.1:1/machines"))
	g.Expect(*configuration.Webhooks[1].ClientConfig.URL).To(Equal("https://127.0.0.1:1/machinedeployments"))
}
