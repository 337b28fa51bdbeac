package registration

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
)

const machineSpec = "spec.machineController"

// machineProgram is one of the three Deployments that decide what kubelet a new Machine gets.
type machineProgram struct {
	// field below spec.machineController, and the name of the Deployment that the field's default is.
	field, name string
	// executable that no other program has; empty: the name has to do.
	executable string
}

func machinePrograms() []machineProgram {
	return []machineProgram{
		{"machineController", "machine-controller", "machine-controller"},
		// The webhooks of machine-controller and operating-system-manager both run a program that is called webhook.
		{"webhook", "machine-controller-webhook", "machine-controller-webhook"},
		{"operatingSystemManager", "operating-system-manager", "osm-controller"},
	}
}

func (m machineProgram) is(deployment *appsv1.Deployment) bool {
	return deployment.Name == m.name || m.containerIn(deployment) != ""
}

// containerIn is the container that runs the program; empty: no command says so.
func (m machineProgram) containerIn(deployment *appsv1.Deployment) string {
	containers := deployment.Spec.Template.Spec.Containers
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return controlplane.Executable(&c) == m.executable })
	if at < 0 {
		return ""
	}
	return containers[at].Name
}

// find the Deployments that are the program, the one with the default's name alone where there is one.
func (m machineProgram) find(deployments []appsv1.Deployment) []*appsv1.Deployment {
	var found []*appsv1.Deployment
	for i := range deployments {
		if deployments[i].Name == m.name {
			return []*appsv1.Deployment{&deployments[i]}
		}
		if m.is(&deployments[i]) {
			found = append(found, &deployments[i])
		}
	}
	return found
}

// machineFields say where the machine-controller is. Only the namespace was looked at, so what is not in it may be elsewhere.
func (p ControlPlane) machineFields() []Field {
	if p.platform == Gardener {
		return []Field{{
			Path: machineSpec + ".location",
			From: "a shoot's Machines are of machine-controller-manager, which this controller does not know.",
			Check: "nothing, as long as the Cluster is only looked at. The Nodes of a shoot have no Machine that could be rolled " +
				"here.",
		}}
	}
	var fields []Field
	found, names := false, []string{}
	for _, program := range machinePrograms() {
		deployments := program.find(p.namespace.Deployments)
		found = found || len(deployments) > 0
		for _, deployment := range deployments {
			names = append(names, deployment.Name)
		}
		fields = append(fields, p.programFields(program, deployments)...)
	}
	location := Field{Path: machineSpec + ".location"}
	if !found {
		location.From = "namespace " + p.namespace.Name + " has no machine-controller, and the user cluster was not looked at."
		location.Check = "UserCluster, if a namespace of the user cluster has Deployment machine-controller; where that is not " +
			"kube-system, spec.machineController.namespace, too."
		return []Field{location}
	}
	location.Value = string(ucv1.ManagementLocation)
	location.From = "Deployments " + strings.Join(names, ", ") + " are in namespace " + p.namespace.Name + "."
	return append([]Field{location}, fields...)
}

// programFields are what differs from the defaults.
func (p ControlPlane) programFields(program machineProgram, found []*appsv1.Deployment) []Field {
	path := machineSpec + "." + program.field
	switch {
	case len(found) == 0 && program.field == "operatingSystemManager" && p.told.NoOperatingSystemManager != "":
		return []Field{{Path: path + ".mode", Value: string(ucv1.OperatingSystemManagerNone),
			From: p.told.NoOperatingSystemManager + " of " + p.told.Object + "."}}
	case len(found) == 0 && program.field == "operatingSystemManager":
		return []Field{{
			Path: path + ".mode", From: "namespace " + p.namespace.Name + " has no Deployment " + program.name +
				", and the user cluster was not looked at.",
			Check: "None, if there is no operating-system-manager at all; else leave the mode out, and set its name or its location.",
		}}
	case len(found) == 0:
		return []Field{{
			Path: path + ".name", From: "namespace " + p.namespace.Name + " has no Deployment " + program.name +
				", and the user cluster was not looked at.",
			Check: "its name, or " + path + ".location: UserCluster.",
		}}
	case len(found) > 1 || !p.alone:
		return []Field{{
			Path: path + ".name", From: "namespace " + p.namespace.Name + " has several control planes, or several of " +
				program.name + ": " + strings.Join(namesOf(found), ", ") + ".",
			Check: "the one that belongs to this user cluster.",
		}}
	}
	return program.named(path, found[0])
}

func (m machineProgram) named(path string, deployment *appsv1.Deployment) []Field {
	var fields []Field
	containers := deployment.Spec.Template.Spec.Containers
	if deployment.Name != m.name {
		fields = append(fields, Field{Path: path + ".name", Value: deployment.Name,
			From: "Deployment " + deployment.Name + " runs " + m.executable + "."})
	}
	// Of one container, and of one that is called like its Deployment, the controller finds out by itself.
	container := m.containerIn(deployment)
	switch {
	case len(containers) == 1 || container == deployment.Name:
	case container != "":
		fields = append(fields, Field{Path: path + ".container", Value: container,
			From: "it runs " + m.executable + " in Deployment " + deployment.Name + "."})
	case !slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == deployment.Name }):
		fields = append(fields, Field{Path: path + ".container",
			From:  "no command in Deployment " + deployment.Name + " says which container is " + m.name + ".",
			Check: "the container whose arguments decide about kubelets."})
	}
	return fields
}

func namesOf(deployments []*appsv1.Deployment) []string {
	var names []string
	for _, deployment := range deployments {
		names = append(names, deployment.Name)
	}
	return names
}
