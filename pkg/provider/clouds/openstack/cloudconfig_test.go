package openstack_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/openstack"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	password = "example-only-hunter2"
	user     = "[Global]\nauth-url=https://keystone.example.com/v3\nuser-id=u\npassword=" + password + "\ntenant-id=t\n"
)

func secret(conf string) map[string][]byte {
	return map[string][]byte{"cloud.conf": []byte(conf)}
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"a user with a password": secret(user),
		"an application credential": secret("[Global]\nauth-url=https://k\n" +
			"application-credential-id=a\napplication-credential-secret=s\n"),
		"an application credential by name": secret("[Global]\nauth-url=https://k\nusername=u\ndomain-name=d\n" +
			"application-credential-name=a\napplication-credential-secret=s\n"),
		"a trust":                                               secret("[Global]\nauth-url=https://k\nuser-id=u\npassword=p\ntrust-id=t\n"),
		"names without regard to case":                          secret("[GLOBAL]\nAuth-URL = https://k\nUserName=u\nDomain-Name=d\nPASSWORD=p\ntenant-name=t\n"),
		"comments, quotes and other parts":                      secret("; a\n# b\n[LoadBalancerClass \"x\"]\npassword=\n" + user + "[Route]\nrouter-id=r\n"),
		"a password in quotes with a hash":                      secret("[Global]\nauth-url=https://k\nuser-id=u\npassword=\"#\\\"\"\ntenant-id=t\n"),
		"clouds that are switched off":                          secret(user + "use-clouds=false\n"),
		"the CA certificates of the image":                      secret(user + "ca-file=/etc/ssl/certs/ca-certificates.crt\n"),
		"a CA file that is in the Secret":                       withPair(t, user+"ca-file=/etc/config/tls.pem\n"),
		"a CA file of KCM's host":                               withPair(t, user+"ca-file=/etc/kubernetes/pki/tls.pem\n"),
		"a client certificate":                                  withPair(t, user+"cert-file=/etc/config/tls.pem\nkey-file=/etc/config/tls.key\n"),
		"the Secret of the in-tree provider beside credentials": secret(user + "secret-name=a\nsecret-namespace=b\n"),
		"a file with a byte order mark":                         secret("\ufeff" + user),
		"keys that no one knows":                                secret(user + "[Manila]\nshare=a\n[LoadBalancer]\nlb-version=v2\nnew-key=a\n"),
		"a list in several lines": secret(user + "[Networking]\npublic-network-name=a\npublic-network-name=b\nipv6-support-disabled\n" +
			"[Metadata]\nsearch-order=metadataService, configDrive\nrequest-timeout=30s\n"),
		"sections that go on": secret(user + "[LoadBalancer]\nmonitor-delay=5s\n[Route]\nrouter-id=r\n[LoadBalancer]\nmax-shared-lb=2\n"),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(openstack.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

// withPair has a certificate, which is a CA bundle too, and its private key.
func withPair(t *testing.T, conf string) map[string][]byte {
	t.Helper()
	g := NewWithT(t)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	g.Expect(err).NotTo(HaveOccurred())
	key, err := x509.MarshalPKCS8PrivateKey(private)
	g.Expect(err).NotTo(HaveOccurred())
	return map[string][]byte{
		"cloud.conf": []byte(conf),
		"tls.pem":    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		"tls.key":    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}
}

const (
	inGlobal = "key cloud.conf, section Global, "
	noFile   = "it lacks key cloud.conf: add the configuration of the in-tree provider or of the OpenStack cloud-controller-manager"
	noPair   = inGlobal + "has a cert-file and a key-file that are no pair of certificate and private key as PEM: correct " +
		"them in this Secret"
)

type problem struct {
	data map[string][]byte
	want string
}

func credentialProblems() map[string]problem {
	return map[string]problem{
		"no Secret data":  {nil, noFile},
		"an empty file":   {secret(""), noFile},
		"another section": {secret("[LoadBalancer]\nauth-url=a\n"), inGlobal + "lacks auth-url; and user-id or username or application-credential-id; and password or application-credential-secret; and tenant-id or tenant-name or application-credential-id: add it"},
		"no password":     {secret("[Global]\nauth-url=https://k\nusername=u\npassword=\ntenant-id=t\n"), inGlobal + "lacks password or application-credential-secret: add it"},
		"no project":      {secret("[Global]\nauth-url=https://k\nusername=u\npassword=" + password), inGlobal + "lacks tenant-id or tenant-name or application-credential-id: add it"},
		"a password that is all comment": {
			secret("[Global]\nauth-url=https://k\nusername=u\ntenant-id=t\npassword=#" + password),
			inGlobal + "lacks password or application-credential-secret: add it",
		},
		"the in-tree provider's Secret": {
			secret("[Global]\nauth-url=https://k\ntenant-id=t\nsecret-name=x\nsecret-namespace=y\n"),
			inGlobal + "lacks user-id or username or application-credential-id; and password or application-credential-secret: add " +
				"what stands under clouds.conf in the Secret that secret-name names, which only the in-tree provider reads",
		},
		"an application credential without its secret": {
			secret("[Global]\nauth-url=https://k\napplication-credential-id=i\n"),
			inGlobal + "lacks application-credential-secret: add it",
		},
		"an application credential without its name": {
			secret("[Global]\nauth-url=https://k\napplication-credential-secret=" + password),
			inGlobal + "lacks application-credential-id or application-credential-name: add it",
		},
		"an application credential by name without its user": {
			secret("[Global]\nauth-url=https://k\napplication-credential-name=n\napplication-credential-secret=" + password),
			inGlobal + "lacks user-id or username: add it",
		},
		"a trust without its user": {
			secret("[Global]\nauth-url=https://k\ntrust-id=t\npassword=" + password),
			inGlobal + "lacks user-id or username or trustee-id: add it",
		},
		"a clouds file": {
			secret(user + "use-clouds=true\n"),
			inGlobal + "has use-clouds: that file is not there in the user cluster, so write the credentials into cloud.conf",
		},
	}
}

func fileProblems(t *testing.T) map[string]problem {
	t.Helper()
	return map[string]problem{
		"a CA file of KCM's host": {
			secret(user + "ca-file=/etc/kubernetes/pki/ca.pem\n"),
			inGlobal + "has a ca-file that is not in this Secret: add the file to the Secret, under its name without its folder",
		},
		"a CA file that is this one": {
			secret(user + "ca-file=/etc/config/cloud.conf\n"),
			inGlobal + "has a ca-file that is not in this Secret: add the file to the Secret, under its name without its folder",
		},
		"a CA bundle that is no PEM": {
			map[string][]byte{"cloud.conf": []byte(user + "ca-file=/etc/config/ca.pem\n"), "ca.pem": []byte(password)},
			inGlobal + "has a ca-file that has no certificates as PEM: put the CA bundle under its name into this Secret",
		},
		"a CA bundle that is a key": {
			withPair(t, user+"ca-file=/etc/config/tls.key\n"),
			inGlobal + "has a ca-file that has no certificates as PEM: put the CA bundle under its name into this Secret",
		},
		"a client certificate without its key": {
			withPair(t, user+"cert-file=/etc/config/tls.pem\n"), inGlobal + "has one of cert-file and key-file: add the other one",
		},
		"a client certificate and its key mixed up": {
			withPair(t, user+"cert-file=/etc/config/tls.key\nkey-file=/etc/config/tls.pem\n"), noPair,
		},
		"a CA file of another cloud": {
			secret(user + "[Global \"b\"]\nca-file=/ca.pem\n"),
			inGlobal + "has a ca-file that is not in this Secret: add the file to the Secret, under its name without its folder",
		},
		"clouds by another word": {
			secret(user + "use-clouds\n"),
			inGlobal + "has use-clouds: that file is not there in the user cluster, so write the credentials into cloud.conf",
		},
	}
}

func valueProblems() map[string]problem {
	return map[string]problem{
		"an address of Keystone that is none": {
			secret(strings.Replace(user, "https://keystone.example.com/v3", "keystone.example.com:5000", 1)),
			inGlobal + "has an auth-url that is none: write it like https://keystone.example.com/v3",
		},
		"Neutron LBaaS of version 1": {
			secret(user + "[LoadBalancer]\nlb-version=v1\n"),
			"key cloud.conf, section LoadBalancer, has an lb-version other than v2, which no cloud-controller-manager knows: move " +
				"the load balancers to Octavia, then remove it",
		},
		"a search order of other words": {
			secret(user + "[Metadata]\nsearch-order=configDrive,local\n"),
			"key cloud.conf, section Metadata, has a search-order of other words than configDrive and metadataService: write one " +
				"of them, or both with a comma",
		},
		"a section that does not end": {
			secret("[Global\npassword=" + password),
			`key cloud.conf, line 1, is not a section: write [Name], or [Name "part"], on a line of its own`,
		},
		"a key that stands twice": {
			secret(user + "[Route]\n[GLOBAL]\nPassword=" + password),
			"key cloud.conf, line 8, password stands in its section for the second time: keep one",
		},
		"a password without a value": {secret("[Global]\npassword\n"), "key cloud.conf, line 2, password has no value: add it, or remove the line"},
		"a switch that is none": {
			secret(user + "[LoadBalancer]\ncreate-monitor=" + password),
			"key cloud.conf, line 7, create-monitor is neither true nor false: write one of them",
		},
		"a word that only looks like true": {
			secret(user + "tls-insecure=yes"), "key cloud.conf, line 6, tls-insecure is neither true nor false: write one of them",
		},
		"a duration without its unit": {
			secret(user + "[LoadBalancer]\nmonitor-delay=5"),
			"key cloud.conf, line 7, monitor-delay is not a duration: write it with its unit, like 5s",
		},
		"a number that is none": {
			secret(user + "[BlockStorage]\nnode-volume-attach-limit=-1"),
			"key cloud.conf, line 7, node-volume-attach-limit is not a number: write one in digits",
		},
		"JSON": {
			secret(`{"password": "` + password + `"}`),
			"key cloud.conf is JSON, and looks like the configuration of another provider: put the one of OpenStack there",
		},
		"YAML": {secret("clouds:\n  a: {}\n"), "key cloud.conf, line 1, is neither a section, nor name=value in one: correct it"},
		"the configuration of vSphere": {
			secret("[Global]\nuser=u\npassword=" + password + "\n[VirtualCenter \"a\"]\n"),
			"key cloud.conf, line 4, is of the configuration of vSphere: put the one of OpenStack there",
		},
		"the configuration of AWS": {
			secret("[Global]\nKubernetesClusterID=a\n"),
			"key cloud.conf, line 2, is of the configuration of AWS: put the one of OpenStack there",
		},
		"the configuration of Google Cloud": {
			secret("[global]\nproject-id=a\n"),
			"key cloud.conf, line 2, is of the configuration of Google Cloud: put the one of OpenStack there",
		},
		"no text": {secret("[Global]\nuser=\xff"), "key cloud.conf, is not text in UTF-8: save it as such"},
	}
}

func TestCloudConfigProblems(t *testing.T) {
	tests := credentialProblems()
	maps.Copy(tests, fileProblems(t))
	maps.Copy(tests, valueProblems())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problem := openstack.Profile{}.CloudConfigProblem(test.data)
			g.Expect(problem).To(Equal(test.want))
			g.Expect(problem).NotTo(ContainSubstring(password))
			_, err := openstack.Profile{}.Render(manifest.RenderInput{Version: "1.25.0", CloudConfig: test.data})
			g.Expect(err).To(MatchError("render openstack: its cloud configuration cannot be used: " + test.want))
		})
	}
}

func TestRenderNeedsAClusterName(t *testing.T) {
	_, err := openstack.Profile{}.Render(manifest.RenderInput{Version: "1.25.16", CloudConfig: secret(user)})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("has no cluster name")))
}
