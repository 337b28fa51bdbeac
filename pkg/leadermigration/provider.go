package leadermigration

import "slices"

// The last minor whose KCM knows a provider; the next one exits with "unknown cloud provider". The sources are in Providers.
// The catalogue has them from here, too.
const (
	LastInTreeAWS       = 26
	LastInTreeAzure     = 29
	LastInTreeGCE       = 30
	LastInTreeOpenStack = 25
	LastInTreeSimcloud  = 30
	LastInTreeVSphere   = 29
)

// Provider is what the lock has to know of a cloud provider.
type Provider struct {
	// Name is the value of KCM's --cloud-provider.
	Name string `json:"name"`
	// LastInTreeMinor is the last whose KCM knows the provider.
	LastInTreeMinor int `json:"lastInTreeMinor"`
	// LastInTreeSource is that minor's import of the provider.
	LastInTreeSource string `json:"lastInTreeSource"`
	// HonoursLock says that its CCM obeys --enable-leader-migration.
	HonoursLock bool `json:"honoursLock"`
	// NodeIPAM says that its CCM ships a node IPAM loop.
	NodeIPAM bool `json:"nodeIPAM"`
	// Reason is how its CCM comes to honour or ignore the lock; Source is where that was read.
	Reason string `json:"reason"`
	Source string `json:"source"`
}

// Providers that once were in-tree, and the simulated one of the testbed. A CCM that ends in Run of k8s.io/cloud-provider/app
// honours the lock; one with a main function of its own honours what it implements.
func Providers() []Provider {
	const runs = "its CCM runs on k8s.io/cloud-provider/app, which implements the lock"
	inTree := func(release string) string {
		return "https://github.com/kubernetes/kubernetes/blob/" + release + "/pkg/cloudprovider/providers/providers.go"
	}
	return []Provider{
		{
			Name: "aws", LastInTreeMinor: LastInTreeAWS, LastInTreeSource: inTree("v1.26.15"), HonoursLock: true, Reason: runs,
			Source: "https://github.com/kubernetes/cloud-provider-aws/blob/v1.27.1/cmd/aws-cloud-controller-manager/main.go",
		},
		{
			Name: "azure", LastInTreeMinor: LastInTreeAzure, LastInTreeSource: inTree("v1.29.14"), NodeIPAM: true,
			Reason: "its CCM has a main function of its own with one lock: it accepts the flags and ignores them",
			Source: "https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.30.0/cmd/cloud-controller-manager/app/" +
				"controllermanager.go",
		},
		{
			Name: "gce", LastInTreeMinor: LastInTreeGCE, LastInTreeSource: inTree("v1.30.14"), HonoursLock: true, NodeIPAM: true,
			Reason: runs, Source: "https://github.com/kubernetes/cloud-provider-gcp/blob/master/cmd/cloud-controller-manager/main.go",
		},
		{
			Name: "openstack", LastInTreeMinor: LastInTreeOpenStack, LastInTreeSource: inTree("v1.25.16") + "#L27",
			HonoursLock: true, Reason: runs,
			Source: "https://github.com/kubernetes/cloud-provider-openstack/blob/v1.26.0/cmd/openstack-cloud-controller-manager/main.go",
		},
		{
			Name: "simcloud", LastInTreeMinor: LastInTreeSimcloud, LastInTreeSource: "test/kubernetes",
			HonoursLock: true, Reason: runs, Source: "test/leadermigration",
		},
		{
			Name: "vsphere", LastInTreeMinor: LastInTreeVSphere, LastInTreeSource: inTree("v1.29.14"), HonoursLock: true,
			Reason: "its CCM has a main function of its own, which ends in Run of k8s.io/cloud-provider/app",
			Source: "https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.28.0/cmd/vsphere-cloud-controller-manager/main.go",
		},
	}
}

// LookupProvider finds a provider by the value of --cloud-provider; gcp is another word for gce.
func LookupProvider(name string) (Provider, bool) {
	if name == "gcp" {
		name = "gce"
	}
	providers := Providers()
	at := slices.IndexFunc(providers, func(p Provider) bool { return p.Name == name })
	if at < 0 {
		return Provider{}, false
	}
	return providers[at], true
}
