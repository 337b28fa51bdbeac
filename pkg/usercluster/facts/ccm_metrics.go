package facts

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// ccmPort is where a CCM serves its metrics, by TLS: https://github.com/kubernetes/cloud-provider/blob/v0.30.14/ports.go
	ccmPort = 10258
	// metricsPeriod is how often they are read, refusedPeriod how often where they cannot be.
	metricsPeriod = time.Minute
	refusedPeriod = 10 * time.Minute
)

// ccmMetrics remembers the first histograms of each pod: what came before is of Nodes that are older than the CCM.
type ccmMetrics struct {
	next  time.Time
	first map[string]map[slo.Indicator]slo.Histogram
	seen  map[slo.Indicator]slo.Counts
}

// ccmCounts are what the CCM itself says, nothing where it cannot be asked: the proxy of the API server takes our credentials
// away, so that only a CCM that allows everybody to read its metrics answers, and only those who may use the proxy get there.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/staging/src/k8s.io/apiserver/pkg/endpoints/filters/authentication.go#L105
func (r *Reader) ccmCounts(ctx context.Context, id manifest.Identity) map[slo.Indicator]slo.Counts {
	memory, now := &r.measured.ccm, r.clock.Now()
	if r.network == nil || now.Before(memory.next) {
		return maps.Clone(memory.seen)
	}
	pods, known := r.leases.PodsOf(ctx, id, nil).Get()
	memory.next, memory.seen = now.Add(refusedPeriod), nil
	if !known || len(pods) == 0 {
		return nil
	}
	counts := map[slo.Indicator]slo.Counts{}
	for _, pod := range pods {
		histograms, err := readMetrics(ctx, r.network.Probe, id.ServiceAccountNamespace, pod)
		if err != nil {
			return nil // A part of the pods would be a part of the truth.
		}
		memory.add(pod, histograms, counts)
	}
	memory.next, memory.seen = now.Add(metricsPeriod), counts
	return maps.Clone(counts)
}

func (m *ccmMetrics) add(pod string, histograms map[slo.Indicator]slo.Histogram, counts map[slo.Indicator]slo.Counts) {
	if m.first == nil {
		m.first = map[string]map[slo.Indicator]slo.Histogram{}
	}
	if _, known := m.first[pod]; !known {
		if len(m.first) >= 64 {
			clear(m.first)
		}
		m.first[pod] = histograms
	}
	for indicator, histogram := range histograms {
		counts[indicator] = counts[indicator].Add(histogram.Since(m.first[pod][indicator]).Counts())
	}
}

func readMetrics(ctx context.Context, c rest.Interface, namespace, pod string) (map[slo.Indicator]slo.Histogram, error) {
	ctx, cancel := context.WithTimeout(ctx, reads.RequestTimeout)
	defer cancel()
	body, err := c.Get().AbsPath(
		fmt.Sprintf("/api/v1/namespaces/%s/pods/https:%s:%d/proxy/metrics", namespace, pod, ccmPort),
	).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of pod %s/%s: %w", namespace, pod, err)
	}
	defer func() { _ = body.Close() }()
	return slo.ParseHistograms(body)
}

// WithCCM adds what the CCM itself says to what was measured.
func (r *Reader) WithCCM(
	ctx context.Context,
	measured observation.Observed[slo.Seen],
	id manifest.Identity,
) observation.Observed[slo.Seen] {
	seen, known := measured.Get()
	if !known {
		return measured
	}
	r.measured.mu.Lock()
	defer r.measured.mu.Unlock()
	seen.CCM = r.ccmCounts(ctx, id)
	return observation.Known(seen)
}
