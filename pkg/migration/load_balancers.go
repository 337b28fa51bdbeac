package migration

import (
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// renamedAtOnce bounds what one action does: each load balancer takes three requests to the cloud.
const renamedAtOnce = 10

// renamesLoadBalancers says that load balancers are to get the CCM's names: behind the point of no return, because the in-tree
// provider would make others in their place. The CCM updates the members of all of them meanwhile, internal ones too:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/loadbalancer.go#L1891
func renamesLoadBalancers(cluster *ucv1.Cluster, provider observation.Provider) bool {
	facts := cluster.Status.Facts
	return cluster.Spec.Cloud.LoadBalancers == ucv1.RenameLoadBalancers && provider.LoadBalancerNames != "" &&
		facts.Origin == ucv1.OriginMigrating && facts.CompletedAt != nil && facts.RenamedLoadBalancers == nil
}

// OldLoadBalancersOf are those that the cloud is asked about: of each Service, by its old name and the one that it is to have.
func OldLoadBalancersOf(o observation.Observation) observation.Observed[[]observation.OldLoadBalancer] {
	inventory, known := o.Inventory.Get()
	inherited := o.Cluster.Status.Inherited
	switch {
	case !known:
		return observation.Unknown[[]observation.OldLoadBalancer](o.Inventory.Why())
	case inherited == nil:
		return observation.Unknown[[]observation.OldLoadBalancer]("the cluster name of the CCM is not recorded")
	}
	asked := []observation.OldLoadBalancer{}
	for _, balancer := range inventory.LoadBalancers {
		service := balancer.Reference()
		service.UID = balancer.UID
		asked = append(asked, observation.OldLoadBalancer{
			Service: service, Name: observation.InTreeLoadBalancerName(balancer.UID),
			Wanted: o.Provider.Value().LoadBalancerName(inherited.ClusterName, service),
		})
	}
	return observation.Known(asked)
}

// loadBalancersRenamed renames those that no one has to look at first, and calls a person for the others.
func loadBalancersRenamed(in pass.Input) outcome.Outcome {
	provider, found := in.Provider.Get()
	switch {
	case in.Cluster.Spec.Cloud.LoadBalancers != ucv1.RenameLoadBalancers:
		return outcome.Holds(ucv1.HoldsReason, "Load balancers keep their names.")
	case !found:
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	case !renamesLoadBalancers(in.Cluster, provider):
		return outcome.Holds(ucv1.HoldsReason, "Load balancers have the CCM's names.")
	}
	balancers, known := in.OldLoadBalancers.Get()
	if !known {
		return outcome.CannotLook("the load balancers in the cloud (spec.cloud.loadBalancers: Keep goes on without)",
			in.OldLoadBalancers.Why())
	}
	free, changing, stuck := sortedForRename(balancers)
	switch {
	case len(free) > 0:
		return renames(free)
	case len(changing) > 0:
		return outcome.WaitsUntil(ucv1.LoadBalancersChangingReason, observation.Say("The cloud is changing the load balancers of "+
			"these: ", observation.Names(services(changing)), "."), 10*time.Second)
	case len(stuck) > 0:
		return notRenamed(stuck[0])
	}
	return in.Records("Recording that load balancers have the CCM's names.", func(facts *ucv1.Facts) {
		facts.RenamedLoadBalancers = &ucv1.RenamedLoadBalancersStatus{Count: int32(len(balancers)), FinishedAt: in.Stamp()}
	})
}

// sortedForRename leaves out those that are renamed.
func sortedForRename(balancers []observation.OldLoadBalancer) (free, changing, stuck []observation.OldLoadBalancer) {
	for _, balancer := range balancers {
		switch {
		case balancer.Renamed():
		case balancer.Changing():
			changing = append(changing, balancer)
		case balancer.Status != "ACTIVE", len(balancer.Holders)+len(balancer.Twins) > 0:
			stuck = append(stuck, balancer)
		default:
			free = append(free, balancer)
		}
	}
	return free, changing, stuck
}

func renames(free []observation.OldLoadBalancer) outcome.Outcome {
	free = free[:min(len(free), renamedAtOnce)]
	action := outcome.Action{
		Kind: outcome.ActionRenameLoadBalancers, Objects: services(free),
		Why: "Giving the CCM's names to the load balancers of " + observation.Names(services(free)).Words + ".",
	}
	for _, balancer := range free {
		action.Renames = append(action.Renames, outcome.Rename{ID: balancer.ID, From: balancer.Name, To: balancer.Wanted})
	}
	return outcome.Does(action)
}

// notRenamed is about one of them: what a person does about it may be the answer for all.
func notRenamed(stuck observation.OldLoadBalancer) outcome.Outcome {
	subject := observation.Say("Load balancer "+stuck.ID+" of ", stuck.Service)
	const without = ", or set spec.cloud.loadBalancers: Keep."
	switch {
	case len(stuck.Twins) > 0:
		return outcome.Fails(ucv1.LoadBalancersNotRenamedReason, subject, " has the same old name as "+strings.Join(stuck.Twins, ", ")+
			", "+stuck.Name+": no one can say which of them is the Service's. Rename all but the one with its address"+without)
	case len(stuck.Holders) > 0:
		return outcome.Fails(ucv1.LoadBalancersNotRenamedReason, subject, " cannot be called "+stuck.Wanted+", because "+
			strings.Join(stuck.Holders, ", ")+" has that name. Rename that one"+without)
	}
	return outcome.Fails(ucv1.LoadBalancersNotRenamedReason, subject, " has status "+stuck.Status+", in which the cloud changes no "+
		"name. Repair it"+without)
}

func services(balancers []observation.OldLoadBalancer) []observation.Ref {
	refs := make([]observation.Ref, 0, len(balancers))
	for _, balancer := range balancers {
		refs = append(refs, balancer.Service)
	}
	return refs
}
