package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// What of gamma cannot be rolled.
const (
	gammaPaused     = "held"
	gammaStandalone = "pet"
)

// populate gives a user cluster what the story needs, and waits until it runs.
func (s *Story) populate(u *bed.UserCluster) error {
	objects, nodes := population(u.Options.Name)
	for _, object := range objects {
		if err := u.Client.Create(s.ctx, object); err != nil {
			return fmt.Errorf("user cluster %s: %T %s: %w", u.Options.Name, object, object.GetName(), err)
		}
	}
	if u.Options.Name == "gamma" {
		if err := u.AddStandalone(s.ctx, gammaStandalone); err != nil {
			return fmt.Errorf("user cluster %s: Machine %s: %w", u.Options.Name, gammaStandalone, err)
		}
	}
	if err := s.waitForNodes(u, nodes, false); err != nil {
		return err
	}
	if u.Options.Name != "gamma" {
		return s.waitForLoadBalancers(u)
	}
	held := bed.MachineDeployment(gammaPaused, 1)
	return u.Client.Patch(s.ctx, held, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`)))
}

func population(name string) (objects []client.Object, nodes int) {
	switch name {
	case "alpha":
		web, budget := bed.Web(4)
		return []client.Object{
			bed.MachineDeployment("pool-a", 3), bed.MachineDeployment("pool-b", 3), web, budget,
			bed.LoadBalancer("web"), bed.LoadBalancer("api"), bed.InTreeVolume("data"),
		}, 6
	case "beta":
		return []client.Object{bed.MachineDeployment("pool", 2)}, 2
	case "gamma":
		return []client.Object{bed.MachineDeployment("pool", 1), bed.MachineDeployment(gammaPaused, 1)}, 3
	}
	return nil, 0
}

// waitForNodes waits until so many Nodes are Ready and, when asked for, initialized by the CCM.
func (s *Story) waitForNodes(u *bed.UserCluster, count int, initialized bool) error {
	what := fmt.Sprintf("user cluster %s: %d Nodes", u.Options.Name, count)
	return s.Bed.WaitFor(s.ctx, what, chapterPatience, func(ctx context.Context) (string, error) {
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		good := 0
		for i := range nodes.Items {
			if isReady(&nodes.Items[i]) && (!initialized || isInitialized(&nodes.Items[i])) {
				good++
			}
		}
		if good < count {
			return fmt.Sprintf("%d of %d", good, count), nil
		}
		return "", nil
	})
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func isInitialized(node *corev1.Node) bool {
	return isReady(node) && strings.HasPrefix(node.Spec.ProviderID, "simcloud://") &&
		!slices.ContainsFunc(
			node.Spec.Taints,
			func(t corev1.Taint) bool { return t.Key == "node.cloudprovider.kubernetes.io/uninitialized" },
		)
}

func (s *Story) waitForLoadBalancers(u *bed.UserCluster) error {
	return s.Bed.WaitFor(
		s.ctx,
		"user cluster "+u.Options.Name+": load balancers",
		chapterPatience,
		func(ctx context.Context) (string, error) {
			services := &corev1.ServiceList{}
			if err := u.Client.List(ctx, services); err != nil {
				return "", err
			}
			for _, service := range services.Items {
				ofCloud := service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil
				if ofCloud && len(service.Status.LoadBalancer.Ingress) == 0 {
					return "Service " + service.Name + " has no address", nil
				}
			}
			return "", nil
		},
	)
}
