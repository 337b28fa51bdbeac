package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// manyLoadBalancers is from when on the CCM's start counts at the cloud: it ensures all of them at once, five workers wide.
const manyLoadBalancers = 50

func serviceChecks() []check {
	return []check{
		{
			id: "LoadBalancerPending", severity: observation.Warning,
			means: "A Service of type LoadBalancer has no address: no one could tell afterwards whether the CCM or something older is " +
				"at fault.",
			unseen: unseenServices, find: pendingServices,
		},
		{
			id: "LoadBalancerDeleting", severity: observation.Blocking,
			means: "A Service waits for its load balancer to be deleted: while no one runs the service loop it hangs, and what it " +
				"leaves may never go.",
			unseen: unseenServices, find: deletingServices,
		},
		{
			id: "LoadBalancerShared", severity: observation.Warning,
			means:  "Two Services have one address: the CCM may take the load balancer of the one for that of the other.",
			unseen: unseenServices, find: sharedAddresses,
		},
		{
			id: "LoadBalancerNeverDeleted", severity: observation.Warning,
			means: "The CCM keeps a load balancer that the in-tree provider made and never deletes it, because of its name; an internal " +
				"one it does not change either.",
			unseen: func(o Facts) string { return cmp.Or(unseen("the catalogue", o.Provider), unseenServices(o)) },
			find:   oldLoadBalancers,
		},
		{
			id: "LoadBalancersEnsured", severity: observation.Info,
			means: "Every load balancer is ensured again when the CCM starts, by its own defaults; many of them are many calls of the " +
				"cloud's API at once.",
			unseen: unseenServices, find: ensuredServices,
		},
		{
			id: "ClusterNameDefault", severity: observation.Warning,
			means: "Load balancers are named after the cluster name kubernetes, the default: two such clusters in one project may take " +
				"each other's. It blocks where the name can still be changed, with OpenStack.",
			unseen: func(o Facts) string {
				return cmp.Or(unseenControlPlane(o), unseen("the catalogue", o.Provider), unseenServices(o))
			}, find: defaultName,
		},
		{
			id: "ClusterNameMarked", severity: observation.Blocking,
			means: "A CCM has put its cluster name on load balancers before, and spec.cloud.clusterName may be another: it then " +
				"refuses to change them.",
			unseen: func(o Facts) string {
				return cmp.Or(unseenControlPlane(o), unseen("the catalogue", o.Provider), unseenServices(o))
			}, find: markedNames,
		},
	}
}

// loadBalancers are those that the cloud provider cares for.
func (o Facts) loadBalancers() []Service {
	return slices.DeleteFunc(slices.Clone(o.Services.Value()), func(s Service) bool { return s.Class != "" })
}

func serviceName(service Service) observation.Ref {
	return observation.Ref{Kind: "Service", Namespace: service.Namespace, Name: service.Name}
}

func pendingServices(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.loadBalancers(), serviceName, func(s Service) bool { return len(s.Ingress) == 0 && !s.Deleting }),
		"They have no address yet, so the baseline says nothing about their load balancer", "See their events, and wait until they "+
			"have one or delete them.")
}

func deletingServices(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.loadBalancers(), serviceName, func(s Service) bool { return s.Deleting }),
		"They are being deleted and wait for their load balancer to go, which no one does while the loops are handed over",
		"Wait until they are gone; see their events for what holds them.")
}

func sharedAddresses(o Facts, _ time.Time) []observation.Finding {
	owners := map[string][]observation.Ref{}
	for _, service := range o.loadBalancers() {
		for _, address := range service.Ingress {
			owners[address] = append(owners[address], serviceName(service))
		}
	}
	var shared []observation.Ref
	for _, services := range owners {
		if len(services) > 1 {
			shared = append(shared, services...)
		}
	}
	return about(shared, "They share an address; the CCM looks for a load balancer by the name of the cluster and of the Service",
		"Look in the cloud which load balancer is whose; Services that share one on purpose can stay.")
}

func oldLoadBalancers(o Facts, _ time.Time) []observation.Finding {
	keeps := o.Provider.Value().LoadBalancerNames != ""
	old := chosen(o.loadBalancers(), serviceName, func(s Service) bool { return keeps && len(s.Ingress) > 0 })
	if o.Cluster.Spec.Cloud.LoadBalancers == ucv1.RenameLoadBalancers {
		return severe(observation.Info, about(old, "Their load balancers get the CCM's names when the migration is completed, in step "+
			"Finalize: the in-tree provider does not find them after that",
			"Describe their floating IPs before you delete such a Service, or they stay: the runbook has the command."))
	}
	return about(old,
		"Their load balancers keep the names of the in-tree provider, by which the CCM never deletes them, nor changes internal ones",
		"Set spec.cloud.loadBalancers: Rename, or rename them when status.step is Finished: the runbook has the commands.")
}

func ensuredServices(o Facts, _ time.Time) []observation.Finding {
	count := len(o.loadBalancers())
	if count == 0 {
		return nil
	}
	finding := observation.Finding{Message: fmt.Sprintf("Load balancers that the CCM ensures again when it starts: %d.", count)}
	if count > manyLoadBalancers {
		finding.Severity = observation.Warning
		finding.Action = "Ask for the rate limit of the cloud's API, and do not migrate other clusters of the project at the same time."
	}
	return []observation.Finding{finding}
}

// defaultName blocks where the name costs nothing yet, although there may be no load balancer: the first one that the CCM makes
// has it for good.
func defaultName(o Facts, _ time.Time) []observation.Finding {
	kcm, provider := o.ControlPlane.Value().KCM, o.Provider.Value()
	switch {
	case components.CCMClusterName(o.Cluster, kcm.Arguments) != "kubernetes":
		return nil
	case provider.FreesClusterName && o.Cluster.Spec.Cloud.ClusterName != "":
		return severe(observation.Blocking, []observation.Finding{{
			Message: "The CCM names load balancers after spec.cloud.clusterName, kubernetes, and takes over those of another cluster " +
				"of the project with that name.",
			Action: "The field is immutable, and nothing was changed yet: delete the Cluster, and create it with a name that no " +
				"other cluster of the project has.",
		}})
	case provider.FreesClusterName:
		return severe(observation.Blocking, about([]observation.Ref{kcm.Ref}, "The CCM names load balancers after its cluster name, "+
			"kubernetes by default, and takes over those of another cluster of the project with that name", "Set "+
			"spec.cloud.clusterName, or --cluster-name there, to a name that no other cluster of the project has; the in-tree "+
			"provider looks for nothing by that name."))
	case len(o.loadBalancers()) == 0 || !provider.SharesLoadBalancerNames:
		return nil
	}
	return []observation.Finding{{
		Message: "Load balancers have the cluster name kubernetes in their names, which other clusters of the same project may " +
			"have, too.",
		Action: "Make sure that no other cluster in the project has load balancers of that name; it cannot be changed without " +
			"making them again.",
	}}
}

// markedNames is about a migration that was rolled back. The CCM of OpenStack tags listeners with a name of the cluster and the
// Service, and refuses the ports of those that have another one only. Which name it had no one remembers then.
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/loadbalancer.go#L1883-L1899
func markedNames(o Facts, _ time.Time) []observation.Finding {
	arguments, name := o.ControlPlane.Value().KCM.Arguments, o.Cluster.Spec.Cloud.ClusterName
	same := components.CCMClusterName(o.Cluster, arguments) == components.KCMClusterName(arguments)
	if same || !o.Provider.Value().FreesClusterName {
		return nil
	}
	return about(chosen(o.loadBalancers(), serviceName, func(s Service) bool { return s.Marked }),
		"A CCM has put its cluster name on their load balancers before, and refuses their ports if that was another one than "+
			"spec.cloud.clusterName, "+name, "Accept this finding if that CCM had this name; else delete the Cluster, and create "+
			"it without the field.")
}
