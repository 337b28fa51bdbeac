package usercluster

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// mostOfOne is what one hostile user cluster may cost the manager.
const mostOfOne = 64 << 20

// floods is an API server that answers one kind of request without end, and all others as an empty cluster does.
type floods struct {
	// to says which requests it answers so, with what begins the answer and what goes on for ever.
	to          func(*http.Request) bool
	begin, goOn string
	kind        string
	zipped      bool
	// pages ends each answer with this, below the bound.
	pages        string
	once         sync.Once
	chunk        string
	size         int64
	sent, asked  atomic.Int64
	largest      atomic.Int64
	withoutLimit atomic.Int64
}

// ServeHTTP implements http.Handler.
func (h *floods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if query := r.URL.Query(); query.Has("sendInitialEvents") ||
		isList(r) && (query.Get("limit") == "" || query.Get("resourceVersion") != "") {
		h.withoutLimit.Add(1)
	}
	switch {
	case h.to(r):
		h.asked.Add(1)
		h.flood(w, r)
	case r.URL.Path == readyz:
	case r.URL.Query().Has("watch"):
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_, _ = io.WriteString(
			w,
			`{"apiVersion":"`+versionOf(r)+`","kind":"`+kindOf(r)+`","metadata":{"resourceVersion":"1"},"items":[]}`,
		)
	}
}

func isList(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "api") && r.URL.Path != "/api" &&
		!r.URL.Query().Has("watch") &&
		!strings.Contains(r.URL.Path, "leases/")
}

// kindOf a list, as far as clients look at it.
func kindOf(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		return "PartialObjectMetadataList"
	}
	return map[string]string{"nodes": "NodeList", "services": "ServiceList", "persistentvolumes": "PersistentVolumeList",
		"pods":     "PodList",
		"machines": "MachineList", "machinesets": "MachineSetList", "machinedeployments": "MachineDeploymentList",
		"csinodes": "CSINodeList", "volumeattachments": "VolumeAttachmentList", "storageclasses": "StorageClassList",
		"deployments": "DeploymentList", "daemonsets": "DaemonSetList", "statefulsets": "StatefulSetList",
		"events": "EventList", "poddisruptionbudgets": "PodDisruptionBudgetList"}[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
}

func versionOf(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		return "meta.k8s.io/v1"
	}
	path := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/"), "/")
	if path[0] == "v1" {
		return "v1"
	}
	return path[0] + "/" + path[1]
}

func (h *floods) flood(w http.ResponseWriter, r *http.Request) {
	if h.kind != "" {
		w.Header().Set("Content-Type", h.kind)
	}
	if h.zipped {
		w.Header().Set("Content-Encoding", "gzip")
	}
	h.once.Do(func() {
		h.chunk = strings.Repeat(h.goOn, 1+(32<<10)/len(h.goOn))
		if h.size = int64(len(h.chunk)); h.zipped {
			h.begin, h.chunk = zipped(h.begin), zipped(h.chunk)
		}
	})
	begin, most := h.begin, int64(1<<30)
	if h.pages != "" {
		begin, most = strings.NewReplacer("NodeList", kindOf(r), `"v1"`, `"`+versionOf(r)+`"`).Replace(begin), maxAnswer-2*h.size
	}
	var sent int64
	_, err := io.WriteString(w, begin)
	for err == nil && r.Context().Err() == nil && sent < most {
		_, err = io.WriteString(w, h.chunk)
		sent += h.size
		h.sent.Add(h.size)
	}
	_, _ = io.WriteString(w, h.pages)
	for most := h.largest.Load(); sent > most && !h.largest.CompareAndSwap(most, sent); most = h.largest.Load() {
	}
}

// zipped texts can be put one after the other.
func zipped(text string) string {
	out := &strings.Builder{}
	zip := gzip.NewWriter(out)
	_, _ = io.WriteString(zip, text)
	_ = zip.Close()
	return out.String()
}

func lists(r *http.Request) bool   { return isList(r) }
func isWatch(r *http.Request) bool { return r.URL.Query().Has("watch") }
func probes(r *http.Request) bool  { return r.URL.Path == readyz }

// peakOf is by how much the objects on the heap grew meanwhile, at most. What is no longer used counts until it is collected,
// which happens as often as in the manager, whatever GOGC the tests run with.
func peakOf(t *testing.T, what func()) int64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	sample := func() int64 {
		read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(read)
		return int64(read[0].Value.Uint64())
	}
	runtime.GC()
	before, peak := sample(), int64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				peak = max(peak, sample()-before)
			}
		}
	}()
	what()
	close(stop)
	<-stopped
	return peak
}

// everything is what a pass and the registry read.
func everything(ctx context.Context, s *Session) (unknown []string) {
	ctx, cancel := context.WithTimeout(reads.WithBudget(ctx), 20*time.Second)
	defer cancel()
	if err := s.probe(ctx); err != nil {
		unknown = append(unknown, "the probe "+reads.Describe(err))
	}
	s.lookForMachines(ctx)
	note := func(why string) {
		if why != "" {
			unknown = append(unknown, why)
		}
	}
	note(s.Facts.Nodes(ctx).Why())
	note(s.Machines.Observe(ctx).Why())
	note(s.Facts.Inventory(ctx).Why())
	note(lookForOthers(ctx, s).Why())
	note(s.Preflight.Pods(ctx, observation.Registries{}).Why())
	note(s.Facts.Evictable(ctx).Why())
	note(s.Leases.Lease(ctx, "kube-system", "a").Why())
	return unknown
}

func TestOneHostileClusterCostsLittle(t *testing.T) {
	const listBegins, event = `{"apiVersion":"v1","kind":"NodeList","metadata":{"resourceVersion":"1","continue":"x"},"items":[`,
		`{"type":"MODIFIED","object":{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` +
			`"metadata":{"name":"a","resourceVersion":"2"}}}` + "\n"
	long := strings.Repeat("a", 1<<10)
	announced := string(binary.BigEndian.AppendUint32(nil, 1<<31))
	for name, h := range map[string]*floods{
		"lists without end":                   {to: lists, begin: listBegins, goOn: `{"metadata":{"name":"` + long + `"}},`},
		"lists without end, zipped":           {to: lists, begin: listBegins, goOn: `{"metadata":{"name":"` + long + `"}},`, zipped: true},
		"one name without end":                {to: lists, begin: listBegins + `{"metadata":{"name":"`, goOn: long},
		"spaces without end, zipped":          {to: lists, goOn: "        ", zipped: true},
		"/readyz without end":                 {to: probes, goOn: long},
		"/readyz without end, zipped":         {to: probes, goOn: long, zipped: true},
		"pages without end":                   {to: lists, begin: listBegins, goOn: `{"metadata":{"name":"` + long + `","labels":{"a":"` + long + `"}},"spec":{"drivers":[{"name":"` + long + `"}]}},`, pages: `{}]}`},
		"pages with as many objects as fit":   {to: lists, begin: listBegins, goOn: `{},`, pages: `{}]}`},
		"pages with as many maps as fit":      {to: lists, begin: listBegins, goOn: `{"metadata":{"labels":{"":""}}},`, pages: `{}]}`},
		"pods with as many containers as fit": {to: lists, begin: listBegins + `{"spec":{"containers":[`, goOn: `{},`, pages: `{}]}}]}`},
		"watches that flood":                  {to: isWatch, goOn: event},
		"watches that flood, zipped":          {to: isWatch, goOn: event, zipped: true},
		"watches with garbage":                {to: isWatch, goOn: "garbage"},
		"watches with an event without end":   {to: isWatch, begin: `{"type":"MODIFIED","object":{"metadata":{"name":"`, goOn: long},
		"watches with an event of lines":      {to: isWatch, begin: `{"type":"MODIFIED","object":{"a":[`, goOn: "1,\n"},
		"watches with protobuf without end":   {to: isWatch, kind: "application/vnd.kubernetes.protobuf;stream=watch", begin: announced, goOn: "\x00"},
		"watches with an error without end":   {to: isWatch, begin: `{"type":"ERROR","object":{"message":"`, goOn: long},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := sessionTo(t, serverOf(t, h.ServeHTTP), testOptions())
			var unknown []string
			peak := peakOf(t, func() {
				s.setWatching(true)
				unknown = everything(t.Context(), s)
				// Watches end on their own account, or go on at their pace.
				g.Eventually(h.asked.Load, patience).ShouldNot(BeZero())
				if isWatch := strings.HasPrefix(name, "watches"); isWatch {
					g.Eventually(h.sent.Load, patience).Should(BeNumerically(">", 4<<20))
				}
				s.setWatching(false)
				s.watches.Close()
			})
			t.Logf(
				"peak %d KiB over the baseline, %d KiB sent, at most %d KiB in one answer",
				peak>>10,
				h.sent.Load()>>10,
				h.largest.Load()>>10,
			)
			g.Expect(peak).To(BeNumerically("<", mostOfOne))
			g.Expect(h.withoutLimit.Load()).To(BeZero(), "each list has a limit and no version, and none comes as a watch")
			if !strings.HasPrefix(name, "watches") {
				// On a machine that is busy the time of a request is over before the limit is reached.
				g.Expect(unknown).To(
					ContainElement(Or(ContainSubstring(reads.ErrTooLarge.Error()), ContainSubstring(reads.ErrTooMuch.Error()),
						ContainSubstring("does not answer in time"))),
				)
			}
		})
	}
}

func TestAnAnswerThatIsTooLargeIsToldAsSuch(t *testing.T) {
	for name, tc := range map[string]struct {
		h       *floods
		reaches bool
		says    string
	}{
		"of /readyz": {h: &floods{to: probes, goOn: "a"}, says: "answers with more than is read: check it"},
		"of a list":  {h: &floods{to: lists, goOn: " "}, reaches: true, says: "answers with more than is read to /api"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := startRegistry(t, Options{ConnectWorkers: 4, ProbeInterval: 50 * time.Millisecond, QPS: 1000, Burst: 1000})
			key := r.put(t, "a", kubeconfigFor(serverOf(t, tc.h.ServeHTTP), "token: valid"))
			if tc.reaches {
				g.Eventually(r.state(key), patience).Should(beReachable())
				session, _ := r.Session(key)
				g.Expect(session.Facts.Nodes(t.Context()).Why()).To(Equal("listing CSINodes: the API server of the user cluster answers " +
					"with more than is read"))
			}
			g.Eventually(r.state(key), patience).Should(And(HaveField("Reachable", tc.reaches), HaveField("Refused", BeFalse()),
				HaveField("Reason", ucv1.ResponseTooLargeReason), HaveField("Message", ContainSubstring(tc.says))))
		})
	}
}

func TestPagesBecomeSmallerUntilTheyFit(t *testing.T) {
	g := NewWithT(t)
	var limits []string
	s := sessionTo(t, serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		limits = append(limits, r.URL.Query().Get("limit"))
		w.Header().Set("Content-Type", "application/json")
		following := ""
		if r.URL.Query().Get("continue") == "" {
			following = "more"
		}
		_, _ = fmt.Fprintf(
			w,
			`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClassList","metadata":{"continue":%q},"items":[{"metadata":{"name":"a"}}]}`,
			following,
		)
		if limit := r.URL.Query().Get("limit"); limit == "500" || limit == "250" {
			_, _ = io.WriteString(w, strings.Repeat(" ", maxAnswer))
		}
	}), testOptions())
	g.Expect(s.Facts.StorageClasses(t.Context()).Value()).To(HaveLen(2))
	g.Expect(limits).To(Equal([]string{"500", "250", "125", "125"}))

	limits = nil
	g.Expect(s.Client().List(t.Context(), &storagev1.StorageClassList{}, client.Limit(500))).To(Succeed())
	g.Expect(limits).To(Equal([]string{"500", "250", "125"}), "who reads page by page gets fewer")
}
