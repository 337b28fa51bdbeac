package handover

import (
	"context"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Result is how a hand-over ended.
type Result string

// The results. Unfinished is right for no scenario.
const (
	HandedOver Result = "HandedOver"
	RolledBack Result = "RolledBack"
	Refused    Result = "Refused"
	Stalled    Result = "Stalled"
	Unfinished Result = "Unfinished"
)

// The topologies: KCM is a Deployment of the management cluster, or a static pod on each control-plane Node.
const (
	Hosted   = "Hosted"
	External = "External"
)

// Scenario is one hand-over.
type Scenario struct {
	// Name of the scenario, of its folder and of its user cluster.
	Name  string
	Setup Setup
	// Disturb plays whoever disturbs, from the moment when the feature is switched on; it may be nil. The result is
	// waited for when it has returned.
	Disturb func(context.Context, *Play) error
	// After plays what people do when the result is there and no one else changes anything any more; it may be nil. What is
	// served is looked at afterwards.
	After func(context.Context, *Play) error
	Want  Result
	Bars  Bars
	// Exclusive scenarios run alone, after the others: they disturb the manager. Measured ones do where times are asked for.
	Exclusive, Measured bool
	// Slow scenarios wait for ten minutes; they run beside all others.
	Slow bool
	// CI runs it, too.
	CI bool
}

// Setup is how the user cluster begins.
type Setup struct {
	Protocol ucv1.HandoverProtocolChoice
	// Across is the release that the control plane begins with, which is upgraded in the middle of the hand-over. It is then a
	// whole one, with two API servers or, with External, one for each KCM. When it is empty, the control plane is of the
	// testbed's release and stays so.
	Across string
	// BesideControlPlane has the CCM run in the management cluster.
	BesideControlPlane bool
	// Instruct has an administrator change the control plane, as the status says.
	Instruct bool
	// Topology is Hosted when it is empty. With External there is a control-plane Node for each KCM.
	Topology    string
	KCMReplicas int32
	Lease       time.Duration
	// KCMFlags are added to KCM's.
	KCMFlags []string
	// Before is done before the Cluster object is made; it may be nil.
	Before func(context.Context, *Play) error
}

// userCluster is what the testbed is asked for.
func (s Setup) userCluster(name string) bed.UserClusterOptions {
	gates := "--feature-gates=DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false"
	options := bed.UserClusterOptions{
		Name:                     name,
		KCMReplicas:              s.KCMReplicas,
		LeaseDuration:            s.Lease,
		WithoutMachineController: true,
		ControlPlaneNodes:        s.controlPlaneNodes(),
		CCMBesideControlPlane:    s.BesideControlPlane,
	}
	if s.Across != "" {
		options.Version, options.WholeControlPlane, options.APIServers = s.Across, true, 2
	} else {
		// The gate is on already, so that KCM is not rolled out again as soon as it is handed over. Across minors it has to be
		// switched on before the upgrade, which is a part of what is played.
		gates += ",CSIMigrationPortworx=true"
	}
	options.KCMFlags = append([]string{gates}, s.KCMFlags...)
	return options
}

func (s Setup) controlPlaneNodes() int {
	if s.Topology != External {
		return 0
	}
	return int(s.KCMReplicas)
}

// Bars are the limits of a scenario; those that hold everywhere are not among them: no overlap, no load balancer made
// again or deleted by mistake, no Node deleted by mistake, nothing lost.
type Bars struct {
	// Gap is the longest time from KCM's end of a loop to the CCM's begin. It depends on the machine.
	Gap time.Duration
	// NoGap says why there is no such limit; every hand-over has one of both.
	NoGap string
	// NothingOpened: the fence never opens.
	NothingOpened bool
	// Untouched: KCM's Deployment is not changed.
	Untouched bool
	// NoRoutes: no one ever asks the cloud for a route.
	NoRoutes bool
	// CausedOverlap bounds an overlap that a person makes, between the events PersonBegins and PersonEnds.
	CausedOverlap time.Duration
}
