package simcloud

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

// route is the cloud's route.
type route struct {
	Name            string `json:"name"`
	TargetNode      string `json:"targetNode"`
	DestinationCIDR string `json:"destinationCIDR"`
}

type routes struct {
	client *client
}

// ListRoutes lists the routes that were made under this cluster name.
func (r *routes) ListRoutes(ctx context.Context, clusterName string) ([]*cloudprovider.Route, error) {
	var found []route
	err := r.client.do(ctx, call{
		loop: loopRoute, name: "ListRoutes", verb: http.MethodGet, path: []string{"routes"}, result: &found,
	})
	if err != nil {
		return nil, err
	}
	listed := make([]*cloudprovider.Route, 0, len(found))
	for _, route := range found {
		if !strings.HasPrefix(route.Name, clusterName+"-") {
			continue
		}
		listed = append(listed, &cloudprovider.Route{
			Name:            route.Name,
			TargetNode:      types.NodeName(route.TargetNode),
			DestinationCIDR: route.DestinationCIDR,
		})
	}
	return listed, nil
}

// CreateRoute names the route after its destination: a node of a dual-stack
// cluster has two routes, but no destination has two nodes.
func (r *routes) CreateRoute(ctx context.Context, clusterName, _ string, wanted *cloudprovider.Route) error {
	destination := strings.NewReplacer("/", "-", ".", "-", ":", "-").Replace(wanted.DestinationCIDR)
	return r.client.do(ctx, call{
		loop: loopRoute, name: "CreateRoute", verb: http.MethodPost, path: []string{"routes"},
		body: route{
			Name:            clusterName + "-" + destination,
			TargetNode:      string(wanted.TargetNode),
			DestinationCIDR: wanted.DestinationCIDR,
		},
	})
}

// DeleteRoute deletes the route; one that is gone already is no error.
func (r *routes) DeleteRoute(ctx context.Context, _ string, route *cloudprovider.Route) error {
	err := r.client.do(ctx, call{
		loop: loopRoute, name: "DeleteRoute", verb: http.MethodDelete, path: []string{"routes", route.Name},
	})
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}
