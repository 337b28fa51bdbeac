package controlplane

import (
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// besideKCM is a component that may carry in-tree configuration, too, and what the spec says of it.
type besideKCM struct {
	program string
	field   string
	spec    *ucv1.ControlPlaneComponent
	// ref has the defaults filled in.
	ref ucv1.DeploymentReference
}

func componentsBeside(cluster *ucv1.Cluster) []besideKCM {
	spec := cluster.Spec.ControlPlane
	components := []besideKCM{
		{program: kubeAPIServer, field: "spec.controlPlane.kubeAPIServer", spec: spec.KubeAPIServer},
		{program: kubeScheduler, field: "spec.controlPlane.kubeScheduler", spec: spec.KubeScheduler},
	}
	for i := range components {
		one := &components[i]
		if one.spec != nil {
			one.ref = one.spec.DeploymentReference
		}
		one.ref = one.ref.WithDefaults(one.program)
	}
	return components
}

func (b besideKCM) ours() bool { return b.spec != nil && b.spec.Ownership != ucv1.ForeignComponent }

func (b besideKCM) neighbor(component observation.Component) observation.Neighbor {
	return observation.Neighbor{Component: b.running(component), Field: b.field, Foreign: b.spec != nil}
}

func (b besideKCM) running(component observation.Component) observation.Component {
	component.Program = b.program
	return component
}

// lookBeside adds kube-apiserver and kube-scheduler, whether they are ours to change or not.
func lookBeside(
	cluster *ucv1.Cluster, deployments *appsv1.DeploymentList, work workloads, plane *observation.ControlPlane,
) error {
	for _, other := range componentsBeside(cluster) {
		if other.ours() {
			component, err := named(deployments, cluster.Namespace, other.ref, work)
			if err != nil {
				return err
			}
			plane.Others = append(plane.Others, other.running(component))
			continue
		}
		seen := false
		for i := range deployments.Items {
			deployment := &deployments.Items[i]
			container := other.containerIn(deployment)
			if container == "" {
				continue
			}
			component, err := newComponent(deployment, container, work, nil)
			if err != nil {
				return err
			}
			seen = true
			plane.Neighbors = append(plane.Neighbors, other.neighbor(component))
		}
		if !seen {
			plane.NotSeen = append(plane.NotSeen, other.program)
		}
	}
	return nil
}

// named is what the spec names. One that does not exist is a component whose arguments are not understood: leaving it out would
// let a step pass.
func named(
	deployments *appsv1.DeploymentList, namespace string, ref ucv1.DeploymentReference, work workloads,
) (observation.Component, error) {
	deployment := deploymentNamed(deployments, ref.Name)
	if deployment == nil {
		return observation.Component{
			Ref: observation.Ref{Kind: "Deployment", Namespace: namespace, Name: ref.Name}, Container: ref.Container,
			Arguments: observation.Arguments{Problem: "the Deployment does not exist; create it or correct spec.controlPlane"},
		}, nil
	}
	return newComponent(deployment, ref.Container, work, nil)
}

// containerIn is the container of the Deployment that is the component; empty: none is. A name in the spec is that of the only
// Deployment. Without one a container that names its executable is what that is; of another one the names of the container and
// of the Deployment, and its labels, have to do.
func (b besideKCM) containerIn(deployment *appsv1.Deployment) string {
	containers := deployment.Spec.Template.Spec.Containers
	switch {
	case b.spec == nil || b.spec.Name == "":
		return b.recognized(deployment)
	case deployment.Name != b.spec.Name:
		return ""
	case containerNamed(containers, b.ref.Container) == nil && b.spec.Container == "" && len(containers) == 1:
		return containers[0].Name
	}
	return b.ref.Container
}

func (b besideKCM) recognized(deployment *appsv1.Deployment) string {
	containers := deployment.Spec.Template.Spec.Containers
	called := b.isCalled(deployment)
	for i := range containers {
		name, executable := containers[i].Name, executableOf(&containers[i])
		byName := name == b.program || called && (len(containers) == 1 || b.has(name))
		if executable == b.program || executable == "" && byName {
			return name
		}
	}
	return ""
}

// isCalled says whether the Deployment has the component's name, or a label that says what it is.
func (b besideKCM) isCalled(deployment *appsv1.Deployment) bool {
	if b.has(deployment.Name) {
		return true
	}
	keys := []string{"app", "k8s-app", "component", "role", "app.kubernetes.io/name", "app.kubernetes.io/component"}
	return slices.ContainsFunc(keys, func(key string) bool {
		return b.has(deployment.Labels[key]) || b.has(deployment.Spec.Template.Labels[key])
	})
}

// has says whether it is a name of the component: Kubermatic's are apiserver and scheduler.
func (b besideKCM) has(name string) bool {
	return name == b.program || name == strings.TrimPrefix(b.program, "kube-")
}

// executableOf is the base name of what the container runs, within http-prober, too; empty: its image or a script decides.
func executableOf(container *corev1.Container) string {
	words := slices.Concat(container.Command, container.Args)
	if line, err := readCommandLine(container); err == nil && line.outer != nil {
		return path.Base(line.items[0].words[0].text)
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || isShell(words[0]) || path.Base(words[0]) == "http-prober" {
		return ""
	}
	return path.Base(words[0])
}

// lookBeside adds what mirror pods show of kube-apiserver and kube-scheduler.
func (l *staticLook) lookBeside(plane *observation.ControlPlane) {
	for _, other := range componentsBeside(l.cluster) {
		component := l.component(other.ref.Container)
		switch {
		case other.ours():
			plane.Others = append(plane.Others, other.running(component))
		case len(component.Pods) == 0:
			plane.NotSeen = append(plane.NotSeen, other.program)
		default:
			plane.Neighbors = append(plane.Neighbors, other.neighbor(component))
		}
	}
}
