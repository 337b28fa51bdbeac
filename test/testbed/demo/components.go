package demo

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// wholeControlPlane is the cluster of which every component is a Deployment that the controller may change.
const wholeControlPlane = "delta"

const (
	apiServerName = "kube-apiserver"
	schedulerName = "kube-scheduler"
)

// ComponentReport is with which arguments a Deployment of the control plane ended.
type ComponentReport struct {
	Name string `json:"name"`
	// Faults are flags and gates of the in-tree provider that it still has, and what it lacks for the external one.
	Faults []string `json:"faults,omitempty"`
}

// machineControllers hand out the flag of external kubelets.
func machineControllers() []string {
	return []string{"machine-controller", "machine-controller-webhook", "operating-system-manager"}
}

// deployments that a migrated cluster of the story has as Deployments.
func deployments(cluster string) []string {
	names := append([]string{kcmName}, machineControllers()...)
	if cluster == wholeControlPlane {
		names = append(names, apiServerName, schedulerName)
	}
	slices.Sort(names)
	return names
}

// deployments reads all that there are. The CCM of a cluster that has it beside its control plane is none of them.
func (s *Story) deployments(name string) ([]ComponentReport, error) {
	list := &appsv1.DeploymentList{}
	if err := s.Bed.Client.List(s.ctx, list, client.InNamespace(s.clusters[name].Namespace)); err != nil {
		return nil, err
	}
	var reports []ComponentReport
	for _, deployment := range list.Items {
		if !slices.Contains(deployments(wholeControlPlane), deployment.Name) {
			continue
		}
		container := deployment.Spec.Template.Spec.Containers[0]
		arguments := slices.Concat(container.Command, container.Args)
		reports = append(reports, ComponentReport{Name: deployment.Name, Faults: faults(deployment.Name, arguments)})
	}
	slices.SortFunc(reports, func(a, b ComponentReport) int { return strings.Compare(a.Name, b.Name) })
	return reports, nil
}

// faults are told by the arguments alone, whatever the status says.
func faults(component string, arguments []string) []string {
	if slices.Contains(machineControllers(), component) {
		return lacks(slices.ContainsFunc(arguments, func(argument string) bool {
			return strings.HasSuffix(argument, "external-cloud-provider=true")
		}), "lacks the flag of external kubelets")
	}
	var found []string
	migrates := false
	for _, argument := range arguments {
		name, value, _ := strings.Cut(argument, "=")
		switch name {
		case "--cloud-provider":
			found = append(found, lacks(value == "external" && component == kcmName, argument)...)
		case "--cloud-config", "--configure-cloud-routes", "--external-cloud-volume-plugin":
			found = append(found, argument)
		case "--feature-gates":
			migrates = strings.Contains(value, "CSIMigrationPortworx=true")
			found = append(found, lacks(!strings.Contains(value, "Disable"), argument)...)
		case "--controllers":
			found = append(found, lacks(!strings.Contains(value, "-cloud") && !strings.Contains(value, "-service-lb"), argument)...)
		}
	}
	return append(found, lacks(migrates, "lacks the CSI migration gate")...)
}

func lacks(holds bool, fault string) []string {
	if holds {
		return nil
	}
	return []string{fault}
}

func (j *judge) deployments(c *ClusterReport) {
	var names []string
	for _, component := range c.Components {
		names = append(names, component.Name)
		j.expect(len(component.Faults) == 0, "%s ended with %s", component.Name, strings.Join(component.Faults, ", "))
	}
	j.expect(slices.Equal(names, deployments(c.Name)), "the components %v were looked at, not %v", names, deployments(c.Name))
}
