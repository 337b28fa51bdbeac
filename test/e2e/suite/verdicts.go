package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// verdicts judge every version of every Cluster that a watch delivers.
type verdicts struct {
	checker *conformance.Checker

	mu         sync.Mutex
	seen       int
	objections []string
}

func watchClusters(t *testing.T, b *bed.Bed) *verdicts {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	checker, err := conformance.New()
	g.Expect(err).NotTo(HaveOccurred())
	v := &verdicts{checker: checker}
	objects, err := cache.New(b.Management.AdminConfig(), cache.Options{Scheme: b.Client.Scheme()})
	g.Expect(err).NotTo(HaveOccurred())
	informer, err := objects.GetInformer(ctx, &ucv1.Cluster{}, cache.BlockUntilSynced(false))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: v.judge, UpdateFunc: func(_, object any) { v.judge(object) },
	})
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _ = objects.Start(ctx) }()
	g.Expect(objects.WaitForCacheSync(ctx)).To(BeTrue())
	return v
}

func (v *verdicts) judge(object any) {
	cluster, ok := object.(*ucv1.Cluster)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if cluster.Status.ObservedGeneration != cluster.Generation {
		return // The controller has not looked yet.
	}
	v.seen++
	for _, objection := range v.checker.Objections(cluster) {
		v.objections = append(v.objections, fmt.Sprintf("%s, resource version %s: %s", cluster.Name, cluster.ResourceVersion, objection))
	}
}

func (v *verdicts) expectGood(t *testing.T) {
	g := NewWithT(t)
	v.mu.Lock()
	defer v.mu.Unlock()
	t.Logf("%d versions of Clusters were judged", v.seen)
	g.Expect(v.seen).NotTo(BeZero())
	g.Expect(v.objections).To(BeEmpty())
}
