package cluster

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestAPlanReplacesMachinesWithinTheirLimits(t *testing.T) {
	deployment := observation.MachineDeployment{Ref: observation.Ref{UID: "u"}, MaxSurge: 3, MaxUnavailable: 2}
	pools := poolsOf(observation.Machines{Deployments: []observation.MachineDeployment{deployment}})
	NewWithT(t).Expect(pools).To(Equal(map[string]plan.Pool{"u": {MaxSurge: 3, MaxUnavailable: 2}}))
}
