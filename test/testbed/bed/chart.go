package bed

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// installChart has Helm install the manager, with values alone; a chart has none for webhooks that are reached by URL.
func (b *Bed) installChart(port int) error {
	b.options.Progress("installing the manager with Helm from charts/ccm-migration-controller")
	repository, tag, _ := strings.Cut(Image("ccm-migration-controller"), ":")
	values, err := json.Marshal(map[string]any{
		"image": map[string]any{"repository": repository, "tag": tag}, "replicas": 1,
		"extraArgs": loopbackArguments(port, b.options.Waits), "extraEnv": []any{podAddress()},
	})
	if err != nil {
		return err
	}
	folder := filepath.Join(b.options.Dir, "helm")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"values.json": values, "kubeconfig": b.Management.Kubeconfig(b.Management.AdminConfig()),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	command := exec.CommandContext(b.ctx, b.options.Helm, "upgrade", "--install", "ccm-migration-controller",
		filepath.Join(b.options.ConfigDir, "..", "charts", "ccm-migration-controller"), "--namespace="+managerNamespace,
		"--create-namespace", "--kubeconfig="+filepath.Join(folder, "kubeconfig"), "--values="+filepath.Join(folder, "values.json"))
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+folder, "HELM_CONFIG_HOME="+folder, "HELM_DATA_HOME="+folder)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("helm: %w: %s", err, said)
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		if err := b.reachByURL(kind, port); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bed) reachByURL(kind string, port int) error {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("admissionregistration.k8s.io/v1")
	object.SetKind(kind)
	if err := b.Client.Get(b.ctx, client.ObjectKey{Name: "ccm-migration-controller"}, object); err != nil {
		return err
	}
	before := client.MergeFrom(object.DeepCopy())
	if err := useURL(object, port); err != nil {
		return err
	}
	return b.Client.Patch(b.ctx, object, before)
}
