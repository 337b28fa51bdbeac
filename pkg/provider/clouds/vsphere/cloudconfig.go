package vsphere

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// configKey of the Secret is what both providers call their file.
	configKey = "vsphere.conf"
	// clusterIDKey and datastoreKey are for the CSI driver only, and optional.
	clusterIDKey = "cluster-id"
	datastoreKey = "migration-datastore-url"
)

// CloudConfigProblem names the keys that are missing or unusable.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	conf, problem := parse(data)
	if problem != "" {
		return problem
	}
	// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/common/config/config.go#L362
	if id, given := data[clusterIDKey]; given && (len(trimmed(id)) == 0 || len(trimmed(id)) > 64 || !printable(trimmed(id))) {
		return "key cluster-id has to have 1 to 64 characters in one line: correct it, or remove it, and the CSI driver gets the " +
			"cluster's UID"
	}
	if url, given := data[datastoreKey]; given {
		switch {
		case !strings.HasPrefix(trimmed(url), "ds:///vmfs/volumes/") || !printable(trimmed(url)):
			return "key migration-datastore-url is not the URL of a datastore: write it like ds:///vmfs/volumes/ID/, as vCenter shows it"
		case len(conf.VCenter) > 1:
			return "key migration-datastore-url is of no use with more than one vCenter: remove it"
		}
	}
	return ""
}

// parse reads the Secret into the form of the external provider, in which every vCenter, under its server, has all that it needs,
// credentials too.
func parse(data map[string][]byte) (conf configuration, problem string) {
	text := string(data[configKey])
	if strings.TrimSpace(text) == "" {
		return conf, "it lacks key vsphere.conf: add the file that kube-controller-manager reads by --cloud-config"
	}
	if isINI(text) {
		conf, problem = fromINI(text)
	} else {
		conf, problem = fromYAML(text)
	}
	if problem == "" {
		problem = conf.complete(data)
	}
	if problem != "" {
		return configuration{}, "key vsphere.conf, " + problem
	}
	return conf, ""
}

// isINI says whether the first line that is no comment begins a section.
func isINI(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != ';' {
			return line[0] == '['
		}
	}
	return false
}

// complete checks the configuration, and gives every vCenter what stands for all of them.
func (c *configuration) complete(data map[string][]byte) (problem string) {
	if c.NSXT != nil || c.LoadBalancer != nil || c.LoadBalancerClass != nil || c.Route != nil {
		return "has nsxt, loadBalancer, loadBalancerClass or route, which the catalogue does not support: remove them"
	}
	found := map[string]connection{}
	for _, center := range c.all() {
		made, problem := center.complete(c.Global, data)
		if problem != "" {
			return problem
		}
		if _, given := found[made.Server]; given {
			return "has vCenter " + made.Server + " twice: keep one"
		}
		found[made.Server] = made
	}
	c.VCenter, c.Global = found, global{}
	if c.Labels.Zone == "" || c.Labels.Region == "" {
		// One without the other counts for neither provider:
		// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/vsphere/vsphere.go (isZoneEnabled)
		c.Labels = labels{}
	}
	return c.problem()
}

// all vCenters: those with an entry, and the one that is named without one.
func (c *configuration) all() []connection {
	var all []connection
	for _, tenant := range slices.Sorted(maps.Keys(c.VCenter)) {
		all = append(all, c.VCenter[tenant])
	}
	if _, given := c.VCenter[c.Global.Server]; !given && c.Global.Server != "" {
		all = append(all, connection{Server: c.Global.Server})
	}
	return all
}

func (c *configuration) problem() string {
	switch count := len(c.VCenter); {
	case count == 0:
		return `names no vCenter: add section [VirtualCenter "address"], or, in YAML, an entry of vcenter with its server`
	case count > 5:
		return "names more than the five vCenters that the CSI driver can have: remove some"
	case count > 1 && c.Labels.Zone == "":
		return "names more than one vCenter, which the CSI driver tells apart by zone and region: add both to Labels"
	}
	if !printable(c.Labels.Zone) || !printable(c.Labels.Region) || strings.Contains(c.Labels.Zone+c.Labels.Region, ",") {
		return "has a zone or region that is no name of a tag category: it is to have no comma and no control character"
	}
	return c.Nodes.problem()
}

func (n nodes) problem() string {
	if !printable(n.InternalVMNetworkName) || !printable(n.ExternalVMNetworkName) {
		return "has the name of a network with a control character: correct it"
	}
	for _, list := range []string{
		n.InternalNetworkSubnetCIDR, n.ExternalNetworkSubnetCIDR, n.ExcludeInternalNetworkSubnetCIDR,
		n.ExcludeExternalNetworkSubnetCIDR,
	} {
		for cidr := range strings.SplitSeq(list, ",") {
			if _, _, err := net.ParseCIDR(cidr); list != "" && err != nil {
				return "has under nodes a subnet that is none: write them like 10.0.0.0/16, with a comma, and no blank, in between"
			}
		}
	}
	return ""
}

// complete gives a vCenter what stands for all.
func (v connection) complete(all global, data map[string][]byte) (made connection, problem string) {
	if !isHost(v.Server) {
		return v, "has a vCenter whose server is neither a host name nor an IP address: write it without https:// and port"
	}
	fromSecret := v.SecretName != "" || all.SecretName != "" || all.SecretsDirectory != ""
	v.SecretName, v.SecretNamespace = "", ""
	v.InsecureFlag = v.InsecureFlag || all.InsecureFlag
	v.User, v.Password = cmp.Or(v.User, all.User), cmp.Or(v.Password, all.Password)
	v.CAFile, v.Thumbprint = cmp.Or(v.CAFile, all.CAFile), cmp.Or(v.Thumbprint, all.Thumbprint)
	v.Port, v.SoapRoundtripCount = cmp.Or(v.Port, all.Port), cmp.Or(v.SoapRoundtripCount, all.SoapRoundtripCount)
	if v.Datacenters = split(v.Datacenters); len(v.Datacenters) == 0 {
		v.Datacenters = split(all.Datacenters)
	}
	if v.IPFamily = split(v.IPFamily); len(v.IPFamily) == 0 {
		v.IPFamily = split(all.IPFamily)
	}
	if problem := v.readCredentials(fromSecret, data); problem != "" {
		return v, problem
	}
	return v, v.problem(data)
}

// split makes a name of each entry: both components put them into one line with commas, and take it apart again.
func split(names []string) []string {
	var all []string
	for name := range strings.SplitSeq(strings.Join(names, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// readCredentials takes them from the keys that the Secret of either provider has, or leaves those of the file. The in-tree
// provider compares the keys without regard to case, the external one does not:
// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/vsphere/credentialmanager.go#L144
func (v *connection) readCredentials(fromSecret bool, data map[string][]byte) (problem string) {
	user, password := credential(data, v.Server+".username"), credential(data, v.Server+".password")
	switch {
	case user != "" && password != "":
		v.User, v.Password = user, password
	case fromSecret || user != "" || password != "":
		return fmt.Sprintf("takes the credentials from a Secret: add %s.username and %s.password to this Secret, as keys beside "+
			"vsphere.conf",
			v.Server, v.Server)
	case v.User == "" || v.Password == "":
		return fmt.Sprintf("lacks user or password of vCenter %s: add both, or keys %s.username and %s.password of this Secret",
			v.Server, v.Server, v.Server)
	}
	return ""
}

func credential(data map[string][]byte, name string) string {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.EqualFold(key, name) {
			return strings.TrimSuffix(strings.TrimSuffix(string(data[key]), "\n"), "\r")
		}
	}
	return ""
}

func (v connection) problem(data map[string][]byte) string {
	of := " of vCenter " + v.Server
	// It ends at its start with another one:
	// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/common/config/config.go#L395
	if !regexp.MustCompile(`^([a-zA-Z0-9.-]+\\[a-zA-Z0-9._-]+|[a-zA-Z0-9._-]+@[a-zA-Z0-9.-]+)$`).MatchString(v.User) {
		return "has a user" + of + ` that the CSI driver refuses: write it with its domain, like name@example.com or EXAMPLE\name`
	}
	for _, text := range append([]string{v.Password, v.Thumbprint, v.CAFile}, v.Datacenters...) {
		if !printable(text) {
			return "has a password, thumbprint, CA file or datacenter" + of + " with a line break or another control character: correct it"
		}
	}
	for _, family := range v.IPFamily {
		if family != "ipv4" && family != "ipv6" {
			return "has an ipFamily" + of + " other than ipv4 and ipv6: correct it"
		}
	}
	if v.CAFile != "" && !x509.NewCertPool().AppendCertsFromPEM(data[path.Base(v.CAFile)]) {
		return "has a ca-file" + of +
			" that is not in this Secret, or has no certificates as PEM: add it under the file's name, without its folder, as a key, " +
			"or remove ca-file"
	}
	return ""
}

// isHost says whether the text can be a host, and, with what is put behind it, a key of a Secret.
func isHost(text string) bool {
	return net.ParseIP(text) != nil || regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,200}[a-zA-Z0-9])?$`).MatchString(text)
}

// printable text survives all the files that it goes through.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func trimmed(value []byte) string { return strings.TrimSpace(string(value)) }
