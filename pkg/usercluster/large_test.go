package usercluster

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// large is the API server of a healthy cluster of the largest size that Kubernetes supports: it honors limits, and its objects
// are as large as real ones.
type large struct {
	counts  map[string]int
	objects map[string]string
	asked   atomic.Int64
	wrong   atomic.Int64
}

func newLarge() *large {
	managed := `"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"v1",` +
		`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{` +
		strings.TrimSuffix(
			strings.Repeat(`"f:node.kubernetes.io/something":{},`, 60),
			",",
		) + `}}}}]`
	labels := &strings.Builder{}
	for i := range 25 {
		_, _ = fmt.Fprintf(labels, `"example.com/label-%d":"a value of a label of a cloud",`, i)
	}
	meta := `{"metadata":{"name":"%[1]s-%[2]d","namespace":"default","uid":"00000000-0000-0000-0000-%012[2]d","labels":{` +
		strings.TrimSuffix(labels.String(), ",") + `},` + managed + `},`
	images := strings.TrimSuffix(
		strings.Repeat(
			`{"names":["registry.example/some/image@sha256:0123456789abcdef","registry.example/some/image:v1.2.3"],"sizeBytes":12345678},`,
			50,
		),
		",",
	)
	containers := strings.TrimSuffix(
		strings.Repeat(
			`{"name":"a","image":"registry.example/some/image:v1","args":["--a","--b"],"env":[{"name":"A","value":"b"}]},`,
			3,
		),
		",",
	)
	return &large{
		counts: map[string]int{"nodes": 5000, "csinodes": 5000, "persistentvolumes": 5000, "volumeattachments": 5000, "services": 1000,
			"machines": 5000, "pods": 20000, "deployments": 2000, "poddisruptionbudgets": 500},
		objects: map[string]string{
			"nodes":             meta + `"spec":{"providerID":"openstack:///%[2]d"},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.1"}],"images":[` + images + `]}}`,
			"csinodes":          meta + `"spec":{"drivers":[{"name":"cinder.csi.openstack.org","nodeID":"%[2]d"}]}}`,
			"persistentvolumes": meta + `"spec":{"cinder":{"volumeID":"a"},"claimRef":{"namespace":"a","name":"b"}},"status":{"phase":"Bound"}}`,
			"pods":              meta + `"spec":{"nodeName":"nodes-1","containers":[` + containers + `]},"status":{"phase":"Running"}}`,
		},
	}
}

// ServeHTTP implements http.Handler.
func (l *large) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if r.URL.Path == readyz {
		return
	}
	l.asked.Add(1)
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	from, _ := strconv.Atoi(query.Get("continue"))
	if err != nil || limit < 1 || limit > reads.PageSize {
		l.wrong.Add(1)
	}
	format := l.objects[resource]
	if format == "" {
		format = l.objects["persistentvolumes"]
	}
	to, following := min(from+limit, l.counts[resource]), ""
	if to < l.counts[resource] {
		following = strconv.Itoa(to)
	}
	_, _ = fmt.Fprintf(
		w,
		`{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1","continue":%q},"items":[`,
		versionOf(r),
		kindOf(r),
		following,
	)
	for i := from; i < to; i++ {
		if i > from {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = fmt.Fprintf(w, format, resource, i)
	}
	_, _ = io.WriteString(w, "]}")
}

func TestALargeHealthyClusterIsRead(t *testing.T) {
	g := NewWithT(t)
	l := newLarge()
	s := sessionTo(t, serverOf(t, l.ServeHTTP), testOptions())
	ctx := reads.WithBudget(t.Context())
	asked, kept := 0, int64(0)
	peak := peakOf(t, func() {
		nodes := s.Facts.Nodes(ctx)
		g.Expect(nodes.Why()).To(BeEmpty())
		g.Expect(nodes.Value()).To(HaveLen(5000))
		machines := s.Machines.Observe(ctx)
		g.Expect(machines.Why()).To(BeEmpty())
		g.Expect(machines.Value().Machines).To(HaveLen(5000))
		inventory := s.Facts.Inventory(ctx)
		g.Expect(inventory.Why()).To(BeEmpty())
		g.Expect(inventory.Value().Volumes).To(HaveLen(5000))
		g.Expect(inventory.Value().Attachments).To(HaveLen(5000))
		asked, kept = int(l.asked.Load()), reads.Kept(ctx)
		g.Expect(lookForOthers(ctx, s).Why()).To(BeEmpty())
		g.Expect(s.Preflight.Pods(ctx, observation.Registries{}).Why()).To(BeEmpty())
		pods := s.Facts.Evictable(ctx)
		g.Expect(pods.Why()).To(BeEmpty())
		g.Expect(pods.Value().OnNode).To(HaveKeyWithValue("nodes-1", 20000))
		g.Expect(s.Preflight.NodeDetails(ctx).Value()).To(HaveLen(5000))
	})
	t.Logf("peak %d KiB over the baseline, %d KiB kept of which %d in each pass, %d requests of which %d in each pass",
		peak>>10, reads.Kept(ctx)>>10, kept>>10, l.asked.Load(), asked)
	g.Expect(l.wrong.Load()).To(BeZero(), "each list has a limit")
	g.Expect(asked).To(BeNumerically("<", 500), "requests of each pass")
	g.Expect(kept).To(BeNumerically("<", reads.MaxKept*2/3), "there is room")
}
