package components

import (
	"cmp"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// LoopsOffInTree says that KCM has an in-tree cloud provider, and was told to run none of its loops. That is the middle of a
// migration, and what the flags were before it cannot be read from them.
func LoopsOffInTree(arguments observation.Arguments) bool {
	provider, _ := arguments.Flag("cloud-provider")
	return arguments.Understood() && provider != "" && provider != "external" && len(arguments.CloudLoops()) == 0
}

// LoopsOffAlready says that the cloud loops are off although this Cluster did not switch them off.
func LoopsOffAlready(kcm observation.Component) observation.Text {
	provider, _ := kcm.Arguments.Flag("cloud-provider")
	return observation.Say(kcm, " has --cloud-provider="+provider+
		" and its cloud loops are switched off in --controllers, which no migration of this Cluster did. Make sure that no CCM runs "+
		"in the user cluster, and take the exclusions out.")
}

// KCMClusterName follows KCM, whose --cluster-name defaults to kubernetes.
func KCMClusterName(arguments observation.Arguments) string {
	if name, ok := arguments.Flag("cluster-name"); ok && name != "" {
		return name
	}
	return "kubernetes"
}

// CCMClusterName is the name that the CCM gets. Another one than KCM's is refused where load balancers are found by it.
func CCMClusterName(cluster *ucv1.Cluster, arguments observation.Arguments) string {
	return cmp.Or(cluster.Spec.Cloud.ClusterName, KCMClusterName(arguments))
}

// KCMReference is the Deployment of kube-controller-manager, whether it exists or not.
func KCMReference(in pass.Input) observation.Ref {
	cluster := in.Cluster
	return observation.Ref{Kind: "Deployment", Namespace: cluster.Namespace, Name: cluster.KubeControllerManager().Name}
}

// KCMMissing says that there is no kube-controller-manager, and how to name the right one.
func KCMMissing(in pass.Input) observation.Text {
	if in.Cluster.Spec.ControlPlane.Static() {
		return staticMissing(in)
	}
	return observation.Say(KCMReference(in),
		" does not exist; set spec.controlPlane.kubeControllerManager to the Deployment that runs kube-controller-manager.")
}

// StaticProblem names what the static pods of KCM do not agree on: the CCM can inherit it once only.
func StaticProblem(in pass.Input, kcm observation.Component) observation.Text {
	if !in.Cluster.Spec.ControlPlane.Static() || in.Facts.StartedAt != nil {
		return observation.Text{}
	}
	for _, name := range []string{"cloud-provider", "cluster-name", "cluster-cidr", "allocate-node-cidrs",
		"configure-cloud-routes", "leader-elect"} {
		for _, process := range kcm.Pods {
			if process.Ended || process.Arguments.Flags[name] == kcm.Arguments.Flags[name] {
				continue
			}
			pod := observation.Ref{Kind: "Pod", Namespace: kcm.Namespace, Name: process.PodName}
			return observation.Say(pod, " has another --"+name+" than others of ", kcm, "; give all Nodes the same manifest first.")
		}
	}
	return observation.Text{}
}

// staticMissing is KCMMissing for static pods.
func staticMissing(in pass.Input) observation.Text {
	container := in.Cluster.KubeControllerManager().Container
	return observation.Say("No Node of the user cluster shows a static pod with container " + container +
		" in namespace kube-system; set spec.controlPlane.kubeControllerManager.container to the one that runs " +
		"kube-controller-manager.")
}
