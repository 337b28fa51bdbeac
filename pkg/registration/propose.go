package registration

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/ownership"
)

// Propose a Cluster for a control plane, or say why not.
func (p ControlPlane) Propose(look Look, providers Providers) Proposal {
	provider, refused := p.providerField(providers)
	if p.told.External != "" {
		refused = p.told.External
	}
	if refused == "" {
		refused = p.registered(look.Clusters)
	}
	if refused != "" {
		return refusal(p.subject(), refused)
	}
	made := Proposal{Subject: p.subject()}
	made.warn(p.warnings(look)...)
	made.add(p.name, Field{Path: "metadata.namespace", Value: p.namespace.Name, From: "the namespace of " + p.subject() + "."})
	made.add(p.versionField(), provider)
	name, _ := provider.Value.(string)
	made.add(p.cloudConfigField(look, providers, name))
	off := switchedOff()
	made.add(off[0])
	made.add(look.kubeconfigFields(p.Name(), p.kubeconfigs())...)
	made.add(p.controlPlaneFields()...)
	made.add(p.machineFields()...)
	made.add(off[1])
	return providers.judge(made)
}

// registered says which Cluster has the control plane already.
func (p ControlPlane) registered(clusters observation.Observed[[]ucv1.Cluster]) string {
	for _, cluster := range clusters.Value() {
		if !cluster.Spec.ControlPlane.Static() && cluster.KubeControllerManager().Name == p.kcm.Name {
			return alreadyThere(cluster)
		}
	}
	return nameTaken(clusters, p.Name())
}

func alreadyThere(cluster ucv1.Cluster) string {
	return "Cluster " + cluster.Namespace + "/" + cluster.Name + " has it already."
}

// nameTaken says that applying the proposal would change a Cluster of someone else.
func nameTaken(clusters observation.Observed[[]ucv1.Cluster], name string) string {
	for _, cluster := range clusters.Value() {
		if cluster.Name == name {
			return "Cluster " + cluster.Namespace + "/" + cluster.Name + " exists already, for another control plane."
		}
	}
	return ""
}

// unknownClusters warns that a Cluster may be there already.
func unknownClusters(clusters observation.Observed[[]ucv1.Cluster]) []string {
	if !clusters.IsUnknown() {
		return nil
	}
	return []string{"Whether there is a Cluster for it already could not be looked at: " + clusters.Why() + "."}
}

// controlledBy says whether an object of that kind controls KCM's Deployment.
func (p ControlPlane) controlledBy(kind string) bool {
	owner := metav1.GetControllerOf(p.kcm)
	return owner != nil && owner.Kind == kind
}

// madeBy is the platform that reconciles the control plane, by its marks, whatever platform was asked for.
func (p ControlPlane) madeBy() Platform {
	owner, reconcilers := metav1.GetControllerOf(p.kcm), controlplane.Reconcilers(p.kcm, p.container.Name)
	switch {
	case p.platform == KKP || slices.Contains(reconcilers, "KKP") ||
		owner != nil && strings.HasPrefix(owner.APIVersion, kkpGroup+"/"):
		return KKP
	case p.platform == Gardener || slices.Contains(reconcilers, "Gardener"):
		return Gardener
	}
	return Deployments
}

func (p ControlPlane) warnings(look Look) []string {
	var warnings []string
	const looks = "Finding ControlPlaneReconciled blocks a migration by this controller: the Cluster is for looking only. See " +
		"docs/kkp.md."
	switch made, reconcilers := p.madeBy(), controlplane.Reconcilers(p.kcm, p.container.Name); {
	case made == KKP:
		warnings = append(warnings, "KKP reconciles this control plane. To migrate, set KKP's own feature externalCloudProvider. "+
			looks)
	case made == Gardener:
		warnings = append(warnings, "Gardener reconciles this control plane, and its provider extensions migrate it with an "+
			"upgrade of Kubernetes. "+looks)
	case len(reconcilers) > 0:
		warnings = append(warnings, strings.Join(reconcilers, ", ")+" would write back what the controller changes in Deployment "+
			p.kcm.Name+". See docs/runbooks/ControlPlaneReconciled.md.")
	}
	if p.told.Paused {
		warnings = append(warnings, p.told.Object+" is paused, so it may say something else than what runs.")
	}
	if told := p.namespace.Told; told.IsUnknown() && p.platform != Deployments {
		warnings = append(warnings, "What the platform itself says of the user cluster could not be looked at: "+told.Why()+".")
	}
	return append(warnings, unknownClusters(look.Clusters)...)
}

// controlPlaneFields name the Deployments of the control plane.
func (p ControlPlane) controlPlaneFields() []Field {
	const path = "spec.controlPlane"
	fields := []Field{{Path: path + ".type", Value: string(ucv1.HostedControlPlane), From: p.subject() + " runs KCM."}}
	if owner := ownership.Controller(p.kcm); owner != "" && p.madeBy() == Deployments {
		fields = append(fields, Field{
			Path: path + ".change", Value: string(ucv1.InstructChange),
			From:  owner + " controls Deployment " + p.kcm.Name + ", so each change is to be made there.",
			Check: "Apply, if nothing writes the Deployment back any more.",
		})
	}
	fields = append(fields,
		Field{Path: path + ".kubeControllerManager.name", Value: p.kcm.Name, From: "the Deployment that runs KCM."},
		Field{Path: path + ".kubeControllerManager.container", Value: p.container.Name, From: "its container that runs KCM."},
	)
	fields = append(fields, p.besideFields(path+".kubeAPIServer", apiServer)...)
	return append(fields, p.besideFields(path+".kubeScheduler", scheduler)...)
}

// besideFields name a component beside KCM. No one changes it until a person says so.
func (p ControlPlane) besideFields(path, program string) []Field {
	found := p.beside(program)
	switch len(found) {
	case 0:
		return []Field{{
			Path: path + ".name", From: "no Deployment of namespace " + p.namespace.Name + " is known to run " + program + ".",
			Check: "the Deployment that runs it. Without one, leave the field out.",
		}}
	case 1:
	default:
		return []Field{{
			Path: path + ".name", From: "several Deployments run " + program + ": " + strings.Join(namesOf(found), ", ") + ".",
			Check: "the one of this user cluster.",
		}}
	}
	deployment, container := found[0], controlplane.ContainerRunning(found[0], program)
	return []Field{
		{Path: path + ".name", Value: deployment.Name, From: "the Deployment that runs " + program + "."},
		{Path: path + ".container", Value: container, From: "its container that runs " + program + "."},
		{
			Path: path + ".ownership", Value: string(ucv1.ForeignComponent),
			From:  "chosen: the controller only looks at it, and waits until its owner has removed in-tree flags.",
			Check: "Ours, if the controller may change Deployment " + deployment.Name + ".",
		},
	}
}

// beside are the Deployments that may be the component beside KCM: of several, the one that KCM's name leads to.
func (p ControlPlane) beside(program string) []*appsv1.Deployment {
	var found []*appsv1.Deployment
	for i := range p.namespace.Deployments {
		deployment := &p.namespace.Deployments[i]
		if controlplane.ContainerRunning(deployment, program) == "" {
			continue
		}
		if deployment.Name == p.kcm.Name || deployment.Name == strings.Replace(p.kcm.Name, controllerManager, program, 1) {
			return []*appsv1.Deployment{deployment}
		}
		found = append(found, deployment)
	}
	return found
}

// NoControlPlane is for a user cluster that the platform has and that no Deployment was found for.
func NoControlPlane(told Told, namespace string) Proposal {
	return refusal(told.Object, "namespace "+namespace+" has no Deployment that runs kube-controller-manager.")
}

// ProviderName in the catalogue; empty where it could not be found out.
func (p ControlPlane) ProviderName(providers Providers) string {
	field, _ := p.providerField(providers)
	name, _ := field.Value.(string)
	return name
}
