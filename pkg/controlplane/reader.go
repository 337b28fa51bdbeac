package controlplane

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
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
	Deadlines observation.Deadlines

	// Changes let reads of the management cluster be kept; nil: they are not.
	Changes *Changes

	leases leaseWatch
	runs   runWatch

	mu       sync.Mutex
	memories map[types.NamespacedName]*memory
}

const (
	kubeAPIServer        = observation.APIServerProgram
	kubeScheduler        = "kube-scheduler"
	userClusterNamespace = "kube-system"
)

// Template is what KCM's Deployment would start a pod with, and nothing of its pods; absent when there is no such Deployment. It
// is for a cluster that nothing is done to: the reader may be a cache.
func Template(ctx context.Context, reader client.Reader, cluster *ucv1.Cluster) observation.Observed[observation.Component] {
	ref := cluster.KubeControllerManager()
	if cluster.Spec.ControlPlane.Static() {
		return observation.Unknown[observation.Component]("it consists of static pods")
	}
	deployment, err := getDeployment(ctx, reader, cluster.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[observation.Component]()
	case err != nil:
		return observation.Unknown[observation.Component](err.Error())
	}
	return observation.Known(observation.Component{
		Ref: observation.Ref{
			Kind:      "Deployment",
			Namespace: deployment.Namespace,
			Name:      deployment.Name,
			UID:       string(deployment.UID),
		},
		Container: ref.Container,
		Arguments: argumentsOf(deployment.Spec.Template.Spec.Containers, ref.Container),
		Replicas:  replicas(deployment),
	})
}

// look is what one reading of a Cluster's namespace shows.
type look struct {
	plane observation.Observed[observation.ControlPlane]
	// machineController is left out where a part of it is in the user cluster.
	machineController observation.Observed[[]observation.MachineControllerDeployment]
}

// Look observes the control plane in the Cluster's namespace, absent when there is no KCM Deployment, and the machine-controller
// beside it: unknown where a part of it is in the user cluster.
func (r *Reader) Look(ctx context.Context, cluster *ucv1.Cluster) (
	observation.Observed[observation.ControlPlane], observation.Observed[[]observation.MachineControllerDeployment],
) {
	var made look
	isNew := false
	read := func() observation.Observed[look] {
		isNew = true
		if made = r.look(ctx, cluster); made.plane.IsUnknown() {
			return observation.Unknown[look](made.plane.Why())
		}
		return observation.Known(made)
	}
	seen := r.memoryOf(cluster).look.Read(ctx, r.now(), r.Changes.Mark(cluster.Namespace), read)
	if seen.IsKnown() {
		made = seen.Value()
	}
	if !isNew {
		made.plane = r.withNodes(ctx, cluster, made.plane)
	}
	plane, known := made.plane.Get()
	if !known || r.Ledger == nil {
		return made.plane, made.machineController
	}
	// The ends of containers are remembered, not read.
	former := r.Ledger.Former.Processes(cluster.Namespace, cluster.KubeControllerManager().Container)
	plane.KCM.Pods, plane.KCM.Former = Merge(plane.KCM.Pods, former)
	return observation.Known(plane), made.machineController
}

// withNodes looks at the Nodes again while a process was not seen to end: only looks that follow each other prove that a kubelet
// outlived it (leaseWatch), and no watch tells of its Lease.
func (r *Reader) withNodes(
	ctx context.Context, cluster *ucv1.Cluster, seen observation.Observed[observation.ControlPlane],
) observation.Observed[observation.ControlPlane] {
	recorded := recordedProcesses(cluster)
	plane, known := seen.Get()
	if !known || len(nodeNames(recorded, nil)) == 0 {
		return seen
	}
	nodes, err := r.managementNodes(ctx, recorded, plane.KCM.Pods)
	if err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	return observation.Known(onNodes(plane, nodes))
}

// onNodes is the control plane with what is known of the Nodes that it runs on.
func onNodes(plane observation.ControlPlane, nodes map[string]observation.ManagementNode) observation.ControlPlane {
	plane.ManagementNodes, plane.KCM.Pods = nodes, slices.Clone(plane.KCM.Pods)
	for i := range plane.KCM.Pods {
		plane.KCM.Pods[i].BootID = nodes[plane.KCM.Pods[i].NodeName].BootID
	}
	return plane
}

func (r *Reader) look(ctx context.Context, cluster *ucv1.Cluster) look {
	deployments := &appsv1.DeploymentList{}
	if err := r.Live.List(ctx, deployments, client.InNamespace(cluster.Namespace)); err != nil {
		return unseen("list Deployments of the control plane: " + err.Error())
	}
	// The whole namespace: a pod that lost its labels still runs.
	work, err := listWorkloads(ctx, r.Live, client.InNamespace(cluster.Namespace))
	if err != nil {
		return unseen(err.Error())
	}
	plane, err := r.planeOf(ctx, cluster, deployments, work)
	if err != nil {
		return unseen(err.Error())
	}
	return look{plane: plane, machineController: machineControllerBeside(cluster, deployments, work)}
}

func unseen(why string) look {
	return look{
		plane:             observation.Unknown[observation.ControlPlane](why),
		machineController: observation.Unknown[[]observation.MachineControllerDeployment](why),
	}
}

func (r *Reader) planeOf(
	ctx context.Context, cluster *ucv1.Cluster, deployments *appsv1.DeploymentList, work workloads,
) (plane observation.Observed[observation.ControlPlane], err error) {
	ref, recorded, seen := cluster.KubeControllerManager(), recordedProcesses(cluster), observation.ControlPlane{}
	deployment := deploymentNamed(deployments, ref.Name)
	if deployment == nil {
		return observation.Absent[observation.ControlPlane](), nil
	}
	if seen.KCM, err = newComponent(deployment, ref.Container, work, recorded); err != nil {
		return plane, err
	}
	if err := lookBeside(cluster, deployments, work, &seen); err != nil {
		return plane, err
	}
	nodes, err := r.managementNodes(ctx, recorded, seen.KCM.Pods)
	if err != nil {
		return plane, err
	}
	return observation.Known(onNodes(seen, nodes)), nil
}

func deploymentNamed(deployments *appsv1.DeploymentList, name string) *appsv1.Deployment {
	for i := range deployments.Items {
		if deployments.Items[i].Name == name {
			return &deployments.Items[i]
		}
	}
	return nil
}

func getDeployment(ctx context.Context, reader client.Reader, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
		return nil, fmt.Errorf("read Deployment %s/%s: %w", namespace, name, err)
	}
	return deployment, nil
}

func (r *Reader) now() time.Time { return r.Clock.Now() }
