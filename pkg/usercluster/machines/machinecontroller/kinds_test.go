package machinecontroller

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	metadatafake "k8s.io/client-go/metadata/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

func TestAKindIsReadAgainWhenItChangesOrLacksAnOwner(t *testing.T) {
	for name, tc := range map[string]struct {
		made    []*unstructured.Unstructured
		changes string
		lists   []string
	}{
		"nothing changed": {},
		"a Machine was made": {
			[]*unstructured.Unstructured{ownedBy(machineObject(t, "Machine", "n", ""), "MachineSet", "set")}, "machines", []string{"Machine"},
		},
		"a Machine of a MachineSet that no watch showed yet": {[]*unstructured.Unstructured{
			ownedBy(machineObject(t, "Machine", "n", ""), "MachineSet", "new"),
			ownedBy(machineObject(t, "MachineSet", "new", ""), "MachineDeployment", "md"),
		}, "machines", []string{"Machine", "MachineSet"}},
		"with a MachineDeployment that no watch showed yet": {[]*unstructured.Unstructured{
			ownedBy(machineObject(t, "Machine", "n", ""), "MachineSet", "new"),
			ownedBy(machineObject(t, "MachineSet", "new", ""), "MachineDeployment", "other"),
			machineObject(t, "MachineDeployment", "other", ""),
		}, "machines", []string{"Machine", "MachineSet", "MachineDeployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var lists []string
			a := adapterWith(
				interceptor.Funcs{
					List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						lists = append(lists, list.(*unstructured.UnstructuredList).GetKind())
						return c.List(ctx, list, options...)
					},
				},
				machineObject(t, "MachineDeployment", "md", ""),
				ownedBy(machineObject(t, "MachineSet", "set", ""), "MachineDeployment", "md"),
				ownedBy(machineObject(t, "Machine", "m", ""), "MachineSet", "set"),
			)
			shown := watched(t, a)
			look := func() []string {
				lists = nil
				seen, known := a.Observe(t.Context()).Get()
				g.Expect(known).To(BeTrue())
				for _, machine := range seen.Machines {
					g.Expect(seen.Sets).To(ContainElement(HaveField("UID", machine.Set)))
				}
				return lists
			}
			g.Eventually(look, 10*time.Second).Should(BeEmpty())
			for _, object := range tc.made {
				g.Expect(a.client.Create(t.Context(), object)).To(Succeed())
			}
			if tc.changes == "" {
				return
			}
			before := a.watches.Mark(resourceOf(machineKind))
			shown(tc.changes)
			g.Eventually(func() kept.Mark { return a.watches.Mark(resourceOf(machineKind)) }, 10*time.Second).ShouldNot(Equal(before))
			for i := range tc.lists {
				tc.lists[i] += "List"
			}
			g.Expect(look()).To(Equal(tc.lists))
			g.Expect(look()).To(BeEmpty())
		})
	}
}

// watched has an adapter keep what it reads; who calls what it returns has the watch of a resource show a change.
func watched(t *testing.T, a *Adapter) func(resource string) {
	scheme := metadatafake.NewTestScheme()
	NewWithT(t).Expect(metav1.AddMetaToScheme(scheme)).To(Succeed())
	shows := metadatafake.NewSimpleMetadataClient(scheme, []runtime.Object{}...)
	a.watches = watches.New(watches.Clients{Metadata: shows}, func() {}, logr.Discard())
	a.watches.Keep(kept.NewTotal(1 << 20))
	a.watches.Set(true)
	t.Cleanup(a.watches.Close)
	a.clock = clocktesting.NewFakePassiveClock(start)
	return func(resource string) {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "shown"}}
		object.SetGroupVersionKind(machineGroupVersion().WithKind(machineKind))
		made := shows.Resource(machineGroupVersion().WithResource(resource)).Namespace("kube-system").(metadatafake.MetadataClient)
		_, err := made.CreateFake(object, metav1.CreateOptions{})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
}
