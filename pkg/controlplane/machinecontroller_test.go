package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// found is what is seen of the machine-controller: where each Deployment is, its name/container and its flag, or what is
// wrong with it.
type found struct {
	spec    ucv1.MachineControllerSpec
	live    client.Reader
	user    client.Reader
	found   []string
	unknown string
}

func (f found) run(t *testing.T) {
	g := NewWithT(t)
	cluster := testCluster()
	cluster.Spec.MachineController = f.spec
	reader, _ := testReader(f.live)
	_, observed := reader.Look(t.Context(), cluster)
	if MachineControllerInUserCluster(cluster) {
		observed = reader.MachineController(t.Context(), cluster, f.user)
	}
	if f.unknown != "" {
		g.Expect(observed.IsUnknown()).To(BeTrue())
		g.Expect(observed.Why()).To(ContainSubstring(f.unknown))
		return
	}
	deployments, known := observed.Get()
	g.Expect(known).To(BeTrue())
	seen := []string{}
	for _, one := range deployments {
		says := "management "
		if one.InUserCluster {
			says = "user cluster "
		}
		says += one.Namespace + "/" + one.Name
		switch {
		case one.Missing && one.Named:
			says += " named and missing"
		case one.Missing:
			says += " missing"
		case one.Denied:
			says += " denied"
		default:
			says += " " + one.Container + " " + one.Flag
		}
		seen = append(seen, string(one.Program)+": "+says)
	}
	g.Expect(seen).To(Equal(f.found))
}

func located(name string, location ucv1.MachineControllerLocation, namespace string) ucv1.LocatedDeployment {
	return ucv1.LocatedDeployment{
		DeploymentReference: ucv1.DeploymentReference{Name: name}, Location: location, Namespace: namespace,
	}
}

func TestMachineController(t *testing.T) {
	controller, webhook := testDeployment("machine-controller", "-v=2"), testDeployment("hook", "-v=2")
	osm := testDeployment("operating-system-manager", "-v=2")
	osm.Spec.Template.Spec.Containers[0].Name = "osm"
	webhook.Spec.Template.Spec.Containers = append(webhook.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
	all := []client.Object{controller, webhook, osm}
	management := ucv1.MachineControllerSpec{Webhook: located("hook", "", "")}
	inUser := management
	inUser.Location, inUser.Namespace = ucv1.UserClusterLocation, testNamespace
	apart := management
	apart.OperatingSystemManager.LocatedDeployment = located("", ucv1.UserClusterLocation, testNamespace)
	none, misspelled := management, management
	none.OperatingSystemManager.Mode, misspelled.OperatingSystemManager.Name = ucv1.OperatingSystemManagerNone, "osn"
	const (
		controllerIn = " cluster-alpha/machine-controller machine-controller -node-external-cloud-provider"
		webhookIn    = " cluster-alpha/hook hook -node-external-cloud-provider"
		managerIn    = " cluster-alpha/operating-system-manager osm -external-cloud-provider"
	)
	both := []string{"machine-controller: management" + controllerIn, "machine-controller-webhook: management" + webhookIn}
	and := func(last string) []string { return append(both[:2:2], "operating-system-manager: "+last) }
	runAll(t, map[string]found{
		"in the management cluster": {
			spec: management, live: testClient(interceptor.Funcs{}, all...), found: and("management" + managerIn),
		},
		"in the user cluster one that does not exist is said to be missing": {
			spec: inUser, live: testClient(interceptor.Funcs{}), user: testClient(interceptor.Funcs{}, controller, webhook),
			found: []string{
				"machine-controller: user cluster" + controllerIn, "machine-controller-webhook: user cluster" + webhookIn,
				"operating-system-manager: user cluster cluster-alpha/operating-system-manager missing",
			},
		},
		"in namespace kube-system of the user cluster unless the spec says otherwise": {
			spec: ucv1.MachineControllerSpec{Location: ucv1.UserClusterLocation},
			live: testClient(interceptor.Funcs{}, all...), user: testClient(interceptor.Funcs{}, all...),
			found: []string{
				"machine-controller: user cluster kube-system/machine-controller missing",
				"machine-controller-webhook: user cluster kube-system/machine-controller-webhook missing",
				"operating-system-manager: user cluster kube-system/operating-system-manager missing",
			},
		},
		"one of them in another cluster than the others": {
			spec: apart, live: testClient(interceptor.Funcs{}, controller, webhook), user: testClient(interceptor.Funcs{}, osm),
			found: and("user cluster" + managerIn),
		},
		"one that is named and does not exist": {
			spec: misspelled, live: testClient(interceptor.Funcs{}, all...), found: and("management cluster-alpha/osn named and missing"),
		},
		"without an operating-system-manager, as the spec says": {
			spec: none, live: testClient(interceptor.Funcs{}, controller, webhook), found: both,
		},
		"with an operating-system-manager, against the spec": {
			spec: none, live: testClient(interceptor.Funcs{}, all...), found: and("management cluster-alpha/operating-system-manager denied"),
		},
		"none exists": {
			spec: ucv1.MachineControllerSpec{}, live: testClient(interceptor.Funcs{}), found: []string{
				"machine-controller: management cluster-alpha/machine-controller missing",
				"machine-controller-webhook: management cluster-alpha/machine-controller-webhook missing",
				"operating-system-manager: management cluster-alpha/operating-system-manager missing",
			},
		},
	})
}

func TestMachineControllerThatCannotBeRead(t *testing.T) {
	apart := ucv1.MachineControllerSpec{}
	apart.OperatingSystemManager.Location = ucv1.UserClusterLocation
	all := []client.Object{testDeployment("machine-controller"), testDeployment("machine-controller-webhook")}
	runAll(t, map[string]found{
		"the user cluster is not connected": {
			spec: apart, live: testClient(interceptor.Funcs{}, all...), unknown: "not connected",
		},
		"Deployments cannot be read": {
			live: testClient(failsOn[*appsv1.Deployment, *appsv1.DeploymentList]()), unknown: "on fire",
		},
		"Pods cannot be listed": {
			live: testClient(failsOn[*corev1.Pod, *corev1.PodList](), all...), unknown: "on fire",
		},
	})
}
