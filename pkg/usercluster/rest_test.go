package usercluster

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkFinishedClusters measures what the connections of a thousand finished clusters keep, and what they ask for in the two
// minutes after the first look, without the passes of the controller. The API server runs in the same process, so its side of
// each connection counts, too. docs/operations.md has the result; it is measured once, whatever b.N is.
func BenchmarkFinishedClusters(b *testing.B) {
	const clusters, period = 1000, 2 * time.Minute
	g := NewWithT(b)
	api := newAPIServer(b)
	before := inUse()
	r := startRegistry(b, Options{})
	keys := make([]types.NamespacedName, clusters)
	for i := range keys {
		keys[i] = r.put(b, fmt.Sprintf("c%d", i), api.kubeconfig("valid"))
	}
	go func() {
		for range r.events { // Otherwise the registry would wait.
		}
	}()
	g.Eventually(api.watches.Load, 5*time.Minute).Should(BeNumerically("==", 2*clusters))
	for _, key := range keys {
		session, _ := r.Session(key)
		session.Leases.GuardLeader("kube-system", "cloud-controller-manager")
	}
	asked := api.requests.Load()
	deadline := time.After(period)
	for b.Loop() {
	}
	<-deadline
	b.ReportMetric(float64(api.requests.Load()-asked)/clusters/period.Minutes(), "requests/cluster-minute")
	b.ReportMetric(float64(inUse()-before)/clusters/(1<<10), "KiB/cluster")
	b.ReportMetric(float64(runtime.NumGoroutine())/clusters, "goroutines/cluster")
	b.ReportMetric(0, "ns/op")
	runtime.KeepAlive(keys)
}

// inUse is what the heap and the stacks hold after a collection.
func inUse() int64 {
	runtime.GC()
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(read)
	return int64(read[0].Value.Uint64() + read[1].Value.Uint64())
}
