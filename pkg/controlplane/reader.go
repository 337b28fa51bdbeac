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

	leases leaseWatch
	runs   runWatch
}

const (
	kubeAPIServer        = "kube-apiserver"
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

// ControlPlane observes the control plane in the Cluster's namespace; absent when there is no KCM Deployment.
func (r *Reader) ControlPlane(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[observation.ControlPlane] {
	ref := cluster.KubeControllerManager()
	deployment, err := getDeployment(ctx, r.Live, cluster.Namespace, ref.Name)
	if apierrors.IsNotFound(err) {
		return observation.Absent[observation.ControlPlane]()
	}
	if err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	// The whole namespace: a pod that lost its labels still runs.
	work, err := listWorkloads(ctx, r.Live, client.InNamespace(cluster.Namespace))
	if err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	recorded := recordedProcesses(cluster)
	plane := observation.ControlPlane{}
	if plane.KCM, err = newComponent(deployment, ref.Container, work, recorded); err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	if err := r.lookBeside(ctx, cluster, work, &plane); err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	if plane.ManagementNodes, err = r.managementNodes(ctx, nodeNames(recorded, plane.KCM.Pods)); err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	for i := range plane.KCM.Pods {
		plane.KCM.Pods[i].BootID = plane.ManagementNodes[plane.KCM.Pods[i].NodeName].BootID
	}
	if r.Ledger != nil {
		plane.KCM.Pods, plane.KCM.Former = Merge(plane.KCM.Pods, r.Ledger.Former.Processes(cluster.Namespace, ref.Container))
	}
	return observation.Known(plane)
}

func getDeployment(ctx context.Context, reader client.Reader, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
		return nil, fmt.Errorf("read Deployment %s/%s: %w", namespace, name, err)
	}
	return deployment, nil
}

func (r *Reader) now() time.Time { return r.Clock.Now() }
