package integration_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// audited has an API server log every request.
func audited(environment *envtest.Environment, name string) (audit.Log, error) {
	log, err := audit.New(filepath.Join(suite.audit, name))
	for flag, value := range log.Flags() {
		environment.ControlPlane.GetAPIServer().Configure().Append(flag, value)
	}
	return log, err
}

// auditMark is a place in both logs.
type auditMark map[string]int64

func markAudit(t *testing.T) auditMark {
	t.Helper()
	mark := auditMark{}
	for name, log := range map[string]audit.Log{"management": suite.log, "user": suite.user.log} {
		at, err := log.Mark()
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		mark[name] = at
	}
	return mark
}

// since are the requests behind the mark. A last request of ours shows that those before it are in the log.
func (m auditMark) since(t *testing.T, name string) []audit.Event {
	t.Helper()
	g := NewWithT(t)
	c := map[string]client.Client{"management": suite.client, "user": suite.user.client}[name]
	log := map[string]audit.Log{"management": suite.log, "user": suite.user.log}[name]
	last := "last-request-of-" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	last = last[:min(len(last), 63)]
	g.Expect(c.List(t.Context(), &corev1.NamespaceList{}, client.MatchingLabels{last: ""})).To(Succeed())
	var events []audit.Event
	g.Eventually(func(g Gomega) {
		var err error
		events, err = log.Since(m[name])
		g.Expect(err).NotTo(HaveOccurred())
		seen := slices.ContainsFunc(events, func(e audit.Event) bool { return strings.Contains(e.RequestURI, last) })
		g.Expect(seen).To(BeTrue(), "the last request is in the log")
	}, deadline, interval).Should(Succeed())
	return events
}
