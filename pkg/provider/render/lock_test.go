package render

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestLockNeedsTheCCM(t *testing.T) {
	g := NewWithT(t)
	_, err := WithLock(manifest.SetOf("ccm", "v1", nil), manifest.Identity{LeaseName: "ccm"}, handover.LockConfiguration{})
	g.Expect(err).To(MatchError(ContainSubstring("no single workload")))
}

func TestLockLetsNoOneCreateLeases(t *testing.T) {
	g := NewWithT(t)
	objects := LockObjects(
		manifest.Identity{LeaseNamespace: "kube-system", ServiceAccountNamespace: "kube-system", ServiceAccountName: "ccm"},
	)
	g.Expect(objects[0].Object["rules"]).To(HaveExactElements(And(
		HaveKeyWithValue("verbs", ConsistOf("get", "update")), HaveKeyWithValue("resourceNames", ConsistOf(handover.LockName)))))
	g.Expect(objects[1].Object["subjects"]).To(
		ConsistOf(HaveKeyWithValue("name", "ccm"), HaveKeyWithValue("name", handover.KCMUser)),
	)
}
