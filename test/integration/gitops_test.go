package integration_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Argo CD and Flux apply what Git has, by server-side apply with force, whenever they look: here between all passes of a whole
// migration. They and the controller must not take each other's changes back: what a Cluster says never is again what it was
// before, and an apply of what Git had already writes nothing.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#server-side-apply
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources
func TestGitOpsToolsAndTheControllerDoNotFight(t *testing.T) {
	t.Parallel()
	for name, manager := range map[string]client.FieldOwner{"Argo CD": "argocd-controller", "Flux": "kustomize-controller"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.deployControlPlane(loopsOn()...)
			w.pool("pool", 1)
			w.secretsOfCluster()
			tool := &gitOpsTool{world: w, manager: manager, git: w.simcloudCluster()}
			tool.sync()
			w.pass()
			tool.git = w.simcloudCluster(feature(true))

			begun := w.clock.Now()
			w.until("the end", finished, w.playEverybody, tool.sync)
			for w.clock.Since(begun) < 2*time.Minute {
				w.clock.Step(10 * time.Second)
				w.playLeaders()
				w.pass()
				tool.sync()
			}
			t.Logf("in %s: %d applies by %s, of which %d wrote, and %d writes of the controller beside its status", w.clock.Since(begun),
				tool.applies, manager, tool.writes, len(tool.said)-tool.writes)
			NewWithT(t).Expect(tool.writes).To(Equal(2), "one for each state of Git")
		})
	}
}

// gitOpsTool keeps a Cluster as Git has it.
type gitOpsTool struct {
	*world
	manager         client.FieldOwner
	git             *ucv1.Cluster
	applies, writes int
	// said is all that the Cluster ever said, but for its status, the last one last.
	said []string
}

func (o *gitOpsTool) sync() {
	o.t.Helper()
	g := NewWithT(o.t)
	o.look("the controller")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.git.DeepCopy())
	g.Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(ucv1.GroupVersion().WithKind("Cluster"))
	delete(content, "status")
	before, _ := o.cluster()
	g.Expect(suite.client.Apply(o.t.Context(), client.ApplyConfigurationFromUnstructured(object), o.manager, client.ForceOwnership)).
		To(Succeed())
	after, _ := o.cluster()
	o.applies++
	if after.ResourceVersion != before.ResourceVersion {
		o.writes++
	}
	o.look(string(o.manager))
}

// look compares what the Cluster says with all that it said before.
func (o *gitOpsTool) look(writer string) {
	o.t.Helper()
	c, gone := o.cluster()
	if gone {
		return
	}
	content, err := json.Marshal([]any{c.Spec, c.Labels, c.Annotations, c.Finalizers})
	g := NewWithT(o.t)
	g.Expect(err).NotTo(HaveOccurred())
	if len(o.said) > 0 && o.said[len(o.said)-1] == string(content) {
		return
	}
	g.Expect(o.said).NotTo(ContainElement(string(content)), "%s brought back what was before", writer)
	o.said = append(o.said, string(content))
}
