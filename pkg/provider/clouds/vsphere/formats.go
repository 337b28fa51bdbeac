package vsphere

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

// configuration is the file of the external provider. Facts from pkg/common/config/types_yaml.go and
// pkg/cloudprovider/vsphere/config/types_yaml.go of https://github.com/kubernetes/cloud-provider-vsphere, tag v1.36.0.
type configuration struct {
	Global  global                `json:"global,omitzero"`
	VCenter map[string]connection `json:"vcenter,omitempty"`
	Labels  labels                `json:"labels,omitzero"`
	Nodes   nodes                 `json:"nodes,omitzero"`
	// What follows is for NSX, and refused.
	NSXT              any `json:"nsxt,omitempty"`
	LoadBalancer      any `json:"loadBalancer,omitempty"`
	LoadBalancerClass any `json:"loadBalancerClass,omitempty"`
	Route             any `json:"route,omitempty"`
}

// connection is what can be said of one vCenter, and of all of them.
type connection struct {
	User               string   `json:"user,omitempty"`
	Password           string   `json:"password,omitempty"`
	Server             string   `json:"server,omitempty"`
	Port               uint16   `json:"port,omitempty"`
	InsecureFlag       bool     `json:"insecureFlag,omitempty"`
	Datacenters        []string `json:"datacenters,omitempty"`
	SoapRoundtripCount uint32   `json:"soapRoundtripCount,omitempty"`
	CAFile             string   `json:"caFile,omitempty"`
	Thumbprint         string   `json:"thumbprint,omitempty"`
	SecretName         string   `json:"secretName,omitempty"`
	SecretNamespace    string   `json:"secretNamespace,omitempty"`
	IPFamily           []string `json:"ipFamily,omitempty"`
}

type global struct {
	connection
	SecretsDirectory string `json:"secretsDirectory,omitempty"`
	// An interface that nothing in a cluster asks; it is left out.
	APIDisable any `json:"apiDisable,omitempty"`
	APIBinding any `json:"apiBinding,omitempty"`
}

type labels struct {
	Zone   string `json:"zone,omitempty"`
	Region string `json:"region,omitempty"`
}

type nodes struct {
	InternalNetworkSubnetCIDR        string `json:"internalNetworkSubnetCidr,omitempty"`
	ExternalNetworkSubnetCIDR        string `json:"externalNetworkSubnetCidr,omitempty"`
	InternalVMNetworkName            string `json:"internalVmNetworkName,omitempty"`
	ExternalVMNetworkName            string `json:"externalVmNetworkName,omitempty"`
	ExcludeInternalNetworkSubnetCIDR string `json:"excludeInternalNetworkSubnetCidr,omitempty"`
	ExcludeExternalNetworkSubnetCIDR string `json:"excludeExternalNetworkSubnetCidr,omitempty"`
}

// render is what fromYAML reads.
func render(conf configuration) ([]byte, error) {
	text, err := yaml.Marshal(conf)
	if err != nil {
		return nil, errors.New("write vsphere.conf: it has a value that YAML cannot have")
	}
	return text, nil
}

// fromYAML reads the file of the external provider. That one ignores what it does not know; a misspelled key is refused here.
// The errors of the two decoders are not shown: they quote what they read.
func fromYAML(text string) (conf configuration, problem string) {
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return conf, "is neither INI, which begins with a section like [Global], nor YAML, or has the same key twice: correct it"
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	switch wrong, err := (*json.UnmarshalTypeError)(nil), decoder.Decode(&conf); {
	case errors.As(err, &wrong):
		field := cmp.Or(strings.Replace(wrong.Field, ".connection", "", 1), "the file as a whole")
		return conf, fmt.Sprintf("has a wrong type in %s: it has to be %s", field, kindOf(wrong))
	case err != nil && !errors.Is(err, io.EOF):
		return conf, "has a key that the configuration of the vSphere cloud-controller-manager does not have: compare its spelling, " +
			"and whether it is the configuration of another provider"
	}
	return conf, ""
}

func kindOf(wrong *json.UnmarshalTypeError) string {
	switch wrong.Type.String() {
	case "string":
		return "a text, in quotes if it looks like a number"
	case "bool":
		return "true or false"
	case "uint16":
		return "a number from 0 to 65535"
	case "uint32":
		return "a number"
	case "[]string":
		return "a list of texts"
	}
	return "a map"
}

// section of an INI file: what stands in it, by key.
type section map[string]gcfg.Entry

// inTreeKeys of each section. Facts from
// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/vsphere/vsphere.go#L124-L222
func inTreeKeys(section string) []string {
	switch section {
	case "global":
		return []string{
			"", "user", "password", "server", "port", "insecure-flag", "ca-file", "thumbprint", "datacenter", "datacenters", "datastore",
			"working-dir", "soap-roundtrip-count", "vm-uuid", "vm-name", "secret-name", "secret-namespace", "secret-not-managed",
		}
	case "virtualcenter":
		return []string{"", "user", "password", "port", "datacenters", "soap-roundtrip-count", "thumbprint"}
	case "network":
		return []string{"", "public-network"}
	case "disk":
		return []string{"", "scsicontrollertype"}
	case "workspace":
		return []string{"", "server", "datacenter", "folder", "default-datastore", "resourcepool-path"}
	case "labels":
		return []string{"", "zone", "region"}
	}
	return nil
}

// fromINI turns the file of the in-tree provider into that of the external one. What only placed the volumes of the in-tree
// plugin, such as Workspace and Disk, goes.
func fromINI(text string) (conf configuration, problem string) {
	sections, centers, problem := readSections(text)
	if problem != "" {
		return conf, problem
	}
	if conf.Global.connection, problem = sections["global"].connection(); problem != "" {
		return conf, problem
	}
	all := sections["global"]
	conf.Global.Server, conf.Global.CAFile = all["server"].Value, all["ca-file"].Value
	if all["secret-namespace"].Value != "" {
		conf.Global.SecretName = all["secret-name"].Value
	}
	if flag := all["insecure-flag"]; flag.Key != "" {
		if conf.Global.InsecureFlag, problem = truth(flag); problem != "" {
			return conf, problem
		}
	}
	if len(conf.Global.Datacenters) == 0 {
		conf.Global.Datacenters = split([]string{all["datacenter"].Value})
	}
	if len(centers) > 0 {
		// The server is of the older form, which has no sections of vCenters.
		conf.Global.Server, conf.VCenter = "", map[string]connection{}
	}
	for server, center := range centers {
		made, problem := center.connection()
		if problem != "" {
			return conf, problem
		}
		made.Server = server
		conf.VCenter[server] = made
	}
	conf.Labels = labels{Zone: sections["labels"]["zone"].Value, Region: sections["labels"]["region"].Value}
	// The in-tree provider takes both addresses from that network. With the external name alone a Node would lose its InternalIP:
	// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/cloudprovider/vsphere/nodemanager.go (discoverIPs)
	network := sections["network"]["public-network"].Value
	conf.Nodes = nodes{InternalVMNetworkName: network, ExternalVMNetworkName: network}
	return conf, ""
}

// readSections refuses what the in-tree provider refuses, and what it would read in another way than it looks.
func readSections(text string) (sections, centers map[string]section, problem string) {
	entries, problem := gcfg.Read(text)
	if problem != "" {
		return nil, nil, problem
	}
	sections, centers = map[string]section{}, map[string]section{}
	for _, entry := range entries {
		into, name := sections, entry.Section
		if entry.Section == "virtualcenter" {
			into, name = centers, entry.Subsection
		}
		if problem := into[name].problem(entry); problem != "" {
			return nil, nil, fmt.Sprintf("line %d, %s", entry.Line, problem)
		}
		if into[name] == nil {
			into[name] = section{}
		}
		into[name][entry.Key] = entry
	}
	return sections, centers, ""
}

// problem of one more entry.
func (s section) problem(entry gcfg.Entry) string {
	_, given := s[entry.Key]
	switch known := slices.Contains(inTreeKeys(entry.Section), entry.Key); {
	case !known || (entry.Section == "virtualcenter") != (entry.Subsection != ""):
		return "is a section or a key that the in-tree provider of vSphere does not have: compare its spelling, and whether it is " +
			"the configuration of another provider"
	case entry.Implied && entry.Key != "insecure-flag" && entry.Key != "secret-not-managed":
		return entry.Key + " has no value: add it, or remove the line"
	case given && entry.Key != "":
		return entry.Key + " stands in its section for the second time: keep one"
	}
	return ""
}

// connection is what both the section of a vCenter and the one for all can have.
func (s section) connection() (made connection, problem string) {
	made = connection{
		User: s["user"].Value, Password: s["password"].Value, Thumbprint: s["thumbprint"].Value,
		Datacenters: split([]string{s["datacenters"].Value}),
	}
	if port := s["port"]; port.Value != "" {
		number, err := strconv.ParseUint(port.Value, 10, 16)
		if err != nil {
			return made, fmt.Sprintf("line %d, port is not a number from 1 to 65535: correct it", port.Line)
		}
		made.Port = uint16(number)
	}
	if count := s["soap-roundtrip-count"]; count.Key != "" {
		number, err := strconv.ParseUint(count.Value, 10, 32)
		if err != nil {
			return made, fmt.Sprintf("line %d, soap-roundtrip-count is not a number: correct it", count.Line)
		}
		made.SoapRoundtripCount = uint32(number)
	}
	return made, ""
}

func truth(flag gcfg.Entry) (value bool, problem string) {
	if value, known := gcfg.Bool(flag.Value); known || flag.Implied {
		return value || flag.Implied, ""
	}
	return false, fmt.Sprintf("line %d, %s is neither true nor false: correct it", flag.Line, flag.Key)
}
