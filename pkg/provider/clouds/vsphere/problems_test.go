package vsphere_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/vsphere"
)

type problem struct {
	data map[string][]byte
	want string
}

func iniProblems() map[string]problem {
	const spelling = "is a section or a key that the in-tree provider of vSphere does not have: compare its spelling, and " +
		"whether it is the configuration of another provider"
	const unfinished = `has a value that is not finished: put it into double quotes, ` +
		`and write \\ for a backslash and \" for a quote in it`
	const header = `is not a section: write [Name], or [Name "part"], on a line of its own`
	return map[string]problem{
		"no Secret data": {nil, "it lacks key vsphere.conf: add the file that kube-controller-manager reads by --cloud-config"},
		"an empty file":  {secret(" \n"), "it lacks key vsphere.conf: add the file that kube-controller-manager reads by --cloud-config"},
		"OpenStack's configuration": {
			secret("[Global]\nauth-url=https://k\npassword=" + password), "key vsphere.conf, line 2, " + spelling,
		},
		"GCP's configuration":          {secret("[global]\nproject-id=a\n"), "key vsphere.conf, line 2, " + spelling},
		"a section that is none":       {secret("[BlockStorage]\n"), "key vsphere.conf, line 1, " + spelling},
		"a vCenter without its name":   {secret("[VirtualCenter]\n" + user), "key vsphere.conf, line 1, " + spelling},
		"a password without its key":   {secret("[Global]\n" + password + "\n"), "key vsphere.conf, line 2, " + spelling},
		"a section that does not end":  {secret("[Global\npassword=" + password), "key vsphere.conf, line 1, " + header},
		"a section with an empty part": {secret("[VirtualCenter \"\"]\n"), "key vsphere.conf, line 1, " + header},
		"a quote that does not end":    {secret("[Global]\npassword=\"" + password), "key vsphere.conf, line 2, " + unfinished},
		"a backslash without quotes":   {secret("[Global]\nuser=EXAMPLE\\" + password), "key vsphere.conf, line 2, " + unfinished},
		"an escape that is none":       {secret("[Global]\npassword=\"\\x" + password + "\""), "key vsphere.conf, line 2, " + unfinished},
		"a line that is no assignment": {
			secret("[Global]\npassword " + password), "key vsphere.conf, line 2, is not of the form name=value: correct it",
		},
		"a line that is nothing": {
			secret("[Global]\n!" + password), "key vsphere.conf, line 2, is neither a section, nor name=value in one: correct it",
		},
		"a key without a value": {secret("[Global]\npassword\n"), "key vsphere.conf, line 2, password has no value: add it, or remove the line"},
		"a key that stands twice": {
			secret("[Global]\n" + user + "[Disk]\n[global]\nPassword=" + password),
			"key vsphere.conf, line 6, password stands in its section for the second time: keep one",
		},
		"a port that is none": {
			secret("[Global]\nport=" + password), "key vsphere.conf, line 2, port is not a number from 1 to 65535: correct it",
		},
		"a port of a vCenter that is none": {
			secret("[VirtualCenter \"a\"]\nport=65536"), "key vsphere.conf, line 2, port is not a number from 1 to 65535: correct it",
		},
		"a count that is none": {
			secret("[Global]\nsoap-roundtrip-count=many"), "key vsphere.conf, line 2, soap-roundtrip-count is not a number: correct it",
		},
		"a flag that is none": {
			secret("[Global]\ninsecure-flag=" + password), "key vsphere.conf, line 2, insecure-flag is neither true nor false: correct it",
		},
		"no text": {secret("[Global]\nuser=\xff"), "key vsphere.conf, is not text in UTF-8: save it as such"},
	}
}

func yamlProblems() map[string]problem {
	const unknown = "key vsphere.conf, has a key that the configuration of the vSphere cloud-controller-manager does not have: " +
		"compare its spelling, and whether it is the configuration of another provider"
	const neither = "key vsphere.conf, is neither INI, which begins with a section like [Global], nor YAML, or has the same key " +
		"twice: correct it"
	return map[string]problem{
		"Azure's configuration": {secret(`{"tenantId": "a", "aadClientSecret": "` + password + `"}`), unknown},
		"a misspelled key":      {secret(external + "    passwrd: a\n"), unknown},
		"no YAML":               {secret("global: [" + password), neither},
		"the same key twice":    {secret(external + "    password: " + password + "\n"), neither},
		"a text only":           {secret(password), "key vsphere.conf, has a wrong type in the file as a whole: it has to be a map"},
		"a port that is a text": {
			secret(external + "    port: \"443\"\n"),
			"key vsphere.conf, has a wrong type in vcenter.port: it has to be a number from 0 to 65535",
		},
		"a port for all that is a text": {
			secret("global: {port: \"443\"}\n" + external),
			"key vsphere.conf, has a wrong type in global.port: it has to be a number from 0 to 65535",
		},
		"a flag that is a text": {
			secret(external + "    insecureFlag: \"1\"\n"),
			"key vsphere.conf, has a wrong type in vcenter.insecureFlag: it has to be true or false",
		},
		"datacenters that are no list": {
			secret(external + "    datacenters: one\n"),
			"key vsphere.conf, has a wrong type in vcenter.datacenters: it has to be a list of texts",
		},
		"a password that is a number": {
			secret("vcenter:\n  a:\n    password: 12345\n"),
			"key vsphere.conf, has a wrong type in vcenter.password: it has to be a text, in quotes if it looks like a number",
		},
		"a count that is negative": {
			secret(external + "    soapRoundtripCount: -1\n"),
			"key vsphere.conf, has a wrong type in vcenter.soapRoundtripCount: it has to be a number",
		},
		"NSX": {
			secret(external + "loadBalancer: {size: SMALL}\n"),
			"key vsphere.conf, has nsxt, loadBalancer, loadBalancerClass or route, which the catalogue does not support: remove them",
		},
		"an address family that is none": {
			secret(external + "    ipFamily: [" + password + "]\n"),
			"key vsphere.conf, has an ipFamily of vCenter vc.example.com other than ipv4 and ipv6: correct it",
		},
		"a subnet that is none": {
			secret(external + "nodes: {internalNetworkSubnetCidr: \"10.0.0.0/8, 10.0.0.0/8\"}\n"),
			"key vsphere.conf, has under nodes a subnet that is none: write them like 10.0.0.0/16, with a comma, and no blank, in between",
		},
		"a network with a line break": {
			secret(external + "nodes: {internalVmNetworkName: \"a\\nb\"}\n"),
			"key vsphere.conf, has the name of a network with a control character: correct it",
		},
		"a zone that is two": {
			secret(external + "labels: {zone: \"a,b\", region: r}\n"),
			"key vsphere.conf, has a zone or region that is no name of a tag category: it is to have no comma and no control character",
		},
		"a vCenter twice": {
			secret(external + strings.TrimPrefix(strings.Replace(external, "  a:", "  b:", 1), "vcenter:\n")),
			"key vsphere.conf, has vCenter vc.example.com twice: keep one",
		},
	}
}

func meaningProblems() map[string]problem {
	return map[string]problem{
		"no vCenter": {
			secret("[Global]\n" + user),
			`key vsphere.conf, names no vCenter: add section [VirtualCenter "address"], or, in YAML, an entry of vcenter with its server`,
		},
		"a vCenter that is a URL": {
			secret("[Global]\n" + user + "[VirtualCenter \"https://vc\"]\n"),
			"key vsphere.conf, has a vCenter whose server is neither a host " +
				"name nor an IP address: write it without https:// and port",
		},
		"YAML without a server": {
			secret("vcenter:\n  a:\n    user: b\n"), "key vsphere.conf, has a vCenter whose server is neither a host " +
				"name nor an IP address: write it without https:// and port",
		},
		"no user": {
			secret("[Global]\npassword=" + password + "\n[VirtualCenter \"vc\"]\n"),
			"key vsphere.conf, lacks user or password of vCenter vc: add both, or keys vc.username and vc.password of this Secret",
		},
		"no password": {
			secret("[Global]\nuser=a@b\n[VirtualCenter \"vc\"]\npassword=#" + password),
			"key vsphere.conf, lacks user or password of vCenter vc: add both, or keys vc.username and vc.password of this Secret",
		},
		"a Secret whose keys are not here": {
			secret(without), "key vsphere.conf, takes the credentials from a Secret: add VC.example.com.username and " +
				"VC.example.com.password to this Secret, as keys beside vsphere.conf",
		},
		"half of the keys": {
			secret(inTree, "vc.example.com.password", password), "key vsphere.conf, takes the credentials from a Secret: add " +
				"vc.example.com.username and vc.example.com.password to this Secret, as keys beside vsphere.conf",
		},
		"a user without a domain": {
			secret("[VirtualCenter \"vc\"]\nuser=" + password + "\npassword=" + password),
			"key vsphere.conf, has a user of vCenter vc that the CSI driver refuses: write it with its domain, like " +
				"name@example.com or EXAMPLE\\name",
		},
		"a password of two lines": {
			secret(inTree, "vc.example.com.username", "a@b", "vc.example.com.password", password+"\n"+password),
			"key vsphere.conf, has a password, thumbprint, CA file or datacenter of vCenter vc.example.com with a line break or another " +
				"control character: correct it",
		},
		"a CA bundle that is not here": {
			secret("[Global]\nca-file=/etc/ssl/vc.pem\n" + inTree[9:]),
			"key vsphere.conf, has a ca-file of vCenter vc.example.com that is not in " +
				"this Secret, or has no certificates as PEM: add it under the file's name, without its folder, as a key, or remove ca-file",
		},
		"a CA bundle that is no PEM": {
			secret("[Global]\nca-file=/etc/ssl/vc.pem\n"+inTree[9:], "vc.pem", password), "key vsphere.conf, has a ca-file of " +
				"vCenter vc.example.com that is not in this Secret, or has no certificates as PEM: add it under the file's name, " +
				"without its folder, as a key, or remove ca-file",
		},
	}
}

func rangeProblems() map[string]problem {
	return map[string]problem{
		"two vCenters without zones": {
			secret("[Global]\n" + user + "[VirtualCenter \"a\"]\n[VirtualCenter \"b\"]\n[Labels]\nzone=z\n"),
			"key vsphere.conf, names more than one vCenter, which the CSI driver tells apart by zone and region: add both to Labels",
		},
		"six vCenters": {
			secret("[Global]\n" + user + "[VirtualCenter \"a\"]\n[VirtualCenter \"b\"]\n[VirtualCenter \"c\"]\n[VirtualCenter \"d\"]\n" +
				"[VirtualCenter \"e\"]\n[VirtualCenter \"f\"]\n[Labels]\nzone=z\nregion=r\n"),
			"key vsphere.conf, names more than the five vCenters that the CSI driver can have: remove some",
		},
		"a cluster ID that is too long": {
			secret(inTree, "cluster-id", strings.Repeat("a", 65)),
			"key cluster-id has to have 1 to 64 characters in one line: correct it, or " +
				"remove it, and the CSI driver gets the cluster's UID",
		},
		"an empty cluster ID": {
			secret(inTree, "cluster-id", "\n"), "key cluster-id has to have 1 to 64 characters in one line: correct it, or " +
				"remove it, and the CSI driver gets the cluster's UID",
		},
		"the name of a datastore": {
			secret(inTree, "migration-datastore-url", password),
			"key migration-datastore-url is not the URL of a datastore: write it like ds:///vmfs/volumes/ID/, as vCenter shows it",
		},
		"a datastore and two vCenters": {
			secret("[Global]\n"+user+"[VirtualCenter \"a\"]\n[VirtualCenter \"b\"]\n[Labels]\nzone=z\nregion=r\n",
				"migration-datastore-url", "ds:///vmfs/volumes/1/"),
			"key migration-datastore-url is of no use with more than one vCenter: remove it",
		},
	}
}

func TestCloudConfigProblems(t *testing.T) {
	for _, tests := range []map[string]problem{iniProblems(), yamlProblems(), meaningProblems(), rangeProblems()} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				problem := vsphere.Profile{}.CloudConfigProblem(test.data)
				g.Expect(problem).To(Equal(test.want))
				g.Expect(problem).NotTo(ContainSubstring(password))
				_, err := render(t, test.data)
				g.Expect(err).To(MatchError("render vsphere: its cloud configuration cannot be used: " + test.want))
			})
		}
	}
}
