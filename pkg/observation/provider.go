package observation

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Provider is what deciding needs of the catalogue.
type Provider struct {
	Name string
	// CanMigrate says that an in-tree provider of that name existed, so that there is something to migrate from.
	CanMigrate bool
	// VersionProblem is empty when CCM and CSI exist for the cluster's version, else a sentence.
	VersionProblem string
	// NextVersionProblem is VersionProblem of the next minor.
	NextVersionProblem string
	// MigrationProblem is empty when the version rules let a cluster of this version migrate, else why they do not.
	MigrationProblem string
	// LastInTreeMinor is the last minor whose KCM knows the provider.
	LastInTreeMinor int
	// InTreeName is the value of --cloud-provider of a KCM that runs it.
	InTreeName string
	// ProviderIDPrefix is what every providerID of the provider begins with, such as openstack:///.
	ProviderIDPrefix string
	// ProviderIDForm is a regular expression that every providerID matches which the CCM understands.
	ProviderIDForm string
	// CSIDrivers that every Node has to register.
	CSIDrivers []string
	// DefaultClass is the StorageClass of the catalogue that becomes the default; without a name none does.
	DefaultClass DefaultClass
	// ProbeHazard says why a CCM of the provider must not be probed; empty when it can be.
	ProbeHazard string
	// MigrationGates are the CSI migration gates that this minor and provider still have, by name.
	MigrationGates map[string]bool
	// RetiredGates are on for good in this minor and unknown to the next one or two: they go with the in-tree flags.
	RetiredGates []string
	// SharesLoadBalancerNames says that the in-tree provider finds load balancers that the CCM made, by the name of the
	// cluster.
	SharesLoadBalancerNames bool
	// LoadBalancerNames is the format of the names that the CCM gives load balancers, of the cluster's name, and the namespace and
	// the name of the Service. It is set where the CCM goes on with load balancers that the in-tree provider made, and never deletes
	// them because of their names.
	LoadBalancerNames string
	// FreesClusterName says that the CCM has the name of the cluster in the names of load balancers, and the in-tree provider has it
	// in the names of nothing that it looks for: until the CCM leads the name may be changed.
	FreesClusterName bool
	// DetachesFirst says that the machine-controller deletes no instance whose Node has a VolumeAttachment, however late it is.
	DetachesFirst bool
	// MigratedPlugins are the in-tree volume plugins whose volumes the CSI driver serves in this minor, whatever the flags.
	MigratedPlugins []string
	// InTreePlugins are all of its in-tree volume plugins.
	InTreePlugins []string
	// RegisteredBy is the CRD, as resource.group, by which the CSI driver says that it knows an in-tree volume; empty: it needs not
	// to.
	RegisteredBy string
	// Registries are the cloud's.
	Registries Registries
	// CloudNodeLater says that the CCM of a cluster that migrates starts without its loop cloud-node, which row MachineController
	// switches on: until then the kubelets write the addresses of their Nodes.
	CloudNodeLater bool
	// ProfileProblem is a sentence when the ProviderProfile that is laid over the catalogue cannot be used.
	ProfileProblem string
}

// ProviderID is the full form; of a provider that has none, something has to follow the prefix.
func (p Provider) ProviderID() *regexp.Regexp {
	if p.ProviderIDForm != "" {
		return regexp.MustCompile(p.ProviderIDForm)
	}
	return regexp.MustCompile("^" + regexp.QuoteMeta(p.ProviderIDPrefix) + ".")
}

// Registries of a cloud, which kubelets on its machines log in to by themselves, without a secret.
type Registries struct {
	// Hosts are patterns, as in matchImages of a kubelet's CredentialProviderConfig.
	Hosts []string
	// LastMinor whose kubelets do so.
	LastMinor int
	// Public says that some of what is there can be pulled by everyone.
	Public bool
}

// Of says which of the hosts the repository of an image is at, if at any.
func (r Registries) Of(repository string) (host string, ok bool) {
	host, _, found := strings.Cut(repository, "/")
	return host, found && slices.ContainsFunc(r.Hosts, func(pattern string) bool {
		matches, err := path.Match(pattern, host)
		return err == nil && matches
	})
}

// DefaultClass is a StorageClass of the catalogue.
type DefaultClass struct {
	// Name of the class.
	Name string
	// Plugin is the in-tree plugin whose default class it succeeds; empty: none.
	Plugin string
}
