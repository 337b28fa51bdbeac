package controlplane

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// Reader observes control planes. It is to be kept: it remembers when node Leases were seen to change, and since
// when containers of static pods run.
type Reader struct {
	// Live reads the management cluster without a cache: a proof on stale data is none.
	Live client.Reader
	// Ledger remembers the ends of containers whose pods are gone; without it such ends are proven more slowly.
	Ledger *Ledger
	// Clock is ours: nothing is concluded from timestamps of others.
	Clock clock.PassiveClock
	// Deadlines are the real ones when they are left out.
	Deadlines migration.Deadlines

	leases leaseWatch
	runs   runWatch
}

// The defaults of the names in a Cluster's spec.
const (
	kubeControllerManager  = "kube-controller-manager"
	kubeAPIServer          = "kube-apiserver"
	kubeScheduler          = "kube-scheduler"
	machineController      = "machine-controller"
	machineWebhook         = "machine-controller-webhook"
	operatingSystemManager = "operating-system-manager"
	userClusterNamespace   = "kube-system"
)

// The machine-controller's flags that make it hand out external kubelets.
const (
	nodeExternalFlag = "-node-external-cloud-provider"
	externalFlag     = "-external-cloud-provider"
)

// KubeControllerManager is the cluster's KCM Deployment and container, with the defaults filled in.
func KubeControllerManager(cluster *ucv1.Cluster) ucv1.DeploymentReference {
	return withDefaults(cluster.Spec.ControlPlane.KubeControllerManager, kubeControllerManager, kubeControllerManager)
}

func withDefaults(ref ucv1.DeploymentReference, name, container string) ucv1.DeploymentReference {
	if ref.Name == "" {
		ref.Name = name
	}
	if ref.Container == "" {
		ref.Container = container
	}
	return ref
}

// ControlPlane observes the control plane in the Cluster's namespace; absent when there is no KCM Deployment.
func (r *Reader) ControlPlane(ctx context.Context, cluster *ucv1.Cluster) migration.Observed[migration.ControlPlane] {
	ref := KubeControllerManager(cluster)
	deployment, err := getDeployment(ctx, r.Live, cluster.Namespace, ref.Name)
	if apierrors.IsNotFound(err) {
		return migration.Absent[migration.ControlPlane]()
	}
	if err != nil {
		return migration.Unknown[migration.ControlPlane](err.Error())
	}
	// The whole namespace: a pod that lost its labels still runs.
	work, err := listWorkloads(ctx, r.Live, client.InNamespace(cluster.Namespace))
	if err != nil {
		return migration.Unknown[migration.ControlPlane](err.Error())
	}
	recorded := recordedProcesses(cluster)
	plane := migration.ControlPlane{}
	if plane.KCM, err = newComponent(deployment, ref.Container, work, recorded); err != nil {
		return migration.Unknown[migration.ControlPlane](err.Error())
	}
	if plane.Others, err = r.others(ctx, cluster, work); err != nil {
		return migration.Unknown[migration.ControlPlane](err.Error())
	}
	if plane.ManagementNodes, err = r.managementNodes(ctx, nodeNames(recorded, plane.KCM.Pods)); err != nil {
		return migration.Unknown[migration.ControlPlane](err.Error())
	}
	for i := range plane.KCM.Pods {
		plane.KCM.Pods[i].BootID = plane.ManagementNodes[plane.KCM.Pods[i].NodeName].BootID
	}
	return migration.Known(plane)
}

// others are kube-apiserver and kube-scheduler where the spec names them. One that the spec names and that does not
// exist is a component whose arguments are not understood: leaving it out would let a step pass.
func (r *Reader) others(ctx context.Context, cluster *ucv1.Cluster, work workloads) ([]migration.Component, error) {
	var components []migration.Component
	for _, other := range []struct {
		ref  *ucv1.DeploymentReference
		name string
	}{
		{cluster.Spec.ControlPlane.KubeAPIServer, kubeAPIServer},
		{cluster.Spec.ControlPlane.KubeScheduler, kubeScheduler},
	} {
		if other.ref == nil {
			continue
		}
		ref := withDefaults(*other.ref, other.name, other.name)
		deployment, err := getDeployment(ctx, r.Live, cluster.Namespace, ref.Name)
		if apierrors.IsNotFound(err) {
			components = append(components, missing(cluster.Namespace, ref))
			continue
		}
		if err != nil {
			return nil, err
		}
		component, err := newComponent(deployment, ref.Container, work, nil)
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	return components, nil
}

func missing(namespace string, ref ucv1.DeploymentReference) migration.Component {
	return migration.Component{
		Ref: migration.Ref{Kind: "Deployment", Namespace: namespace, Name: ref.Name}, Container: ref.Container,
		Arguments: migration.Arguments{Problem: "the Deployment does not exist; create it or correct spec.controlPlane"},
	}
}

// MachineController observes those of the machine-controller's Deployments that exist. user reads the user cluster; it
// is nil while there is no connection, and then Deployments there could not be looked at.
func (r *Reader) MachineController(ctx context.Context, cluster *ucv1.Cluster, user client.Reader) migration.Observed[[]migration.MachineControllerDeployment] {
	spec := cluster.Spec.MachineController
	reader, namespace := r.Live, cluster.Namespace
	inUserCluster := spec.Location == ucv1.UserClusterLocation
	if inUserCluster {
		if user == nil {
			return migration.Unknown[[]migration.MachineControllerDeployment]("the user cluster is not connected")
		}
		reader, namespace = user, spec.Namespace
		if namespace == "" {
			namespace = userClusterNamespace
		}
	}
	found := []migration.MachineControllerDeployment{}
	for _, one := range []struct {
		ref  ucv1.DeploymentReference
		name string
		flag string
	}{
		{spec.MachineController, machineController, nodeExternalFlag},
		{spec.Webhook, machineWebhook, nodeExternalFlag},
		{spec.OperatingSystemManager, operatingSystemManager, externalFlag},
	} {
		component, err := r.machineComponent(ctx, reader, namespace, withDefaults(one.ref, one.name, one.ref.Container))
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return migration.Unknown[[]migration.MachineControllerDeployment](err.Error())
		}
		found = append(found, migration.MachineControllerDeployment{
			Component: component, Flag: one.flag, InUserCluster: inUserCluster,
		})
	}
	return migration.Known(found)
}

// machineComponent reads one Deployment and only the pods of its selector: kube-system may hold thousands.
func (r *Reader) machineComponent(ctx context.Context, reader client.Reader, namespace string, ref ucv1.DeploymentReference) (migration.Component, error) {
	deployment, err := getDeployment(ctx, reader, namespace, ref.Name)
	if err != nil {
		return migration.Component{}, err
	}
	selector, err := selectorOf(deployment)
	if err != nil {
		return migration.Component{}, err
	}
	work, err := listWorkloads(ctx, reader, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return migration.Component{}, err
	}
	return newComponent(deployment, containerOrOnly(deployment, ref.Container), work, nil)
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

func getDeployment(ctx context.Context, reader client.Reader, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
		return nil, fmt.Errorf("read Deployment %s/%s: %w", namespace, name, err)
	}
	return deployment, nil
}

func (r *Reader) now() time.Time { return r.Clock.Now() }
