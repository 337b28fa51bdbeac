package gcp_test

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/gcp"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	hidden  = "example-only-hunter2"
	minimal = "[global]\nproject-id = alpha\nlocal-zone = europe-west3-a\nnetwork-name = default\n"
	account = `{"type": "service_account", "project_id": "alpha", "private_key_id": "` + hidden +
		`", "client_email": "a@example.com", ` +
		`"private_key": "-----BEGIN EXAMPLE-----\nZXhhbXBsZQ==\n-----END EXAMPLE-----\n"}`
)

func secret(conf string) map[string][]byte {
	return map[string][]byte{"gce.conf": []byte(conf), "cloud-sa.json": []byte(account)}
}

func keyFile(file string) map[string][]byte {
	return map[string][]byte{"gce.conf": []byte(minimal), "cloud-sa.json": []byte(file)}
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"what is needed": secret(minimal),
		"names without regard to case": secret(strings.ToUpper("[global]\nproject-id=") +
			"a\nLocal-Zone=us-central1-ai1a\nNETWORK-NAME=n\n"),
		"the network as a URL": secret(strings.Replace(minimal, "default",
			"https://www.googleapis.com/compute/v1/projects/p/global/networks/n", 1)),
		"words for true and false": secret(minimal + "multizone\nregional=OFF\n"),
		"lists":                    secret(minimal + "node-tags=a\nnode-tags=b\n"),
		"comments, quotes, other parts": secret(
			"# a\r\n; b\n[other]\nproject-id=\n" + minimal + "token-body = \"" + hidden + "#;\\\"\\\\\" ; c\n[other \"x\"]\nx=\"\n",
		),
		"keys that no one knows": secret(minimal + "some-day = 1\nsome-day = 2\n"),
		"a byte order mark":      secret("\ufeff" + minimal),
		"the key file in base64": keyFile(base64.StdEncoding.EncodeToString([]byte(account))),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(gcp.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

type problem struct {
	data map[string][]byte
	want string
}

func configProblems() map[string]problem {
	const (
		global  = "key gce.conf, section global, "
		fifth   = "key gce.conf, line 5, has "
		nothing = "it lacks key gce.conf: add the configuration of the in-tree provider gce, with project-id, local-zone and " +
			"network-name in section [global]"
		another = "key gce.conf has no key of GCE in section global: it looks like the configuration of another provider; write " +
			"project-id, local-zone and network-name there"
		early = "comes before section [global]: write the configuration of the in-tree provider gce, in the form of an INI file"
		ends  = "that does not end or has a character that cannot be there: write it in one line, in quotes, " +
			`with \\ and \" for the two characters`
		zone  = global + "has a local-zone that is not a zone: write one like europe-west3-a"
		part  = global + "has a network-name that is a part of a URL: write the network's name, or its whole URL"
		stack = global + "has a stack-type that is none of IPV4, IPV4_IPV6 and IPV6: write one of them, or remove it"
		truth = " that is neither true nor false: write one of them"
	)
	with := func(old, other string) map[string][]byte { return secret(strings.Replace(minimal, old, other, 1)) }
	return map[string]problem{
		"no Secret data":          {nil, nothing},
		"an empty file":           {secret(" \n"), nothing},
		"another provider's key":  {map[string][]byte{"cloud.conf": []byte(minimal)}, nothing},
		"another provider's INI":  {secret("[Global]\nauth-url=https://k\npassword=" + hidden + "\n"), another},
		"another provider's JSON": {secret(`{"aadClientSecret": "` + hidden + `"}`), "key gce.conf, line 1, " + early},
		"another provider's YAML": {secret("global:\n  password: " + hidden + "\n"), "key gce.conf, line 1, " + early},
		"another section":         {secret("[globals]\nproject-id=a\n"), another},
		"a zone and nothing else": {secret("[global]\nlocal-zone=europe-west3-a\n"), global +
			"lacks project-id, network-name: add it"},
		"an empty value":              {with("alpha", ""), global + "lacks project-id: add it"},
		"a value that is all comment": {with("alpha", "#alpha"), global + "lacks project-id: add it"},
		"a region instead of a zone":  {with("europe-west3-a", "europe-west3"), zone},
		"a zone in capitals":          {with("europe-west3-a", "Europe-West3-A"), zone},
		"a part of a network's URL":   {with("default", "global/networks/default"), part},
		"an unknown stack":            {secret(minimal + "stack-type=ipv4\n"), stack},
		"a key for the second time": {secret(minimal + "Project-ID=" + hidden + "\n"), fifth +
			"project-id for the second time: keep one of them"},
		"a section for the 2nd time": {secret(minimal + minimal), "key gce.conf, line 6, has project-id for the second time: keep " +
			"one of them"},
		"a number for a truth":   {secret(minimal + "multizone=2\n"), fifth + "a value of multizone" + truth},
		"nothing for a truth":    {secret(minimal + "regional=\n"), fifth + "a value of regional" + truth},
		"quotes that do not end": {secret(minimal + "token-body=\"" + hidden + "\n"), fifth + "a value of token-body " + ends},
		"an escape that is none": {secret(minimal + `token-body=a\q` + hidden), fifth + "a value of token-body " + ends},
		"a line that goes on":    {secret(minimal + "node-tags=a\\\nb\n"), fifth + "a value of node-tags " + ends},
		"bytes that are no text": {secret(minimal + "node-tags=\xff\n"), fifth + "a value of node-tags " + ends},
		"a section that does not end": {secret("[global\ntoken-body=" +
			hidden), "key gce.conf, line 1, is a section without its closing bracket: add it"},
		"a key before the 1st section": {secret("token-body=" + hidden + "\n" + minimal), "key gce.conf, line 1, " + early},
	}
}

func keyFileProblems() map[string]problem {
	const again = ": add the key file of a service account as Google made it"
	without := func(field string) map[string][]byte { return keyFile(strings.Replace(account, field, "x", 1)) }
	return map[string]problem{
		"no key file":          {map[string][]byte{"gce.conf": []byte(minimal)}, "it lacks key cloud-sa.json" + again},
		"an empty key file":    {keyFile("\n"), "it lacks key cloud-sa.json" + again},
		"no JSON":              {keyFile("token=" + hidden), "key cloud-sa.json is not a JSON object of text fields" + again},
		"JSON that breaks off": {keyFile(account[:80]), "key cloud-sa.json is not a JSON object of text fields" + again},
		"a number for a text": {
			keyFile(`{"type": "service_account", "project_id": 5}`),
			"key cloud-sa.json is not a JSON object of text fields" + again,
		},
		"base64 of no JSON": {keyFile("ZXhhbXBsZQ=="), "key cloud-sa.json is not a JSON object of text fields" + again},
		"a person's credentials": {
			keyFile(`{"type": "authorized_user", "refresh_token": "` + hidden + `"}`),
			"key cloud-sa.json is not the key of a service account: its field type has to be service_account" + again,
		},
		"no project":     {without("project_id"), "key cloud-sa.json lacks project_id" + again},
		"no private key": {without(`private_key"`), "key cloud-sa.json is not a JSON object of text fields" + again},
		"almost nothing": {
			keyFile(`{"type": "service_account"}`),
			"key cloud-sa.json lacks project_id, private_key_id, private_key, client_email" + again,
		},
		"a private key that is no PEM": {
			keyFile(strings.ReplaceAll(account, "EXAMPLE-----", hidden)), "key cloud-sa.json has a private_key that is not PEM" + again,
		},
	}
}

func TestCloudConfigProblems(t *testing.T) {
	for kind, tests := range map[string]map[string]problem{"gce.conf": configProblems(), "cloud-sa.json": keyFileProblems()} {
		for name, test := range tests {
			t.Run(kind+" "+name, func(t *testing.T) {
				g := NewWithT(t)
				problem := gcp.Profile{}.CloudConfigProblem(test.data)
				g.Expect(problem).To(Equal(test.want))
				g.Expect(problem).NotTo(ContainSubstring(hidden))
				_, err := gcp.Profile{}.Render(manifest.RenderInput{Version: "1.30.14", CloudConfig: test.data})
				g.Expect(err).To(MatchError("render gcp: its cloud configuration cannot be used: " + test.want))
			})
		}
	}
}

func rendered(g Gomega, data map[string][]byte) (ccm, csi map[string][]byte) {
	addons, err := gcp.Profile{}.Render(manifest.RenderInput{
		Version: "1.30.14", Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"}, CloudConfig: data,
	})
	g.Expect(err).NotTo(HaveOccurred())
	var found []map[string][]byte
	for _, set := range []manifest.Set{addons.CCM, addons.CSI} {
		got := &corev1.Secret{}
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(set.Objects[0].Object, got)).To(Succeed())
		found = append(found, got.Data)
	}
	return found[0], found[1]
}

func TestTransformer(t *testing.T) {
	const disks = "[global]\nproject-id = alpha\ntoken-url = nil\nzone = europe-west3-a\n"
	tests := map[string]struct{ conf, want string }{
		"tokens come from the key file, and Nodes may be in any zone": {
			minimal, "[global]\nlocal-zone = europe-west3-a\nmultizone = true\nnetwork-name = default\nproject-id = alpha\ntoken-url = " +
				"nil\n",
		},
		"what is said of zones holds": {
			minimal + "multizone=no\nregional=yes\n",
			"[global]\nlocal-zone = europe-west3-a\nmultizone = false\nnetwork-name = default\nproject-id = alpha\nregional = " +
				"true\ntoken-url = nil\n",
		},
		"tokens of the control plane's hosts are not used, and go nowhere": {
			minimal + "token-url=https://tokens.example.com\ntoken-body=" + hidden + "\nunknown=" + hidden + "\n[other]\nnode-tags=c\n",
			"[global]\nlocal-zone = europe-west3-a\nmultizone = true\nnetwork-name = default\nproject-id = alpha\ntoken-url = nil\n",
		},
		"lists stay lists, and odd characters are quoted": {
			minimal + "node-tags=a\nnode-tags=\"b # c\"\n",
			"[global]\nlocal-zone = europe-west3-a\nmultizone = true\nnetwork-name = default\nnode-tags = a\nnode-tags = \"b # c\"\n" +
				"project-id = alpha\ntoken-url = nil\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ccm, csi := rendered(g, secret(test.conf))
			g.Expect(string(ccm["gce.conf"])).To(Equal(test.want))
			g.Expect(string(csi["pd.conf"])).To(Equal(disks))
		})
	}
}

func TestTheKeyFileGoesToBothSecretsAndNothingElseDoes(t *testing.T) {
	g := NewWithT(t)
	data := keyFile(base64.StdEncoding.EncodeToString([]byte(account)))
	data["kubeconfig"] = []byte("of the management cluster")
	ccm, csi := rendered(g, data)
	g.Expect(ccm).To(And(HaveLen(2), HaveKeyWithValue("cloud-sa.json", []byte(account))))
	g.Expect(csi).To(And(HaveLen(2), HaveKeyWithValue("cloud-sa.json", []byte(account))))
}

func TestRenderNeedsAClusterName(t *testing.T) {
	_, err := gcp.Profile{}.Render(manifest.RenderInput{Version: "1.30.14", CloudConfig: secret(minimal)})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("has no cluster name")))
}
