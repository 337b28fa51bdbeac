package registration

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// machineTest is what a namespace has of the machine-controller.
type machineTest struct {
	platform    Platform
	told        Told
	deployments []appsv1.Deployment
	// want has what each field begins with; no other is there.
	want map[string]string
}

func machinePart(name, executable string) appsv1.Deployment {
	return deployment(name, "/usr/local/bin/"+executable)
}

// beside puts a container before the others.
func beside(d *appsv1.Deployment) {
	pod := &d.Spec.Template.Spec
	pod.Containers = append([]corev1.Container{{Name: "envoy", Command: []string{"/sidecar"}}}, pod.Containers...)
}

// besideMain also gives the container another name than the Deployment's.
func besideMain(d *appsv1.Deployment) {
	d.Spec.Template.Spec.Containers[0].Name = "main"
	beside(d)
}

func TestWhereTheMachineControllerIs(t *testing.T) {
	controller := machinePart("machine-controller", "machine-controller")
	webhook := machinePart("machine-controller-webhook", "webhook")
	osm := machinePart("operating-system-manager", "osm-controller")
	osmWebhook := machinePart("operating-system-manager-webhook", "webhook")
	runMachineTests(t, map[string]machineTest{
		"all of it beside KCM": {
			deployments: []appsv1.Deployment{controller, webhook, osm, osmWebhook},
			want: map[string]string{
				"location": "Management; Deployments machine-controller, machine-controller-webhook, operating-system-manager are in",
			},
		},
		"by what runs, under other names": {
			deployments: []appsv1.Deployment{changed(controller, rename("mc")), webhook, changed(osm, rename("osm"))},
			want: map[string]string{
				"location": "Management;", "machineController.name": "mc;", "operatingSystemManager.name": "osm;",
			},
		},
		"with containers beside it": {
			deployments: []appsv1.Deployment{
				changed(controller, besideMain),
				changed(webhook, beside),
				changed(osm, beside),
			},
			want: map[string]string{"location": "Management;", "machineController.container": "main; it runs machine-controller"},
		},
		"in a container that nothing tells": {
			deployments: []appsv1.Deployment{controller, changed(webhook, besideMain), osm},
			want: map[string]string{
				"location": "Management;", "webhook.container": "missing: no command in Deployment machine-controller-webhook says",
			},
		},
	})
}

func TestWhatIsNotKnownOfTheMachineController(t *testing.T) {
	controller := machinePart("machine-controller", "machine-controller")
	webhook := machinePart("machine-controller-webhook", "webhook")
	osm := machinePart("operating-system-manager", "osm-controller")
	none := Told{Object: "KKP's Cluster a", NoOperatingSystemManager: "spec.enableOperatingSystemManager"}
	runMachineTests(t, map[string]machineTest{
		"in part": {
			deployments: []appsv1.Deployment{controller},
			want: map[string]string{
				"location": "Management; Deployments machine-controller are in",
				"webhook.name": "missing: namespace user-alpha has no Deployment machine-controller-webhook, and the " +
					"user cluster was not looked at.",
				"operatingSystemManager.mode": "missing: namespace user-alpha has no Deployment operating-system-manager, and the " +
					"user cluster was not looked at.",
			},
		},
		"without operating-system-manager, as the platform says": {
			told: none, deployments: []appsv1.Deployment{controller, webhook},
			want: map[string]string{
				"location": "Management;", "operatingSystemManager.mode": "None; spec.enableOperatingSystemManager of KKP's Cluster a.",
			},
		},
		"with an operating-system-manager, whatever the platform says": {
			told: none, deployments: []appsv1.Deployment{controller, webhook, osm}, want: map[string]string{"location": "Management;"},
		},
		"elsewhere, or nowhere": {
			want: map[string]string{
				"location": "missing: namespace user-alpha has no machine-controller, and the user cluster was not looked at. " +
					"UserCluster, if",
			},
		},
		"twice": {
			deployments: []appsv1.Deployment{changed(controller, rename("one")), changed(controller, rename("two")), webhook, osm},
			want: map[string]string{
				"location": "Management;",
				"machineController.name": "missing: namespace user-alpha has several control planes, or several of " +
					"machine-controller: one, two.",
			},
		},
		"never, in a shoot": {
			platform: Gardener, deployments: []appsv1.Deployment{deployment("machine-controller-manager", "./machine-controller-manager")},
			want: map[string]string{"location": "missing: a shoot's Machines are of machine-controller-manager"},
		},
	})
}

func runMachineTests(t *testing.T, tests map[string]machineTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if test.platform == "" {
				test.platform = Deployments
			}
			made := only(t, test.platform, observation.Known(test.told), nothing(), append(test.deployments, inTree())...)
			fields := 0
			for _, one := range made.Fields {
				if len(one.Path) > len(machineSpec) && one.Path[:len(machineSpec)] == machineSpec {
					fields++
				}
			}
			g.Expect(fields).To(Equal(len(test.want)), "%+v", made.Fields)
			for path, want := range test.want {
				g.Expect(field(made, machineSpec+"."+path)).To(HavePrefix(want), path)
			}
		})
	}
}

func TestDeploymentsWithoutAPartAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]bool{
		"kube-controller-manager": true, "kube-apiserver": true, "scheduler": true, "machine-controller": true, "etcd": false,
		"machine-controller-manager": false, "cloud-controller-manager": false,
	} {
		one := deployment(name, "/"+name)
		if name == "scheduler" {
			one = deployment(name, "/kube-scheduler")
		}
		g.Expect(Relevant(&one)).To(Equal(want), name)
	}
}
