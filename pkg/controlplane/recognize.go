package controlplane

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// ContainerRunning is the container of the Deployment that is a component of a control plane, such as kube-apiserver, by what it
// runs, within http-prober, too, or by names where its image or a script decides; empty: none is.
func ContainerRunning(deployment *appsv1.Deployment, program string) string {
	return besideKCM{program: program}.recognized(deployment)
}

// Executable is the base name of what the container runs, within http-prober, too; empty: its image or a script decides.
func Executable(container *corev1.Container) string { return executableOf(container) }

// Reconcilers are those who write the Deployment again when someone else changes the container's arguments, by their marks.
func Reconcilers(deployment *appsv1.Deployment, container string) []string {
	return reconcilersOf(deployment, container)
}
