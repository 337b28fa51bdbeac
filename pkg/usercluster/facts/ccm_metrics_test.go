package facts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// TestWhatTheCCMSays asks a CCM through the API server's proxy, as often as it may be asked.
func TestWhatTheCCMSays(t *testing.T) {
	g := NewWithT(t)
	var status, synced, asked atomic.Int64
	status.Store(http.StatusForbidden)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		g.Expect(r.URL.Path).To(Equal("/api/v1/namespaces/kube-system/pods/https:ccm:10258/proxy/metrics"))
		w.WriteHeader(int(status.Load()))
		_, err := fmt.Fprintf(w, "node_controller_initial_node_sync_delay_seconds_bucket{le=\"16\"} "+
			"%d\nnode_controller_initial_node_sync_delay_seconds_count %d\n",
			synced.Load(), synced.Load())
		g.Expect(err).NotTo(HaveOccurred())
	}))
	defer server.Close()
	identity := simcloud.Profile{}.Identity()
	s, clk := readerWith(
		interceptor.Funcs{},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: identity.ServiceAccountNamespace, Name: "ccm"},
			Spec: corev1.PodSpec{ServiceAccountName: identity.ServiceAccountName}},
	)
	s.network = networkOf(t, server)
	says := func(after time.Duration) map[slo.Indicator]slo.Counts {
		clk.Step(after)
		return s.WithCCM(t.Context(), observation.Known(slo.Seen{}), identity).Value().CCM
	}
	g.Expect(says(0)).To(BeEmpty())
	g.Expect(says(9 * time.Minute)).To(BeEmpty())
	g.Expect(asked.Load()).To(BeEquivalentTo(1), "who is refused asks seldom")
	status.Store(http.StatusOK)
	synced.Store(7)
	g.Expect(says(time.Minute)).To(Equal(map[slo.Indicator]slo.Counts{slo.InitialSync: {}}), "what came before the first look "+
		"counts for nothing")
	synced.Store(10)
	g.Expect(says(59 * time.Second)[slo.InitialSync]).To(Equal(slo.Counts{}), "it is asked once a minute")
	g.Expect(says(time.Second)[slo.InitialSync]).To(Equal(slo.Counts{Within: 3}))
	g.Expect(s.WithCCM(t.Context(), observation.Unknown[slo.Seen]("timeout"), identity).Why()).To(Equal("timeout"))
}
