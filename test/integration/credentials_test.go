package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The certificates of these API servers last for a week, which is soon.
func TestCredentialsOfAStartedMigrationAreWatchedOn(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.kubeconfig = w.user.certified
	w.begin("the proof of silence", provingSilence, "pool")
	warns := HaveField("Findings", ContainElement(And(
		HaveField(
			"ID",
			"CredentialsExpire",
		),
		HaveField("Severity", ucv1.FindingSeverity(observation.Warning)),
		HaveField("Message", ContainSubstring("Secret "+w.namespace+"/alpha-kubeconfig run out at ")),
	)))
	g.Expect(w.status().Preflight).To(warns)

	c, _ := w.cluster()
	c.Status.Preflight = nil
	g.Expect(suite.client.Status().Update(t.Context(), c)).To(Succeed())
	w.pass()
	g.Expect(w.status().Preflight).To(
		And(warns, HaveField("Warnings", int32(1)), HaveField("Blocking", BeZero())),
		"what was found before stays as it was",
	)
	written := w.status().Preflight
	w.pass()
	g.Expect(w.status().Preflight).To(Equal(written))
	g.Expect(w.status().Conditions).NotTo(ContainElement(HaveField("Type", ucv1.StalledCondition)))
}
