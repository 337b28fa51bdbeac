package render

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestNothingIsPutBesideWithoutADeployment(t *testing.T) {
	_, err := Place{Namespace: "user-a", Cluster: "alpha"}.Put(manifest.SetOf("ccm", "v1", nil))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no Deployment")))
}
