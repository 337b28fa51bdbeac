package integration_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// auditMark is a place in the log of one API server.
type auditMark struct {
	*server
	at int64
}

func (s *server) markAudit(t *testing.T) auditMark {
	t.Helper()
	at, err := s.log.Mark()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return auditMark{server: s, at: at}
}

// since are the requests behind the mark. A last request of ours shows that those before it are in the log.
func (m auditMark) since(t *testing.T) []audit.Event {
	t.Helper()
	g := NewWithT(t)
	auditor, err := m.plane.AddUser(envtest.User{Name: "auditor", Groups: []string{"system:masters", auditedGroup}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	c, err := client.New(auditor.Config(), client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	last := "last-request-of-" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	last = last[:min(len(last), 63)]
	g.Expect(c.List(t.Context(), &corev1.NamespaceList{}, client.MatchingLabels{last: ""})).To(Succeed())
	var events []audit.Event
	g.Eventually(func(g Gomega) {
		var err error
		events, err = m.log.Since(m.at)
		g.Expect(err).NotTo(HaveOccurred())
		seen := slices.ContainsFunc(events, func(e audit.Event) bool { return strings.Contains(e.RequestURI, last) })
		g.Expect(seen).To(BeTrue(), "the last request is in the log")
	}, deadline, interval).Should(Succeed())
	return events
}
