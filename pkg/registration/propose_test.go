package registration

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestWhatIsAControlPlane(t *testing.T) {
	operator := changed(deployment("operator", "/manager"), func(d *appsv1.Deployment) {
		d.Labels = map[string]string{"app.kubernetes.io/component": "controller-manager"}
		d.Spec.Template.Spec.Containers[0].Command = nil
	})
	for name, test := range map[string]struct {
		deployment appsv1.Deployment
		want       bool
	}{
		"what runs kube-controller-manager": {deployment: inTree(), want: true},
		"what has its image, and a label": {
			deployment: changed(operator, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "a.example/kube-controller-manager@sha256:0"}}
			}), want: true,
		},
		"no program that only has the label": {deployment: operator},
		"no cloud-controller-manager":        {deployment: deployment("ccm", "cloud-controller-manager", "--cloud-provider=openstack")},
		"no machine-controller-manager":      {deployment: deployment("machine-controller-manager", "./machine-controller-manager")},
	} {
		t.Run(name, func(t *testing.T) {
			planes := Find(Deployments, Namespace{Name: namespace, Deployments: []appsv1.Deployment{test.deployment}})
			count := 0
			if test.want {
				count = 1
			}
			NewWithT(t).Expect(planes).To(HaveLen(count))
		})
	}
}

func TestTheProviderIsThatOfKCM(t *testing.T) {
	told := func(provider string) observation.Observed[Told] {
		return observation.Known(
			Told{Object: "KKP's Cluster a", Name: "a", Provider: provider, ProviderField: "spec.cloud.providerName"},
		)
	}
	script := deployment(controllerManager, "sh", "-c", "kube-controller-manager")
	for name, test := range map[string]struct {
		kcm           appsv1.Deployment
		told          observation.Observed[Told]
		want, refused string
	}{
		"by its flag": {kcm: inTree(), told: toldNothing(), want: "openstack; --cloud-provider=openstack of"},
		"by the flag that the catalogue names": {
			kcm: deployment("a", controllerManager, "--cloud-provider=gce"), told: told("gcp"), want: "gcp; --cloud-provider=gce of",
		},
		"never by what only the platform says": {kcm: inTree(), told: told("gcp"), want: "missing: container"},
		"by the platform, where no one can read the arguments": {
			kcm: script, told: told("openstack"), want: "openstack; spec.cloud.providerName of KKP's Cluster a. The arguments of " +
				"KCM could not be read",
		},
		"missing, where nothing says it": {
			kcm: script, told: toldNothing(), want: "missing: the arguments of KCM could not be read",
		},
		"missing, where the platform has an other one": {
			kcm: script, told: told("alibaba"), want: "missing: the arguments of KCM could not be read",
		},
		"not one that is external": {
			kcm: deployment("a", controllerManager, "--cloud-provider=external"), told: toldNothing(), refused: "external already",
		},
		"not none": {
			kcm: deployment("a", controllerManager, "--v=2"), told: toldNothing(), refused: "has no --cloud-provider",
		},
		"not one that no one knows": {
			kcm: deployment("a", controllerManager, "--cloud-provider=nimbus"), told: toldNothing(),
			refused: "Provider nimbus is not in the catalogue.",
		},
		"not one whose loops are off": {
			kcm: inTree("--controllers=*,-service,-route,-cloud-node-lifecycle"), told: toldNothing(), refused: "someone else has begun",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := only(t, Deployments, test.told, nothing(), test.kcm)
			g.Expect(made.Refused).To(ContainSubstring(test.refused))
			g.Expect(made.Refused).To(sameEmptiness(test.refused))
			g.Expect(field(made, "spec.cloud.providerName")).To(HavePrefix(test.want))
		})
	}
}

func TestTheVersion(t *testing.T) {
	image := func(image string) appsv1.Deployment {
		return changed(inTree(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = image })
	}
	for name, test := range map[string]struct {
		kcm  appsv1.Deployment
		told string
		want string
	}{
		"is the image's tag": {kcm: image("localhost:5000/kcm:v1.25.16@sha256:0"), want: "1.25.16; the tag of the image"},
		"is what the platform says": {
			kcm: image("kcm:v1.25.16"), told: "v1.25.16", want: "1.25.16; status.version of the platform.",
		},
		"is checked during an upgrade": {
			kcm: image("kcm:v1.25.16"), told: "1.25.15",
			want: "1.25.15; status.version of the platform. The image of container kube-controller-manager of Deployment " +
				"kube-controller-manager is of 1.25.16.",
		},
		"is missing without a tag":       {kcm: image("localhost:5000/kcm"), want: "missing:"},
		"is missing with a digest alone": {kcm: image("kcm@sha256:0"), want: "missing:"},
		"is missing with a tag of one's own, and a platform that names a minor": {
			kcm: image("kcm:v1.25.16-patched"), told: "1.25", want: "missing:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			told := observation.Known(Told{Object: "the platform", Version: test.told, VersionField: "status.version"})
			made := only(t, Deployments, told, nothing(), test.kcm)
			NewWithT(t).Expect(field(made, "spec.version")).To(HavePrefix(test.want))
		})
	}
}

func TestTheName(t *testing.T) {
	for name, test := range map[string]struct {
		platform    Platform
		namespace   string
		deployments []appsv1.Deployment
		want        []string
	}{
		"is the namespace's": {
			platform: Deployments, namespace: "user-alpha", deployments: []appsv1.Deployment{inTree()}, want: []string{"user-alpha"},
		},
		"is the shoot's": {
			platform: Gardener, namespace: "shoot--team-a--web-1", deployments: []appsv1.Deployment{inTree()},
			want: []string{"web-1"},
		},
		"is KKP's": {
			platform: KKP, namespace: "cluster-b8x4zk2m9q", deployments: []appsv1.Deployment{inTree()}, want: []string{"b8x4zk2m9q"},
		},
		"is of each of several its own": {
			platform: Deployments, namespace: "a",
			deployments: []appsv1.Deployment{changed(inTree(), rename("one-kube-controller-manager")), changed(inTree(), rename("two"))},
			want:        []string{"one", "two"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, plane := range Find(test.platform, Namespace{Name: test.namespace, Deployments: test.deployments}) {
				names = append(names, plane.Name())
			}
			NewWithT(t).Expect(names).To(Equal(test.want))
		})
	}
}

func rename(name string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Name = name }
}

func controlledBy(version, kind, name string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, Controller: new(true)}}
	}
}

func label(key, value string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Labels = map[string]string{key: value} }
}

func TestWhoReconcilesIsWarnedOf(t *testing.T) {
	for name, test := range map[string]struct {
		platform Platform
		told     observation.Observed[Told]
		change   func(*appsv1.Deployment)
		want     string
		// instruct says that someone else is to change it.
		instruct bool
	}{
		"no one": {platform: Deployments, change: func(*appsv1.Deployment) {}},
		"KKP, without any mark": {
			platform: KKP, change: func(*appsv1.Deployment) {},
			want: "KKP reconciles this control plane. To migrate, set KKP's own feature",
		},
		"KKP, by what it owns": {
			platform: Deployments, change: controlledBy("kubermatic.k8c.io/v1", "Cluster", "a"), want: "docs/kkp.md",
		},
		"a Cluster of others": {
			platform: Deployments, change: controlledBy("example.com/v1", "Cluster", "a"), want: "Cluster a would write back",
			instruct: true,
		},
		"Gardener": {
			platform: Gardener, change: func(*appsv1.Deployment) {}, want: "Gardener reconciles this control plane",
		},
		"Gardener, by its role": {
			platform: Deployments, change: label("gardener.cloud/role", "controlplane"), want: "Gardener reconciles",
		},
		"Kamaji": {
			platform: Deployments, change: controlledBy("kamaji.clastix.io/v1alpha1", "TenantControlPlane", "web"),
			want: "TenantControlPlane web would write back", instruct: true,
		},
		"Flux": {
			platform: Deployments, change: label("kustomize.toolkit.fluxcd.io/name", "tenants"),
			want: "Flux Kustomization tenants would write back",
		},
		"a platform that is still": {
			platform: KKP, told: observation.Known(Told{Object: "KKP's Cluster a", Name: namespace, Paused: true}),
			change: func(*appsv1.Deployment) {}, want: "KKP's Cluster a is paused",
		},
		"a platform that was not looked at": {
			platform: Gardener, told: observation.Unknown[Told]("forbidden"), change: func(*appsv1.Deployment) {},
			want: "could not be looked at: forbidden.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := only(t, test.platform, test.told, nothing(), changed(inTree(), test.change))
			if test.want == "" {
				g.Expect(made.Warnings).To(BeEmpty())
			} else {
				g.Expect(made.Warnings).To(ContainElement(ContainSubstring(test.want)))
			}
			if test.instruct {
				g.Expect(field(made, "spec.controlPlane.change")).To(HavePrefix("Instruct;"))
			} else {
				g.Expect(field(made, "spec.controlPlane.change")).To(BeEmpty())
			}
		})
	}
}

func TestWhatIsThereAlreadyIsNotProposed(t *testing.T) {
	cluster := func(name, kcm string) ucv1.Cluster {
		c := ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		c.Spec.ControlPlane.KubeControllerManager.Name = kcm
		return c
	}
	static := cluster("static", "")
	static.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
	for name, test := range map[string]struct {
		clusters observation.Observed[[]ucv1.Cluster]
		refused  string
		warning  string
	}{
		"a control plane of its Cluster": {
			clusters: observation.Known([]ucv1.Cluster{cluster("beta", "")}), refused: "Cluster user-alpha/beta has it already.",
		},
		"a name that is taken": {
			clusters: observation.Known([]ucv1.Cluster{cluster(namespace, "other")}),
			refused:  "exists already, for another control plane.",
		},
		"but one beside others":           {clusters: observation.Known([]ucv1.Cluster{cluster("beta", "other"), static})},
		"but one where none can be known": {clusters: observation.Absent[[]ucv1.Cluster]()},
		"but one that could not be looked for": {
			clusters: observation.Unknown[[]ucv1.Cluster]("forbidden"), warning: "Whether there is a Cluster for it already could " +
				"not be looked at: forbidden.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			look := nothing()
			look.Clusters = test.clusters
			made := only(t, Deployments, toldNothing(), look, inTree())
			g.Expect(made.Refused).To(HaveSuffix(test.refused))
			g.Expect(made.Refused).To(sameEmptiness(test.refused))
			if test.warning != "" {
				g.Expect(made.Warnings).To(ContainElement(test.warning))
			}
		})
	}
}

func TestTheRulesAboutClustersAreAsked(t *testing.T) {
	g := NewWithT(t)
	plane := Find(Deployments, Namespace{Name: namespace, Deployments: []appsv1.Deployment{inTree()}})[0]
	providers := known()
	providers.Unmigratable = func(name, version string) string { return name + " " + version + " has no CCM." }
	made := plane.Propose(nothing(), providers)
	g.Expect(made.Warnings).To(Equal([]string{"As it is, it could not be migrated: openstack 1.25.16 has no CCM."}))

	providers.Objections = func(cluster *ucv1.Cluster) string {
		g.Expect(cluster.Spec.Mode).To(Equal(ucv1.PlanOnlyMode))
		g.Expect(cluster.Spec.Features.ExternalCloudProvider).To(HaveValue(BeFalse()))
		return "No " + cluster.Spec.Version + "."
	}
	g.Expect(plane.Propose(nothing(), providers).Refused).To(Equal("the API server would refuse it: No 1.25.16."))
}

func TestComponentsBesideKCM(t *testing.T) {
	const path = "spec.controlPlane.kubeAPIServer."
	api := func(name string) appsv1.Deployment { return deployment(name, apiServer) }
	for name, test := range map[string]struct {
		kcm                  appsv1.Deployment
		others               []appsv1.Deployment
		want, container, own string
	}{
		"one is looked at only": {
			kcm: inTree(), others: []appsv1.Deployment{api("apiserver")}, want: "apiserver;", container: "apiserver;",
			own: "Foreign;",
		},
		"none is left out": {
			kcm: inTree(), want: "missing: no Deployment of namespace user-alpha is known to run kube-apiserver.",
		},
		"of several no one knows": {
			kcm: inTree(), others: []appsv1.Deployment{api("one"), api("two")},
			want: "missing: several Deployments run kube-apiserver: one, two.",
		},
		"of several that of KCM's name": {
			kcm: changed(inTree(), rename("two-kube-controller-manager")), others: []appsv1.Deployment{
				api("one-kube-apiserver"), api("two-kube-apiserver"),
			},
			want: "two-kube-apiserver;", container: "two-kube-apiserver;", own: "Foreign;",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			look := nothing().with("two-kubeconfig", observation.Absent[Secret]())
			made := only(t, Deployments, toldNothing(), look, append(test.others, test.kcm)...)
			g.Expect(field(made, path+"name")).To(HavePrefix(test.want))
			g.Expect(field(made, path+"container")).To(HavePrefix(test.container))
			g.Expect(field(made, path+"ownership")).To(HavePrefix(test.own))
		})
	}
}

// KKP switches the loops off some time after its feature was set.
func TestAClusterThatItsPlatformMigratesIsNotProposed(t *testing.T) {
	told := observation.Known(Told{Object: "KKP's Cluster a", Name: "a", External: "KKP migrates it."})
	NewWithT(t).Expect(only(t, KKP, told, nothing(), inTree())).To(Equal(Proposal{
		Subject: "Deployment user-alpha/kube-controller-manager", Refused: "KKP migrates it.",
	}))
}
