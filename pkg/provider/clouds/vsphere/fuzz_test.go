package vsphere

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

// FuzzCloudConfig: what is read can be written and read again, in both forms, and nothing panics.
func FuzzCloudConfig(f *testing.F) {
	for _, seed := range []string{
		"[Global]\nuser = \"a@b\"\npassword = \"p\\\\\\\"#;\"\nport=443\ninsecure-flag\n[VirtualCenter \"vc\"] ; c\ndatacenters = " +
			"a, b\n",
		"[Global]\r\nuser=a@b\r\npassword=a \\\r\n " +
			"b\r\nserver=10.0.0.1\r\n[Labels]\r\nzone=z\r\nregion=r\r\n[Network]\npublic-network=VM N\n",
		"[VirtualCenter \"fd00::1\"]\nuser=\"A\\\\b\"\npassword=p\nsoap-roundtrip-count=3\nthumbprint=AA\n",
		"global: {user: a@b, password: \"\\u00e9'\\\"\"}\n" +
			"vcenter:\n  a: {server: vc, ipFamily: [ipv4, ipv6], datacenters: [x]}\nlabels: {zone: z, region: r}\n",
		"vcenter: {a: {server: vc, user: a@b, password: p}}\nnodes: {internalNetworkSubnetCidr: 10.0.0.0/8, externalVmNetworkName: " +
			"n}\n",
		"{\"global\": {\"server\": \"vc\", \"secretName\": \"s\"}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		conf, problem := parse(map[string][]byte{configKey: []byte(text)})
		if problem != "" {
			return
		}
		written, err := render(conf)
		g.Expect(err).NotTo(HaveOccurred())
		again, problem := parse(map[string][]byte{configKey: written})
		g.Expect(problem).To(BeEmpty())
		g.Expect(again).To(Equal(conf))

		entries, problem := gcfg.Read(string(conf.csiConfig("id", "")))
		g.Expect(problem).To(BeEmpty())
		found := map[string]connection{}
		for _, entry := range entries {
			if entry.Section == "virtualcenter" {
				center := found[entry.Subsection]
				switch entry.Key {
				case "user":
					center.User = entry.Value
				case "password":
					center.Password = entry.Value
				}
				found[entry.Subsection] = center
			}
		}
		for server, center := range conf.VCenter {
			g.Expect(found).To(HaveKeyWithValue(server, connection{User: center.User, Password: center.Password}))
		}
	})
}
