package vsphere

import (
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	// configDir is where both components have their configuration, credentialsDir where the CCM has its credentials: a folder of
	// nothing else, because a file with another name than those of credentials is an error to it:
	// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/common/credentialmanager/credentialmanager.go
	configDir      = "/etc/cloud"
	credentialsDir = "/etc/cloud-credentials"

	csiConfigKey = "csi-vsphere.conf"
)

// withoutCredentials is what the CCM reads. The folder has to be named in the file, although it has a default:
// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/common/config/config_yaml.go#L80
func (c configuration) withoutCredentials() configuration {
	centers := map[string]connection{}
	for server, center := range c.VCenter {
		center.User, center.Password = "", ""
		center.CAFile = mountedFile(center.CAFile)
		centers[server] = center
	}
	c.VCenter = centers
	c.Global.SecretsDirectory = credentialsDir
	return c
}

func mountedFile(file string) string {
	if file == "" {
		return ""
	}
	return configDir + "/" + path.Base(file)
}

// credentials are the files that the CCM reads them from. An address with colons cannot be a part of their names:
// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.30.2/pkg/common/credentialmanager/credentialmanager.go
// (parseConfig).
func (c configuration) credentials() map[string][]byte {
	files := map[string][]byte{}
	for at, server := range c.servers() {
		center := c.VCenter[server]
		if net.ParseIP(server) != nil && strings.Contains(server, ":") {
			id := strconv.Itoa(at)
			files["server_"+id], files["username_"+id], files["password_"+id] = []byte(server), []byte(
				center.User,
			), []byte(center.Password)
			continue
		}
		files[server+".username"], files[server+".password"] = []byte(center.User), []byte(center.Password)
	}
	return files
}

func (c configuration) servers() []string { return slices.Sorted(maps.Keys(c.VCenter)) }

// withCertificates adds the CA bundles that the configuration names.
func (c configuration) withCertificates(files, data map[string][]byte) map[string][]byte {
	for _, center := range c.VCenter {
		if center.CAFile != "" {
			name := path.Base(center.CAFile)
			files[name] = data[name]
		}
	}
	return files
}

// csiConfig is the file of the CSI driver, which has the credentials in it. Facts from pkg/common/config of
// https://github.com/kubernetes-sigs/vsphere-csi-driver, tags v3.3.1 to v3.7.2.
func (c configuration) csiConfig(clusterID, datastore string) []byte {
	var out file
	out.section("Global", "")
	out.line("cluster-id", clusterID)
	servers := c.servers()
	if len(servers) == 1 {
		// With one vCenter these two are read from here:
		// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/common/cns-lib/vsphere/utils.go#L188
		out.trust(c.VCenter[servers[0]])
	}
	for _, server := range servers {
		center := c.VCenter[server]
		out.section("VirtualCenter", server)
		out.line("user", center.User)
		out.line("password", center.Password)
		if center.Port != 0 {
			out.line("port", strconv.Itoa(int(center.Port)))
		}
		out.line("insecure-flag", strconv.FormatBool(center.InsecureFlag))
		if len(servers) > 1 {
			out.trust(center)
		}
		out.line("datacenters", strings.Join(center.Datacenters, ","))
		out.line("migration-datastore-url", datastore)
	}
	c.Labels.topology(&out, len(servers) > 1)
	return []byte(out.String())
}

// topology are the tag categories of zones and regions. CSI migration translates those of in-tree volumes to two fixed
// labels: https://github.com/kubernetes/csi-translation-lib/blob/v0.36.4/plugins/vsphere_volume.go#L35-L39
// The driver gives Nodes these labels only if zone and region name the categories: with topology-categories it makes labels
// of the categories' names, and volumes with a zone fit no Node. Several vCenters need topology-categories, and there the
// driver does not serve in-tree volumes:
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/syncer/cnsoperator/controller/csinodetopology/csinodetopology_controller.go#L514-L580
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/common/config/config.go#L372
func (l labels) topology(out *file, severalCenters bool) {
	if l.Zone == "" {
		return
	}
	out.section("Labels", "")
	if severalCenters {
		out.line("topology-categories", l.Zone+","+l.Region)
		return
	}
	out.line("zone", l.Zone)
	out.line("region", l.Region)
	for _, category := range []struct{ name, label string }{{l.Zone, "zone"}, {l.Region, "region"}} {
		out.section("TopologyCategory", category.name)
		out.line("label", "topology.csi.vmware.com/"+category.label)
	}
}

// file is an INI file that is being written.
type file struct{ strings.Builder }

func (f *file) section(name, part string) {
	if f.Len() > 0 {
		f.WriteString("\n")
	}
	f.WriteString(gcfg.Header(name, part))
}

func (f *file) line(key, value string) {
	if value != "" {
		f.WriteString(gcfg.Line(key, value))
	}
}

func (f *file) trust(center connection) {
	f.line("ca-file", mountedFile(center.CAFile))
	f.line("thumbprint", center.Thumbprint)
}

// clusterID is what the volumes in vCenter are marked with. It has to be the one that an earlier driver of the cluster had, and
// another one than that of any other cluster; the cluster's name is mostly "kubernetes".
func clusterID(in manifest.RenderInput) string {
	if id := trimmed(in.CloudConfig[clusterIDKey]); id != "" {
		return id
	}
	return in.ClusterUID
}
