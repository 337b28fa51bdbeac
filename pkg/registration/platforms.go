package registration

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	kkpGroup   = "kubermatic.k8c.io"
	kkpPrefix  = "cluster-"
	shootStart = "shoot--"
)

// KKPNamespace is the namespace of the control plane of KKP's Cluster.
// https://github.com/kubermatic/kubermatic/blob/d008ee24ee69/pkg/apis/kubermatic/v1/cluster.go (ClusterStatus)
func KKPNamespace(cluster *unstructured.Unstructured) string {
	if namespace := text(cluster, "status", "namespaceName"); namespace != "" {
		return namespace
	}
	return kkpPrefix + cluster.GetName()
}

// MayBe says whether a namespace has the name that a platform gives to those of its user clusters.
func (p Platform) MayBe(namespace string) bool {
	switch p {
	case KKP:
		return strings.HasPrefix(namespace, kkpPrefix)
	case Gardener:
		return strings.HasPrefix(namespace, shootStart)
	case KubeOne, Deployments:
	}
	return true
}

// ToldByKKP is what KKP's own Cluster says. Its spec.cloud may hold credentials: only the name of the provider is read.
func ToldByKKP(cluster *unstructured.Unstructured) Told {
	told := Told{
		Object: "KKP's Cluster " + cluster.GetName(), Name: cluster.GetName(),
		Version: text(cluster, "status", "versions", "controlPlane"), VersionField: "status.versions.controlPlane",
		Provider: text(cluster, "spec", "cloud", "providerName"), ProviderField: "spec.cloud.providerName",
		Paused: flag(cluster, "spec", "pause"),
	}
	if told.Version == "" {
		told.Version, told.VersionField = text(cluster, "spec", "version"), "spec.version"
	}
	if flag(cluster, "spec", "features", "externalCloudProvider") {
		told.External = told.Object + " has feature externalCloudProvider: KKP migrates it, or has done so."
	}
	enabled, found, err := unstructured.NestedBool(cluster.Object, "spec", "enableOperatingSystemManager")
	if err == nil && found && !enabled {
		told.NoOperatingSystemManager = "spec.enableOperatingSystemManager"
	}
	return told
}

// ToldByGardener is what the Cluster of Gardener's extensions says, which has a copy of the Shoot and the name of its namespace.
// https://github.com/gardener/gardener/blob/1b4d9907b99c/pkg/apis/extensions/v1alpha1/types_cluster.go
func ToldByGardener(cluster *unstructured.Unstructured) Told {
	shoot := func(path ...string) string { return text(cluster, append([]string{"spec", "shoot"}, path...)...) }
	return Told{
		Object: "Gardener's Cluster " + cluster.GetName(), Name: shoot("metadata", "name"),
		Version: shoot("spec", "kubernetes", "version"), VersionField: "spec.shoot.spec.kubernetes.version",
		Provider: shoot("spec", "provider", "type"), ProviderField: "spec.shoot.spec.provider.type",
	}
}

// text of a field; empty: there is none, or it is no text.
func text(object *unstructured.Unstructured, path ...string) string {
	value, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		return ""
	}
	return value
}

func flag(object *unstructured.Unstructured, path ...string) bool {
	value, _, err := unstructured.NestedBool(object.Object, path...)
	return err == nil && value
}
