package usercluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

func TestAReadIsKeptUntilSomethingChanges(t *testing.T) {
	g := NewWithT(t)
	api, options := newAPIServer(t), quick()
	total := kept.NewTotal(1 << 20)
	options.Kept = total
	r := startRegistry(t, options)
	key := r.put(t, "a", api.kubeconfig("valid"))
	g.Eventually(r.state(key), patience).Should(beReachable())
	session, _ := r.Session(key)
	look := func() int32 {
		before := api.listed.Load()
		g.Expect(session.Facts.Nodes(t.Context()).IsKnown()).To(BeTrue())
		return api.listed.Load() - before
	}
	g.Expect([]int32{look(), look()}).To(Equal([]int32{1, 1}), "no watch would show a change")

	r.SetMigrating(key, true)
	g.Eventually(look, patience).Should(BeZero(), "while watches show none")
	settle(g, r)
	g.Expect(look()).To(BeZero())
	g.Expect(total.Held()).To(BeNumerically(">", 0))
	g.Expect(session.Facts.Nodes(kept.Live(t.Context())).IsKnown()).To(BeTrue())
	g.Expect(look()).To(BeZero(), "what a proof read is kept, too")

	api.changes <- "/api/v1/nodes"
	g.Eventually(r.events, patience).Should(Receive())
	g.Expect(look()).To(Equal(int32(1)), "who is woken by a change sees it")

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	patch := client.RawPatch(types.MergePatchType, []byte("{}"))
	g.Expect(session.client.Patch(t.Context(), node, patch)).To(Succeed())
	g.Expect(look()).To(Equal(int32(1)), "what we wrote ourselves need not have been shown")
	g.Expect(session.DryRun().client.Patch(t.Context(), node, patch)).To(Succeed())
	g.Expect(look()).To(BeZero(), "a dry run writes nothing")

	r.SetMigrating(key, false)
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 2))
	g.Expect(total.Held()).To(BeZero(), "nothing of it stays")
	g.Expect([]int32{look(), look()}).To(Equal([]int32{1, 1}), "nothing shows changes any more")
}
