package loadbalancers

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	pageSize = 200
	// mostBalancers bounds what is read of a project; Octavia's default quota is 10.
	mostBalancers = 10_000
)

// Cloud is where load balancers are looked at and renamed.
type Cloud struct {
	// Dial makes each connection, and refuses addresses that a tenant must not have us connect to.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Old looks for load balancers by their old and by their wanted names, and fills in the rest. What is neither is left out.
func (c Cloud) Old(
	ctx context.Context,
	config map[string][]byte,
	asked []observation.OldLoadBalancer,
) observation.Observed[[]observation.OldLoadBalancer] {
	session, err := c.logIn(ctx, config)
	if err != nil {
		return observation.Unknown[[]observation.OldLoadBalancer](err.Error())
	}
	named, err := session.byName(ctx)
	if err != nil {
		return observation.Unknown[[]observation.OldLoadBalancer](err.Error())
	}
	found := []observation.OldLoadBalancer{}
	for _, balancer := range asked {
		old, renamed := named[balancer.Name], named[balancer.Wanted]
		switch {
		case len(old) > 0:
			balancer.ID, balancer.Status = old[0].ID, old[0].ProvisioningStatus
			balancer.Twins, balancer.Holders = idsOf(old[1:]), idsOf(renamed)
		case len(renamed) > 0:
			balancer.ID, balancer.Status, balancer.Name = renamed[0].ID, renamed[0].ProvisioningStatus, balancer.Wanted
		default:
			continue
		}
		found = append(found, balancer)
	}
	return observation.Known(found)
}

// byName are the load balancers of the project that the CCM would find by a name:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/loadbalancer.go#L186
func (o *octavia) byName(ctx context.Context) (map[string][]loadbalancers.LoadBalancer, error) {
	named, count := map[string][]loadbalancers.LoadBalancer{}, 0
	pages := loadbalancers.List(o.client, loadbalancers.ListOpts{ProjectID: o.project, Limit: pageSize})
	err := pages.EachPage(ctx, func(_ context.Context, page pagination.Page) (bool, error) {
		list, err := loadbalancers.ExtractLoadBalancers(page)
		for _, balancer := range list {
			if !goes(balancer) {
				named[balancer.Name] = append(named[balancer.Name], balancer)
			}
		}
		count += len(list)
		return count <= mostBalancers, err
	})
	switch {
	case err != nil:
		return nil, said("list the load balancers of the project", err)
	case count > mostBalancers:
		return nil, fmt.Errorf("the project has more than %d load balancers", mostBalancers)
	}
	return named, nil
}

func goes(balancer loadbalancers.LoadBalancer) bool {
	return balancer.ProvisioningStatus == "DELETED" || balancer.ProvisioningStatus == "PENDING_DELETE"
}

func idsOf(balancers []loadbalancers.LoadBalancer) []string {
	var ids []string
	for _, balancer := range balancers {
		ids = append(ids, balancer.ID)
	}
	return ids
}

// Rename gives each its name when it has the old one and no other has the new one at this moment. The first that cannot be
// renamed ends it: the next pass looks again.
func (c Cloud) Rename(ctx context.Context, config map[string][]byte, renames []outcome.Rename) error {
	session, err := c.logIn(ctx, config)
	if err != nil {
		return err
	}
	for _, rename := range renames {
		if err := session.rename(ctx, rename); err != nil {
			return err
		}
	}
	return nil
}

func (o *octavia) rename(ctx context.Context, rename outcome.Rename) error {
	balancer, err := loadbalancers.Get(ctx, o.client, rename.ID).Extract()
	switch {
	case err != nil:
		return said("read load balancer "+rename.ID, err)
	case balancer.Name == rename.To:
		return nil
	case balancer.Name != rename.From:
		return fmt.Errorf("load balancer %s was renamed by someone else", rename.ID)
	}
	taken, err := o.holder(ctx, rename.To)
	switch {
	case err != nil:
		return err
	case taken != "":
		return fmt.Errorf("load balancer %s got the name %s a moment ago", taken, rename.To)
	}
	_, err = loadbalancers.Update(ctx, o.client, rename.ID, loadbalancers.UpdateOpts{Name: &rename.To}).Extract()
	if gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		return fmt.Errorf("the cloud is changing load balancer %s", rename.ID)
	}
	if err != nil {
		return said("rename load balancer "+rename.ID, err)
	}
	return nil
}

// holder of a name, wherever these credentials see it; empty: the name is free.
func (o *octavia) holder(ctx context.Context, name string) (string, error) {
	page, err := loadbalancers.List(o.client, loadbalancers.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return "", said("look for a load balancer called "+name, err)
	}
	list, err := loadbalancers.ExtractLoadBalancers(page)
	if err != nil {
		return "", said("look for a load balancer called "+name, err)
	}
	for _, balancer := range list {
		if !goes(balancer) {
			return balancer.ID, nil
		}
	}
	return "", nil
}
