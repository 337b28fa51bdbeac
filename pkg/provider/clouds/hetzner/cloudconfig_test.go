package hetzner_test

import (
	"maps"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/hetzner"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	token    = "example-only-hunter2"
	password = "example only hunter3"
)

// with adds pairs of keys and values to a Secret that has a token.
func with(pairs ...string) map[string][]byte {
	data := map[string][]byte{"token": []byte(token)}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = []byte(pairs[i+1])
	}
	return data
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"a token":                           with(),
		"a token and its line break":        with("token", token+"\r\n"),
		"a network by name":                 with("network", "network of alpha"),
		"a network by ID":                   with("network", "1234567"),
		"dedicated servers":                 with("robot-user", "#ws+abc", "robot-password", password),
		"a location":                        with("location", "nbg1"),
		"a location without a number":       with("location", "ash"),
		"a network zone":                    with("network-zone", "eu-central"),
		"addresses of both families":        with("address-family", "dualstack"),
		"keys of others beside those of us": with("kubeconfig", "of the management cluster", "endpoint", ""),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(hetzner.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

func TestCloudConfigProblems(t *testing.T) {
	const (
		lacks    = "it lacks key token: add an API token of the Hetzner Cloud project that may read and write"
		isNone   = "key token is not an API token and nothing else: correct it"
		half     = "of keys robot-user and robot-password there is only one: add the other, or remove it"
		location = "key location is not the name of a location, such as fsn1 (fsn1-dc14 is a data center): correct it"
	)
	tests := map[string]struct {
		data map[string][]byte
		want string
	}{
		"no Secret data":                 {nil, lacks},
		"an empty token":                 {with("token", ""), lacks},
		"a token that is a line break":   {with("token", "\n"), lacks},
		"the configuration of OpenStack": {map[string][]byte{"cloud.conf": []byte("[Global]\npassword=" + token)}, lacks},
		"the keys of AWS":                {map[string][]byte{"accessKeyId": []byte(token), "secretAccessKey": []byte(token)}, lacks},
		"a file as the token":            {with("token", "[Global]\npassword="+token), isNone},
		"JSON as the token":              {with("token", `{"token":"`+token+`"}`), isNone},
		"an assignment as the token":     {with("token", "HCLOUD_TOKEN="+token), isNone},
		"two tokens":                     {with("token", token+"\n"+token), isNone},
		"bytes as the token":             {with("token", "\xff\xfe"), isNone},
		"a token under its variable": {map[string][]byte{"HCLOUD_TOKEN": []byte(token)}, "key HCLOUD_TOKEN is not read: name " +
			"it token; " + lacks},
		"a token twice": {with("hcloudToken", token), "key hcloudToken is not read: name it token"},
		"keys in other spellings": {with("Network", "a", "robot_user", "b"), "key Network is not read: name it network; key " +
			"robot_user is not read: name it robot-user"},
		"an empty network":           {with("network", ""), "key network is empty: fill it in, or remove it"},
		"a network of several lines": {with("network", "a\nb"), "key network is not the ID or the name of a network: correct it"},
		"a user without a password":  {with("robot-user", "alpha"), half},
		"a password without a user":  {with("robot-password", password), half},
		"a user that is an address": {with("robot-user", "a:b", "robot-password", password), "key robot-user is not the name of a " +
			"user of the Robot web service: correct it"},
		"a password of several lines": {
			with("robot-user", "a", "robot-password", password+"\n"+password),
			"key robot-password is not a password of one line: correct it",
		},
		"a data center for a location": {with("location", "fsn1-dc14"), location},
		"a location for a network zone": {with("network-zone", "fsn1"), "key network-zone is not the name of a network zone, such " +
			"as eu-central: correct it"},
		"a location and a network zone": {with("location", "fsn1", "network-zone", "eu-central"), "keys location and network-zone " +
			"exclude each other: remove one"},
		"an unknown family":                 {with("address-family", "IPv4"), "key address-family is not ipv4, ipv6 or dualstack: correct it"},
		"several problems are said at once": {with("token", token+" ", "location", "Falkenstein"), isNone + "; " + location},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problem := hetzner.Profile{}.CloudConfigProblem(test.data)
			g.Expect(problem).To(Equal(test.want))
			g.Expect(problem).NotTo(Or(ContainSubstring(token), ContainSubstring(password)))
			_, err := hetzner.Profile{}.Render(manifest.RenderInput{Version: "1.30.14", CloudConfig: test.data})
			g.Expect(err).To(MatchError("render hetzner: its cloud configuration cannot be used: " + test.want))
		})
	}
}

func render(g Gomega, inherited ucv1.InheritedConfiguration, data map[string][]byte) manifest.Addons {
	inherited.ClusterName = "kubernetes"
	addons, err := hetzner.Profile{}.Render(manifest.RenderInput{Version: "1.36.0", Inherited: inherited, CloudConfig: data})
	g.Expect(err).NotTo(HaveOccurred())
	return addons
}

func decode[T any](g Gomega, set manifest.Set, kind string) *T {
	for _, object := range set.Objects {
		if object.GetKind() == kind {
			into := new(T)
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)).To(Succeed())
			return into
		}
	}
	g.Expect(kind).To(BeEmpty(), "there is none")
	return nil
}

// environment is what the last container reads: values, or keys of Secrets.
func environment(pod corev1.PodSpec) map[string]string {
	found := map[string]string{}
	for _, variable := range pod.Containers[len(pod.Containers)-1].Env {
		found[variable.Name] = variable.Value
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
			found[variable.Name] = from.SecretKeyRef.Name + "/" + from.SecretKeyRef.Key
		}
	}
	return found
}

func TestOnlyKeysThatAreReadGoToTheUserCluster(t *testing.T) {
	g := NewWithT(t)
	addons := render(g, ucv1.InheritedConfiguration{},
		with("token", token+"\n", "location", "fsn1", "network", "alpha", "kubeconfig", "of the management cluster"))
	g.Expect(decode[corev1.Secret](g, addons.CCM, "Secret").Data).To(Equal(with("network", "alpha", "location", "fsn1")))
	g.Expect(decode[corev1.Secret](g, addons.CSI, "Secret").Data).To(Equal(with("location", "fsn1")))
}

func TestTheTokenRollsTheControllersAndNotTheNodePlugin(t *testing.T) {
	g := NewWithT(t)
	before := render(g, ucv1.InheritedConfiguration{}, with())
	after := render(g, ucv1.InheritedConfiguration{}, map[string][]byte{"token": []byte("another")})
	for _, sets := range [][2]manifest.Set{{before.CCM, after.CCM}, {before.CSI, after.CSI}} {
		g.Expect(decode[appsv1.Deployment](g, sets[0], "Deployment").Spec.Template.Annotations).
			NotTo(Equal(decode[appsv1.Deployment](g, sets[1], "Deployment").Spec.Template.Annotations))
	}
	node := decode[appsv1.DaemonSet](g, before.CSI, "DaemonSet")
	g.Expect(decode[appsv1.DaemonSet](g, after.CSI, "DaemonSet")).To(Equal(node))
	g.Expect(maps.Keys(environment(node.Spec.Template.Spec))).To(ConsistOf("CSI_ENDPOINT", "ENABLE_METRICS"))
}

func routes(cidr string) ucv1.InheritedConfiguration {
	return ucv1.InheritedConfiguration{
		ClusterName: "kubernetes", ClusterCIDR: cidr, AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
		Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
	}
}

func TestVariables(t *testing.T) {
	robot := with("robot-user", "alpha", "robot-password", password, "network", "alpha")
	tests := map[string]struct {
		inherited ucv1.InheritedConfiguration
		data      map[string][]byte
		want      map[string]string
	}{
		"a token": {ucv1.InheritedConfiguration{}, with(), map[string]string{
			"HCLOUD_TOKEN": "hcloud/token", "HCLOUD_METRICS_ENABLED": "false",
		}},
		"a network does not switch routes on": {ucv1.InheritedConfiguration{}, with("network", "alpha"), map[string]string{
			"HCLOUD_TOKEN": "hcloud/token", "HCLOUD_METRICS_ENABLED": "false", "HCLOUD_NETWORK": "hcloud/network",
			"HCLOUD_NETWORK_ROUTES_ENABLED": "false", "HCLOUD_NETWORK_DISABLE_ATTACHED_CHECK": "true",
		}},
		"a cluster with routes": {routes("10.244.0.0/16"), with("network", "alpha"), map[string]string{
			"HCLOUD_TOKEN": "hcloud/token", "HCLOUD_METRICS_ENABLED": "false", "HCLOUD_NETWORK": "hcloud/network",
			"HCLOUD_NETWORK_ROUTES_ENABLED": "true", "HCLOUD_NETWORK_DISABLE_ATTACHED_CHECK": "true",
		}},
		"dedicated servers": {ucv1.InheritedConfiguration{}, robot, map[string]string{
			"HCLOUD_TOKEN": "hcloud/token", "HCLOUD_METRICS_ENABLED": "false", "HCLOUD_NETWORK": "hcloud/network",
			"HCLOUD_NETWORK_ROUTES_ENABLED": "false", "HCLOUD_NETWORK_DISABLE_ATTACHED_CHECK": "true",
			"ROBOT_ENABLED": "true", "ROBOT_USER": "hcloud/robot-user", "ROBOT_PASSWORD": "hcloud/robot-password",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pod := decode[appsv1.Deployment](g, render(g, test.inherited, test.data).CCM, "Deployment").Spec.Template.Spec
			g.Expect(environment(pod)).To(Equal(test.want))
		})
	}
}

func TestRoutesThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		inherited ucv1.InheritedConfiguration
		data      map[string][]byte
		want      string
	}{
		"without a network": {routes("10.244.0.0/16"), with(), "lacks key network: add the network of the servers"},
		"with dedicated servers": {
			routes("10.244.0.0/16"),
			with("network", "a", "robot-user", "a", "robot-password", password),
			"none together with Robot",
		},
		"of two families": {routes("10.244.0.0/16,fd00::/48"), with("network", "a"), "more than one cluster CIDR"},
		"without a CIDR":  {routes(""), with("network", "a"), "has routes but no cluster CIDR"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := hetzner.Profile{}.Render(manifest.RenderInput{Version: "1.30.14", Inherited: test.inherited, CloudConfig: test.data})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestProviderIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"hcloud://1": true, "hrobot://321": true, "hcloud://bm-42": true,
		"hcloud://": false, "hcloud:///1": false, "hrobot://bm-1": false, "hcloud://alpha": false, "openstack:///1": false,
	} {
		t.Run(id, func(t *testing.T) {
			is := MatchRegexp(hetzner.Profile{}.Describe().ProviderID)
			if !want {
				is = Not(is)
			}
			NewWithT(t).Expect(id).To(is)
		})
	}
}
