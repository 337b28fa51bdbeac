package report

import (
	"bytes"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func handedOver(change func(*ucv1.HandoverStatus)) *ucv1.Cluster {
	at := metav1.NewTime(noon())
	seen := metav1.NewMicroTime(noon().Add(time.Second))
	handover := &ucv1.HandoverStatus{
		Protocol: ucv1.FencedProtocol, ProtocolReason: "the CCM cannot write its Lease.", Stage: "Silent", StartedAt: &at,
		Proof: []ucv1.ProofItem{
			{
				Name:  "Template",
				State: ucv1.ProvenState,
			},
			{Name: "Processes", State: ucv1.NotProvenState, Message: "Pod tenant/kcm-3 may run cloud loops."},
		},
		Processes: []ucv1.ManagerProcess{
			{PodUID: "1", PodName: "kcm-1", NodeName: "a", EndedAt: &seen, EndedBecause: "its container terminated"},
			{PodUID: "2", PodName: "kcm-2", NodeName: "b", VanishedAt: &seen},
			{PodUID: "3", PodName: "kcm-3", NodeName: "c"},
		},
	}
	change(handover)
	return &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha"}, Status: ucv1.ClusterStatus{
		Facts: ucv1.Facts{Handover: handover},
		Conditions: []metav1.Condition{{Type: ucv1.HandoverCompletedCondition, Status: metav1.ConditionFalse,
			Reason: ucv1.ProvingSilenceReason, Message: "Pod tenant/kcm-3 may run cloud loops."}},
	}}
}

func TestHandoverInTheMiddle(t *testing.T) {
	g := NewWithT(t)
	report := newHandoverReport(handedOver(func(*ucv1.HandoverStatus) {}))
	out := &bytes.Buffer{}
	g.Expect(terminal.Write(out, "text", report, report.text)).To(Succeed())
	g.Expect(out.String()).To(Equal(`Cluster            tenant/alpha
Protocol           Fenced: the CCM cannot write its Lease.
Started            2026-01-01T12:00:00Z
Fence opened       not yet
Finished           not yet
HandoverCompleted  False, ProvingSilence: Pod tenant/kcm-3 may run cloud loops.

LINE               STATE    HOLDS WHEN
Probed             done     The CCM led once under another name, with no loop, and stayed up. Nothing of that probe is left.
BaselineTaken      done     The inventory of load balancers and volumes is stored.
ProcessesRecorded  done     Every KCM process that could run a cloud loop is in the status.
LeaderEndsLast     done     KCM's present leader is the last of its pods to be deleted.
LoopsOff           done     The arguments of KCM's Deployment switch the cloud loops off.
Settled            done     KCM's Deployment was touched, and no one wrote its former arguments back for three seconds.
Silent             current  Every recorded KCM process is proven to have ended, and every live one to run no cloud loop.
FenceOpen          open     The CCM's identity may write its Lease. It was opened when every Node was Ready.
Leading            open     The CCM holds its Lease and renews it.

KCM IS SILENT  STATE      WHAT IS MISSING
Template       Proven     
Processes      NotProven  Pod tenant/kcm-3 may run cloud loops.

KCM POD  NODE  PROCESS
kcm-1    a     ended 2026-01-01T12:00:01Z: its container terminated
kcm-2    b     vanished 2026-01-01T12:00:01Z; its end was not seen
kcm-3    c     may still run; its end was not seen
`))
}

func TestHandoverLines(t *testing.T) {
	at := metav1.NewTime(noon())
	for name, tc := range map[string]struct {
		change func(*ucv1.HandoverStatus)
		first  string
		last   string
	}{
		"not begun":         {change: func(h *ucv1.HandoverStatus) { h.Stage = "" }, first: lineOpen, last: lineOpen},
		"at the first line": {change: func(h *ucv1.HandoverStatus) { h.Stage = "Probed" }, first: lineCurrent, last: lineOpen},
		"at the last line":  {change: func(h *ucv1.HandoverStatus) { h.Stage = "Leading" }, first: lineDone, last: lineCurrent},
		"finished":          {change: func(h *ucv1.HandoverStatus) { h.Stage, h.FinishedAt = "", &at }, first: lineDone, last: lineDone},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lines := newHandoverReport(handedOver(tc.change)).Lines
			g.Expect(lines[0].State).To(Equal(tc.first))
			g.Expect(lines[len(lines)-1].State).To(Equal(tc.last))
		})
	}
}

func TestHandoverThatDidNotStart(t *testing.T) {
	g := NewWithT(t)
	report := newHandoverReport(&ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha"}})
	out := &bytes.Buffer{}
	g.Expect(terminal.Write(out, "text", report, report.text)).To(Succeed())
	g.Expect(out.String()).To(And(ContainSubstring("not chosen yet"), Not(ContainSubstring("LINE"))))
}

func TestOutputFormats(t *testing.T) {
	g := NewWithT(t)
	report := newHandoverReport(handedOver(func(h *ucv1.HandoverStatus) { h.GapSeconds = new(int64(3)) }))
	for format, want := range map[string]string{
		"json": `"gapSeconds": 3`, "yaml": "gapSeconds: 3", "text": "at most 3 s",
	} {
		out := &bytes.Buffer{}
		g.Expect(terminal.Write(out, format, report, report.text)).To(Succeed())
		g.Expect(out.String()).To(And(ContainSubstring(want), ContainSubstring("kcm-3")), format)
	}
	g.Expect(terminal.Write(&bytes.Buffer{}, "xml", report, report.text)).NotTo(Succeed())
}
