package suite

import (
	"context"
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Verdicts judge every version of every Cluster that a watch delivers.
type Verdicts struct {
	checker *conformance.Checker

	mu         sync.Mutex
	seen       int
	objections []string
}

// WatchClusters begins to judge, until the context ends.
func WatchClusters(ctx context.Context, b *bed.Bed) *Verdicts {
	GinkgoHelper()
	checker, err := conformance.New()
	Expect(err).NotTo(HaveOccurred())
	v := &Verdicts{checker: checker}
	objects, err := cache.New(b.Management.AdminConfig(), cache.Options{Scheme: b.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	informer, err := objects.GetInformer(ctx, &ucv1.Cluster{}, cache.BlockUntilSynced(false))
	Expect(err).NotTo(HaveOccurred())
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: v.judge, UpdateFunc: func(_, object any) { v.judge(object) },
	})
	Expect(err).NotTo(HaveOccurred())
	go func() { _ = objects.Start(ctx) }()
	Expect(objects.WaitForCacheSync(ctx)).To(BeTrue())
	return v
}

func (v *Verdicts) judge(object any) {
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
		v.objections = append(v.objections,
			fmt.Sprintf("%s, resource version %s: %s", cluster.Name, cluster.ResourceVersion, objection))
	}
}

// ExpectGood verdicts so far.
func (v *Verdicts) ExpectGood(s *Scene) {
	GinkgoHelper()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Logf("%d versions of Clusters were judged", v.seen)
	s.Expect(v.seen).NotTo(BeZero())
	s.Expect(v.objections).To(BeEmpty())
}
