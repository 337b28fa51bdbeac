package controlplane

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The machine-controller's flags that make it hand out external kubelets.
const (
	nodeExternalFlag = "-node-external-cloud-provider"
	externalFlag     = "-external-cloud-provider"
)

// machineControllerDeployments are what the spec says of the three, with the defaults filled in.
func machineControllerDeployments(cluster *ucv1.Cluster) []observation.MachineControllerDeployment {
	spec := cluster.Spec.MachineController
	deployments := []observation.MachineControllerDeployment{}
	for _, one := range []struct {
		program observation.MachineControllerProgram
		ref     ucv1.LocatedDeployment
		flag    string
	}{
		{observation.MachineController, spec.MachineController, nodeExternalFlag},
		{observation.MachineWebhook, spec.Webhook, nodeExternalFlag},
		{observation.OperatingSystemManager, spec.OperatingSystemManager.LocatedDeployment, externalFlag},
	} {
		deployment := observation.MachineControllerDeployment{
			Program: one.program, Flag: one.flag, Named: one.ref.Name != "",
			InUserCluster: cmp.Or(one.ref.Location, spec.Location) == ucv1.UserClusterLocation,
			Component: observation.Component{Container: one.ref.Container, Ref: observation.Ref{
				Kind: "Deployment", Namespace: cluster.Namespace, Name: cmp.Or(one.ref.Name, string(one.program)),
			}},
		}
		if deployment.InUserCluster {
			deployment.Namespace = cmp.Or(one.ref.Namespace, spec.Namespace, userClusterNamespace)
		}
		deployments = append(deployments, deployment)
	}
	return deployments
}

// MachineControllerRef is the Deployment that makes and deletes Machines, whether it exists or not.
func MachineControllerRef(cluster *ucv1.Cluster) observation.Ref {
	return machineControllerDeployments(cluster)[0].Ref
}

// MachineController observes the machine-controller's Deployments where some are in the user cluster, those included that do not
// exist. user reads the user cluster; it is nil while there is no connection, and then Deployments there could not be looked at.
func (r *Reader) MachineController(
	ctx context.Context,
	cluster *ucv1.Cluster,
	user client.Reader,
) observation.Observed[[]observation.MachineControllerDeployment] {
	deployments := []observation.MachineControllerDeployment{}
	for _, deployment := range machineControllerDeployments(cluster) {
		reader := r.Live
		if deployment.InUserCluster {
			reader = user
		}
		if reader == nil {
			return observation.Unknown[[]observation.MachineControllerDeployment]("the user cluster is not connected")
		}
		component, err := machineComponent(ctx, reader, deployment.Component)
		if err != nil && !apierrors.IsNotFound(err) {
			return observation.Unknown[[]observation.MachineControllerDeployment](err.Error())
		}
		deployments = withMachineController(deployments, cluster, deployment, component, err == nil)
	}
	return observation.Known(deployments)
}

// machineControllerBeside is what the objects beside KCM say of the machine-controller; unknown where a part of it is elsewhere.
func machineControllerBeside(
	cluster *ucv1.Cluster, beside *appsv1.DeploymentList, work workloads,
) observation.Observed[[]observation.MachineControllerDeployment] {
	deployments := []observation.MachineControllerDeployment{}
	for _, wanted := range machineControllerDeployments(cluster) {
		if wanted.InUserCluster {
			return observation.Unknown[[]observation.MachineControllerDeployment]("a part of it is in the user cluster")
		}
		deployment, component := deploymentNamed(beside, wanted.Name), observation.Component{}
		if deployment != nil {
			var err error
			if component, err = newComponent(deployment, containerOrOnly(deployment, wanted.Container), work, nil); err != nil {
				return observation.Unknown[[]observation.MachineControllerDeployment](err.Error())
			}
		}
		deployments = withMachineController(deployments, cluster, wanted, component, deployment != nil)
	}
	return observation.Known(deployments)
}

// MachineControllerInUserCluster says that one of its Deployments is there.
func MachineControllerInUserCluster(cluster *ucv1.Cluster) bool {
	return slices.ContainsFunc(machineControllerDeployments(cluster), func(d observation.MachineControllerDeployment) bool {
		return d.InUserCluster
	})
}

// withMachineController adds one as it was found, unless it is denied and rightly is not there.
func withMachineController(
	deployments []observation.MachineControllerDeployment, cluster *ucv1.Cluster,
	one observation.MachineControllerDeployment, found observation.Component, there bool,
) []observation.MachineControllerDeployment {
	denied := one.Program == observation.OperatingSystemManager &&
		cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
	switch {
	case there:
		one.Component, one.Denied = found, denied
	case denied:
		return deployments
	default:
		one.Missing = true
	}
	return append(deployments, one)
}

// machineComponent reads one Deployment and only the pods of its selector: kube-system may hold thousands.
func machineComponent(ctx context.Context, reader client.Reader, wanted observation.Component) (observation.Component, error) {
	deployment, err := getDeployment(ctx, reader, wanted.Namespace, wanted.Name)
	if err != nil {
		return observation.Component{}, err
	}
	selector, err := selectorOf(deployment)
	if err != nil {
		return observation.Component{}, err
	}
	work, err := listWorkloads(ctx, reader, client.InNamespace(wanted.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return observation.Component{}, err
	}
	return newComponent(deployment, containerOrOnly(deployment, wanted.Container), work, nil)
}

// containerOrOnly is the named container, else the only one, else the one that is called like its Deployment.
func containerOrOnly(deployment *appsv1.Deployment, name string) string {
	containers := deployment.Spec.Template.Spec.Containers
	switch {
	case name != "":
		return name
	case len(containers) == 1:
		return containers[0].Name
	}
	return deployment.Name
}
