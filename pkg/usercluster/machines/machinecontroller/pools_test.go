package machinecontroller

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// poolObject is a MachineDeployment of two Machines.
func poolObject(change func(map[string]any)) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "kube-system", "name": "workers"}, "spec": map[string]any{"replicas": int64(2)},
	}}
	object.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
	change(object.Object)
	return object
}

func TestPoolsAreReadAsTheirOwnersSeeThem(t *testing.T) {
	g := NewWithT(t)
	pool := func(change func(map[string]any)) preflight.Pool {
		object := poolObject(change)
		return toPool(object)
	}
	g.Expect(pool(func(map[string]any) {})).To(Equal(preflight.Pool{
		Ref: observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "workers"}, Replicas: 2, Surge: 1,
	}))
	surge := func(value any, replicas int64) func(map[string]any) {
		return func(object map[string]any) {
			object["spec"] = map[string]any{
				"replicas": replicas,
				"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": value}},
			}
		}
	}
	g.Expect(pool(surge("25%", 5)).Surge).To(Equal(2))
	g.Expect(pool(surge(int64(3), 5)).Surge).To(Equal(3))
	g.Expect(pool(surge("25%", 5)).Replicas).To(Equal(5))
	g.Expect(pool(surge(int64(0), 5)).Surge).To(BeZero())
	g.Expect(pool(surge("a lot", 5)).Surge).To(Equal(1))
	g.Expect(pool(surge(int64(3), 0)).Surge).To(BeZero())
	marked := func(kind, name, value string) func(map[string]any) {
		return func(object map[string]any) {
			object["metadata"].(map[string]any)[kind] = map[string]any{name: value}
		}
	}
	g.Expect(pool(marked("annotations", "argocd.argoproj.io/tracking-id", "x")).Tool).To(Equal("Argo CD application x"))
	g.Expect(pool(marked("labels", "kustomize.toolkit.fluxcd.io/name", "x")).Tool).To(Equal("Flux Kustomization x"))
	g.Expect(pool(marked("labels", "app.kubernetes.io/managed-by", "Helm")).Tool).To(Equal("Helm"))
	g.Expect(pool(marked("annotations", "cluster.k8s.io/cluster-api-autoscaler-node-group-max-size", "9")).Autoscaled).To(BeTrue())
}
