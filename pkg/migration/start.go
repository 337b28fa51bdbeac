package migration

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func (p *pass) admitted() outcome.Outcome {
	return outcome.Holds(ucv1.HoldsReason, "Nothing holds the cluster back from starting.")
}

// preflight is judged once: a Node made NotReady by the roll itself must not freeze the roll.
func (p *pass) preflight() outcome.Outcome {
	if p.facts.StartedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "There was no blocking finding when the migration started."+p.idleManagers())
	}
	if out := p.judgePreflight(); !out.Holds {
		return out
	}
	if out := p.approved(); !out.Holds {
		return out
	}
	kcm := p.o.ControlPlane.Value().KCM
	p.facts.StartedAt = p.stamp()
	p.facts.Inherited = inherit(p.o.Cluster, kcm.Arguments)
	p.facts.Handover = p.newHandover()
	return outcome.Records("Starting the migration: recording what the CCM inherits from " + kcm.String() + "." + p.idleManagers())
}

// inherit reads what the CCM takes over while KCM's flags still say it.
func inherit(cluster *ucv1.Cluster, arguments observation.Arguments) *ucv1.InheritedConfiguration {
	cidr, _ := arguments.Flag("cluster-cidr")
	inherited := &ucv1.InheritedConfiguration{
		ClusterName:       kcmClusterName(arguments),
		ClusterCIDR:       cidr,
		ClusterUID:        string(cluster.UID),
		AllocateNodeCIDRs: arguments.True("allocate-node-cidrs", false),
		Loops:             arguments.CloudLoops(),
	}
	if len(inherited.Loops) == 0 {
		// No in-tree loops: what the cluster was made with decides, and routes only when they were asked for by name.
		inherited.Loops = []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop}
		if inherited.AllocateNodeCIDRs && arguments.True("configure-cloud-routes", false) {
			inherited.Loops = []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop}
		}
		if name := cluster.Spec.Cloud.ClusterName; name != "" {
			inherited.ClusterName = name
		}
	}
	for _, loop := range inherited.Loops {
		if loop == observation.RouteLoop {
			inherited.ConfigureCloudRoutes = true
		}
	}
	return inherited
}

func (p *pass) stamp() *metav1.Time {
	t := metav1.NewTime(p.now)
	return &t
}
