package bed

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const managerNamespace = "ccm-migration-system"

// InstallManager applies config/default-self-managed, or installs the chart, as in production but for what loopback addresses
// make necessary: one replica that listens on its own address, and webhooks that are reached by URL.
func (b *Bed) InstallManager() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return err
	}
	install := b.applyManager
	if b.options.Helm != "" {
		install = b.installChart
	}
	if err := install(port); err != nil {
		return err
	}
	return b.WaitForDeployment(managerNamespace, "ccm-migration-controller-manager")
}

func (b *Bed) applyManager(port int) error {
	b.options.Progress("installing the manager from config/default-self-managed")
	return b.applyKustomization(b.Client, "default-self-managed", func(object *unstructured.Unstructured) error {
		switch object.GetKind() {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			return useURL(object, port)
		case "Deployment":
			return adaptManager(object, port, b.options.Waits)
		}
		return nil
	})
}

func useURL(object *unstructured.Unstructured, port int) error {
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, entry := range webhooks {
		webhook := entry.(map[string]any)
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://localhost:%d%s", port, path)}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

func adaptManager(object *unstructured.Unstructured, port int, waits string) error {
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return err
	}
	container := containers[0].(map[string]any)
	container["image"] = Image("ccm-migration-controller")
	container["command"] = []any{"ccm-migration-controller"}
	container["args"] = append(container["args"].([]any), loopbackArguments(port, waits)...)
	container["env"] = append(container["env"].([]any), podAddress())
	if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"); err != nil {
		return err
	}
	return unstructured.SetNestedField(object.Object, int64(1), "spec", "replicas")
}

// loopbackArguments win over those of an installation.
func loopbackArguments(port int, waits string) []any {
	arguments := []any{
		"--health-probe-bind-address=$(POD_IP):8081",
		"--metrics-bind-address=$(POD_IP):8443",
		"--webhook-host=localhost",
		"--webhook-port=" + strconv.Itoa(port),
		"--allow-user-cluster-addresses=127.0.0.0/8",
		"--max-unmanaged-starts=1000", // A suite starts many at once.
	}
	if waits != "" {
		arguments = append(arguments, "--unsafe-waits="+waits)
	}
	return arguments
}

func podAddress() map[string]any {
	return map[string]any{
		"name": "POD_IP", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}},
	}
}

// applyKustomization renders a folder of config/ and applies it, kinds that others need first.
func (b *Bed) applyKustomization(c client.Client, folder string, adapt func(*unstructured.Unstructured) error) error {
	objects, err := b.render(folder, adapt)
	if err != nil {
		return err
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(stage(a), stage(b)) })
	for _, object := range objects {
		err := c.Apply(b.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("testbed"), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func stage(object *unstructured.Unstructured) int {
	if kind := object.GetKind(); kind == "Namespace" || kind == "CustomResourceDefinition" {
		return 0
	}
	return 1
}

func (b *Bed) render(folder string, adapt func(*unstructured.Unstructured) error) ([]*unstructured.Unstructured, error) {
	options := &krusty.Options{Reorder: krusty.ReorderOptionUnspecified, PluginConfig: types.DisabledPluginConfig()}
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), filepath.Join(b.options.ConfigDir, folder))
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, 0, resources.Size())
	for _, resource := range resources.Resources() {
		content, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, err
		}
		if adapt != nil {
			if err := adapt(object); err != nil {
				return nil, err
			}
		}
		objects = append(objects, object)
	}
	return objects, nil
}
