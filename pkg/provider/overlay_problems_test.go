package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func toleration(change func(*ucv1.Toleration)) ucv1.ProviderProfileSpec {
	one := ucv1.Toleration{Key: "example.com/a", Operator: ucv1.TolerationExists}
	change(&one)
	return withWorkloads(ucv1.WorkloadOverride{Name: controller, Tolerations: []ucv1.Toleration{one}})
}

func resources(request, limit string) ucv1.ProviderProfileSpec {
	r, l := resource.MustParse(request), resource.MustParse(limit)
	return withWorkloads(ucv1.WorkloadOverride{Name: ccmName, Resources: &ucv1.ContainerResources{
		Requests: ucv1.ResourceAmounts{Memory: &r}, Limits: ucv1.ResourceAmounts{Memory: &l},
	}})
}

type profileProblem struct {
	spec ucv1.ProviderProfileSpec
	want []string
}

const imageForm = " is not the beginning of an image's name; " +
	"write it like registry.example.com/k8s, without https:// and without a tag."

func imageProblems() map[string]profileProblem {
	image := func(image ucv1.ImageOverride) ucv1.ProviderProfileSpec { return withImages(image) }
	return map[string]profileProblem{
		"a provider that no one knows": {
			ucv1.ProviderProfileSpec{ProviderName: "nimbus"},
			[]string{"spec.providerName: provider nimbus is not in the catalogue, which has "},
		},
		"a mirror that is a URL": {
			withMirrors(ucv1.ImageMirror{Source: "registry.k8s.io", Mirror: "https://mirror.example.com"}),
			[]string{`spec.mirrors[0].mirror "https://mirror.example.com"` + imageForm},
		},
		"a source with a tag, and one that ends with a slash": {
			withMirrors(
				ucv1.ImageMirror{Source: attacher + ":v4.4.2", Mirror: "a"}, ucv1.ImageMirror{Source: "registry.k8s.io/", Mirror: "a"},
			),
			[]string{`spec.mirrors[0].source "` + attacher + `:v4.4.2"` + imageForm, `spec.mirrors[1].source "registry.k8s.io/"` + imageForm},
		},
		"a mirror that is nothing": {
			withMirrors(ucv1.ImageMirror{Source: "registry.k8s.io"}), []string{`spec.mirrors[0].mirror ""` + imageForm},
		},
		"a source that is there twice": {
			withMirrors(ucv1.ImageMirror{Source: "registry.k8s.io", Mirror: "a"}, ucv1.ImageMirror{Source: "registry.k8s.io", Mirror: "b"}),
			[]string{"spec.mirrors[1]: source registry.k8s.io is there twice; leave one."},
		},
		"an image of another provider": {
			image(ucv1.ImageOverride{Image: "registry.k8s.io/provider-aws/cloud-controller-manager", Tag: "v1"}),
			[]string{`spec.images[0].image "registry.k8s.io/provider-aws/cloud-controller-manager" is not in the catalogue of openstack; take the name, without the tag, from ccm-migration-controller render --images.`},
		},
		"an image with its tag": {
			image(ucv1.ImageOverride{Image: ccmImage + ":v1.30.3", Tag: "v1"}),
			[]string{`spec.images[0].image "` + ccmImage + `:v1.30.3" is not in the catalogue of openstack; `},
		},
		"a minor that the catalogue has not": {
			image(ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.99", Tag: "v1"}),
			[]string{`spec.images[0].kubernetes "1.99" is not in the catalogue of openstack, which has 1.24 to 1.36.`},
		},
		"a version instead of a minor": {
			image(ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.30.14", Tag: "v1"}),
			[]string{`spec.images[0].kubernetes "1.30.14" is not in the catalogue`},
		},
		"a tag that is none": {
			image(ucv1.ImageOverride{Image: ccmImage, Tag: ":v1"}),
			[]string{`spec.images[0].tag ":v1" is not a tag; write it like v1.30.3.`},
		},
		"a digest without a tag": {
			image(ucv1.ImageOverride{Image: ccmImage, Digest: digest}),
			[]string{`spec.images[0].tag "" is not a tag; write it like v1.30.3.`},
		},
		"a digest that is cut": {
			image(ucv1.ImageOverride{Image: ccmImage, Tag: "v1", Digest: digest[:70]}),
			[]string{`spec.images[0].digest "` + digest[:70] + `" is not a digest; write sha256: and 64 hexadecimal digits in lower case.`},
		},
		"an image that is there twice for a minor": {
			withImages(
				ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.30", Tag: "v1"}, ucv1.ImageOverride{Image: ccmImage, Tag: "v1"},
				ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.30", Tag: "v2"},
			),
			[]string{"spec.images[2]: image " + ccmImage + " 1.30 is there twice; leave one."},
		},
	}
}

func workloadProblems() map[string]profileProblem {
	const at = "spec.workloads[0]."
	return map[string]profileProblem{
		"a workload that the catalogue has not": {
			withWorkloads(ucv1.WorkloadOverride{Name: "cloud-controller-manager"}),
			[]string{at + `name "cloud-controller-manager" is not a workload of openstack, which has openstack-cinder-csi-controller, openstack-cinder-csi-node, ` + ccmName + ", snapshot-controller."},
		},
		"a workload that is there twice": {
			withWorkloads(ucv1.WorkloadOverride{Name: ccmName}, ucv1.WorkloadOverride{Name: ccmName}),
			[]string{"spec.workloads[1]: workload " + ccmName + " is there twice; leave one."},
		},
		"the same argument twice": {
			withArguments("--profiling=true", "--profiling=false"),
			[]string{at + "extraArguments[1]: --profiling is there twice; leave one."},
		},
		"a switch without its value, which would take the next flag for it": {
			withArguments("--profiling"),
			[]string{at + "extraArguments[0] is not of the form --name=value; write it so, for a switch --name=true."},
		},
		"an argument that is no flag, whose value is not shown": {
			withArguments("password=" + secretValue), []string{at + "extraArguments[0] is not of the form --name=value; "},
		},
		"one dash": {withArguments("-v=4"), []string{at + "extraArguments[0] is not of the form --name=value; "}},
		"a limit below its request": {
			resources("2Gi", "1Gi"), []string{at + "resources: the limit of memory is less than its request; raise it."},
		},
		"a negative amount": {resources("-1", "1Gi"), []string{at + "resources: memory is negative; write an amount."}},
		"a toleration without a key": {
			toleration(func(t *ucv1.Toleration) { t.Key, t.Operator = "", "" }),
			[]string{at + "tolerations[0] has no key; without one it tolerates every taint, and operator Exists says so."},
		},
		"a toleration with a value that is not compared": {
			toleration(func(t *ucv1.Toleration) { t.Value = "a" }),
			[]string{at + "tolerations[0] has a value, which operator Exists does not ask for; take one of them out."},
		},
		"a toleration with seconds for a taint that ends nothing": {
			toleration(func(t *ucv1.Toleration) { t.TolerationSeconds = new(int64(1)) }),
			[]string{at + "tolerations[0] has tolerationSeconds, which are for effect NoExecute."},
		},
		"a toleration with words that no one knows": {
			toleration(func(t *ucv1.Toleration) { t.Operator, t.Effect = "In", "NoWay" }),
			[]string{at + `tolerations[0].operator "In" is neither Exists nor Equal.`, at + `tolerations[0].effect "NoWay" is none of `},
		},
		"a toleration of what is no taint": {
			toleration(func(t *ucv1.Toleration) { t.Key = "a b" }), []string{at + `tolerations[0].key "a b" is not the key of a taint.`},
		},
		"a toleration of a value that no taint has": {
			toleration(func(t *ucv1.Toleration) { t.Operator, t.Value = "", "a b" }),
			[]string{at + `tolerations[0].value "a b" is not the value of a taint.`},
		},
		"a priority class that is no name": {
			withWorkloads(ucv1.WorkloadOverride{Name: ccmName, PriorityClassName: "High"}),
			[]string{at + `priorityClassName "High" is not a name; `},
		},
	}
}

func TestNothingIsAppliedOfAProfileWithProblems(t *testing.T) {
	catalogue := builtIn()
	profile, _ := catalogue.Lookup("openstack")
	for _, table := range []map[string]profileProblem{imageProblems(), workloadProblems()} {
		for name, tc := range table {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				tc.spec.Mirrors = append(tc.spec.Mirrors, ucv1.ImageMirror{Source: "good.example.com", Mirror: "mirror.example.com"})
				addons, problems := catalogue.Overlay(rendered(g, "openstack", profile, 30), tc.spec, "1.30.14")
				g.Expect(addons).To(Equal(manifest.Addons{}))
				g.Expect(problems).To(HaveLen(len(tc.want)), "%v", problems)
				for i, want := range tc.want {
					g.Expect(problems[i]).To(And(HavePrefix(want), HaveSuffix("."), Not(ContainSubstring(secretValue))))
				}
				g.Expect(catalogue.OverlayProblems(tc.spec)).To(Equal(problems))
			})
		}
	}
}

// Which of the flags a program knows does not matter: what decides about the hand-over is refused by name, in every spelling.
func TestFlagsThatAreNotTheProfiles(t *testing.T) {
	for name, argument := range map[string]string{
		"leader election":                             "--leader-elect=false",
		"leader election, with underscores":           "--leader_elect=false",
		"another Lease":                               "--leader-elect-resource-name=other",
		"a lease duration":                            "--leader-elect-lease-duration=1h",
		"the migration lock, which is there at times": "--enable-leader-migration=true",
		"the file of the migration lock":              "--leader-migration-config=/tmp/a",
		"the loops":                                   "--controllers=*",
		"the provider":                                "--cloud-provider=external",
		"the cloud configuration":                     "--cloud-config=/etc/other",
		"identities that the fence does not bind":     "--use-service-account-credentials=true",
		"another identity":                            "--kubeconfig=/etc/other",
		"another API server":                          "--master=https://example.com",
		"the name of load balancers":                  "--cluster-name=other",
		"routes":                                      "--configure-cloud-routes=true",
		"a CIDR that is there at times":               "--cluster-cidr=10.0.0.0/8",
		"what the catalogue passes by itself":         "--v=4",
		"what it passes with underscores":             "--secure_port=1",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(builtIn().OverlayProblems(withArguments(argument))).To(ConsistOf(And(
				HavePrefix("spec.workloads[0].extraArguments[0]: "), HaveSuffix("; take it out."))))
		})
	}
}

// The catalogue is asked as a whole; what it passes in this cluster alone is found when it is laid over.
func TestOverlayLooksAtTheArgumentsOfTheClusterToo(t *testing.T) {
	g := NewWithT(t)
	catalogue := builtIn()
	profile, _ := catalogue.Lookup("openstack")
	addons := rendered(g, "openstack", profile, 30)
	g.Expect(manifest.ChangePods(addons.CCM.Objects, func(pod *corev1.PodTemplateSpec) {
		pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, "--profiling=true")
	})).To(Succeed())
	got, problems := catalogue.Overlay(addons, withArguments("--profiling=false"), "1.30.14")
	g.Expect(problems).To(ConsistOf(ContainSubstring("the catalogue passes --profiling to " + ccmName + " already; take it out.")))
	g.Expect(got).To(Equal(manifest.Addons{}))

	_, problems = catalogue.Overlay(addons, withArguments("--concurrent-service-syncs=3"), "new")
	g.Expect(problems).To(ConsistOf(ContainSubstring(`"new" is not a version of Kubernetes`)))
}

func TestEveryWorkloadOfTheCatalogueCanBeNamed(t *testing.T) {
	catalogue := everyProvider()
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons := rendered(g, name, profile, minor)
		spec := ucv1.ProviderProfileSpec{ProviderName: name}
		for _, set := range []manifest.Set{addons.WithNodes(), addons.CSI} {
			for _, workload := range set.Workloads {
				spec.Workloads = append(spec.Workloads, ucv1.WorkloadOverride{Name: workload.Name, ExtraArguments: []string{"--some-flag=1"}})
			}
		}
		g.Expect(catalogue.OverlayProblems(spec)).To(BeEmpty())
	})
}
