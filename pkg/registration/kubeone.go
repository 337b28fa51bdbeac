package registration

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

const kubeOneGroup = "kubeone.k8c.io"

// KubeOneCluster is what a proposal needs of a KubeOneCluster's manifest. It leaves out all that may be secret.
// https://github.com/kubermatic/kubeone/blob/a3c4f6b0e0f1/pkg/apis/kubeone/v1beta3/types.go
type KubeOneCluster struct {
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Name          string `json:"name"`
	CloudProvider struct {
		External     bool      `json:"external"`
		CloudConfig  isGiven   `json:"cloudConfig"`
		AWS          *struct{} `json:"aws"`
		Azure        *struct{} `json:"azure"`
		GCE          *struct{} `json:"gce"`
		OpenStack    *struct{} `json:"openstack"`
		VSphere      *struct{} `json:"vsphere"`
		Hetzner      *struct{} `json:"hetzner"`
		DigitalOcean *struct{} `json:"digitalocean"`
		EquinixMetal *struct{} `json:"equinixmetal"`
		KubeVirt     *struct{} `json:"kubevirt"`
		Nutanix      *struct{} `json:"nutanix"`
		VCloud       *struct{} `json:"vmwareCloudDirector"`
		None         *struct{} `json:"none"`
	} `json:"cloudProvider"`
	Versions struct {
		Kubernetes string `json:"kubernetes"`
	} `json:"versions"`
	ControlPlane           kubeOneHosts   `json:"controlPlane"`
	StaticWorkers          kubeOneHosts   `json:"staticWorkers"`
	MachineController      *kubeOneDeploy `json:"machineController"`
	OperatingSystemManager *kubeOneDeploy `json:"operatingSystemManager"`
}

type kubeOneHosts struct {
	Hosts []struct{} `json:"hosts"`
}

type kubeOneDeploy struct {
	Deploy bool `json:"deploy"`
}

// isGiven says that there was a value, and forgets it.
type isGiven bool

// UnmarshalJSON looks at the value's length only: a cloud configuration has credentials.
func (g *isGiven) UnmarshalJSON(data []byte) error {
	*g = len(data) > len(`""`) && string(data) != "null"
	return nil
}

// ReadKubeOne reads a manifest. Its errors quote nothing of it: it may hold credentials.
func ReadKubeOne(data []byte) (KubeOneCluster, error) {
	cluster := KubeOneCluster{}
	if yaml.Unmarshal(data, &cluster) != nil {
		return cluster, errors.New("it is no YAML of one KubeOneCluster")
	}
	known := []string{kubeOneGroup + "/v1beta2", kubeOneGroup + "/v1beta3"}
	switch {
	case cluster.Kind != "KubeOneCluster" || !slices.Contains(known, cluster.APIVersion):
		return cluster, fmt.Errorf("it is no KubeOneCluster of %s; kubeone config migrate updates an older one",
			strings.Join(known, " or "))
	case cluster.Name == "":
		return cluster, errors.New("it has no name")
	}
	return cluster, nil
}

// Secrets that a proposal depends on.
func (k KubeOneCluster) Secrets() []string { return secretsOf(k.Name) }

// provider is the one whose part of spec.cloudProvider is there; empty: none, or several are.
func (k KubeOneCluster) provider() string {
	given := k.CloudProvider
	name := ""
	for _, one := range []struct {
		name  string
		given *struct{}
	}{
		{"aws", given.AWS}, {"azure", given.Azure}, {"gce", given.GCE}, {"openstack", given.OpenStack}, {"vsphere", given.VSphere},
		{"hetzner", given.Hetzner}, {"digitalocean", given.DigitalOcean}, {"equinixmetal", given.EquinixMetal},
		{"kubevirt", given.KubeVirt}, {"nutanix", given.Nutanix}, {"vmwareCloudDirector", given.VCloud}, {"none", given.None},
	} {
		switch {
		case one.given == nil:
		case name != "":
			return ""
		default:
			name = one.name
		}
	}
	return name
}

// ProviderName in the catalogue.
func (k KubeOneCluster) ProviderName(providers Providers) string {
	return providers.named(k.provider())
}

// Propose a Cluster for a cluster that KubeOne made: static pods, with the machine-controller in the cluster itself. Only the
// manifest and the namespace were looked at, so it says what a person has to look at there.
func (k KubeOneCluster) Propose(namespace string, look Look, providers Providers) Proposal {
	subject := "KubeOneCluster " + k.Name
	if refused := k.refused(look, providers); refused != "" {
		return refusal(subject, refused)
	}
	made := Proposal{Subject: subject}
	made.warn("Only the manifest was read, not the cluster. An in-tree provider is what the manifest asks for; condition " +
		"ReadyToMigrate will say what runs.")
	made.warn(unknownClusters(look.Clusters)...)
	made.add(
		Field{Path: "metadata.name", Value: k.Name, From: "name of the manifest."},
		Field{Path: "metadata.namespace", Value: namespace, From: "--namespace, or the current context.",
			Check: "A namespace of the management cluster that only those may write to who may administer this user cluster."},
		k.versionField(), k.providerField(providers), k.cloudConfigField(look, providers),
	)
	off := switchedOff()
	made.add(off[0])
	made.add(look.kubeconfigFields(k.Name, nil)...)
	made.add(staticFields()...)
	made.add(k.machineFields()...)
	made.add(k.acceptField()...)
	made.add(off[1])
	return providers.judge(made)
}

func (k KubeOneCluster) refused(look Look, providers Providers) string {
	name := k.provider()
	_, inTree := providers.InTree[name]
	switch {
	case k.CloudProvider.External:
		return "cloudProvider.external is true: there is nothing to migrate."
	case name == "none":
		return "cloudProvider is none: there is no in-tree provider to migrate from."
	case name != "" && !inTree:
		// Hetzner is in the catalogue, and was never in-tree.
		return "provider " + name + " was never in-tree, or is not in the catalogue: there is nothing to migrate."
	}
	return nameTaken(look.Clusters, k.Name)
}

func (k KubeOneCluster) versionField() Field {
	field := Field{Path: "spec.version", From: "versions.kubernetes of the manifest.",
		Check: "kubectl version says the same: the manifest is what KubeOne applies next."}
	if version := asVersion(k.Versions.Kubernetes); version != "" {
		field.Value = version
		return field
	}
	field.From, field.Check = "versions.kubernetes of the manifest is no version of Kubernetes with a patch release.",
		"the version that kubectl version says, such as 1.25.16."
	return field
}

func (k KubeOneCluster) providerField(providers Providers) Field {
	field := Field{Path: "spec.cloud.providerName"}
	if name := k.provider(); name != "" {
		field.Value, field.From = providers.named(name), "cloudProvider."+name+" of the manifest."
		field.Check = "KCM runs --cloud-provider=" + name + ". The field is immutable."
		return field
	}
	field.From = "cloudProvider of the manifest names no provider, or several."
	field.Check = "the provider that KCM runs with. It is immutable."
	return field
}

func (k KubeOneCluster) cloudConfigField(look Look, providers Providers) Field {
	field, own := ownCloudConfigField(look, k.Name), ownCloudConfig(k.Name)
	if field.Value != nil {
		return field
	}
	field.From = "a manifest names no Secret." + unlooked(look, own)
	field.Check = "a Secret with " + providers.keysOf(k.ProviderName(providers)) + ", for example " + own + "."
	if k.CloudProvider.CloudConfig {
		field.Check += " cloudProvider.cloudConfig of the manifest has the configuration."
	}
	return field
}

// staticFields are about static pods, which an administrator changes whatever the fields say.
func staticFields() []Field {
	return []Field{
		{Path: "spec.controlPlane.type", Value: string(ucv1.ExternalControlPlane),
			From: "KubeOne makes control planes of static pods, by kubeadm."},
		{Path: "spec.controlPlane.kubeControllerManager.container", Value: controllerManager, From: "the name that kubeadm gives it."},
		{Path: "spec.controlPlane.kubeAPIServer.container", Value: apiServer, From: "the name that kubeadm gives it.",
			Check: "status.instructions will say what to change in it, too. ownership: Foreign leaves that out."},
	}
}

// machineFields follow the defaults of KubeOne: the operating-system-manager is there where the machine-controller is.
// https://github.com/kubermatic/kubeone/blob/35690713ab71/pkg/apis/kubeone/v1beta2/defaults.go
func (k KubeOneCluster) machineFields() []Field {
	if k.MachineController != nil && !k.MachineController.Deploy {
		return []Field{{
			Path: machineSpec + ".location", From: "machineController.deploy of the manifest is false.",
			Check: "where the machine-controller is, if another tool deployed one. Without Machines, leave the field out.",
		}}
	}
	fields := []Field{{Path: machineSpec + ".location", Value: string(ucv1.UserClusterLocation),
		From:  "KubeOne deploys the machine-controller into namespace kube-system of the cluster.",
		Check: "kubectl -n kube-system get deployment machine-controller machine-controller-webhook operating-system-manager"}}
	if k.OperatingSystemManager != nil && !k.OperatingSystemManager.Deploy {
		fields = append(fields, Field{Path: machineSpec + ".operatingSystemManager.mode",
			Value: string(ucv1.OperatingSystemManagerNone), From: "operatingSystemManager.deploy of the manifest is false."})
	}
	return fields
}

// acceptField is about Nodes that no Machine stands for. Their names are not in the manifest, and no one but a person vouches.
func (k KubeOneCluster) acceptField() []Field {
	from := "the manifest has " + wording.Count(len(k.ControlPlane.Hosts), "host", "hosts") + " of the control plane and " +
		wording.Count(len(k.StaticWorkers.Hosts), "static worker", "static workers") + "; these Nodes have no Machines."
	if len(k.ControlPlane.Hosts) == 0 {
		from = "the Nodes of the control plane have no Machines, and neither have static workers."
	}
	return []Field{{Path: "spec.rollout.acceptNodes", From: from,
		Check: "later, the names of those Nodes whose kubelets you made external."}}
}
