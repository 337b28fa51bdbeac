package integration_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// onlyCompared is in names that the controller compares with what it sees, and asks no one for.
const onlyCompared = "only-compared"

// namesMuch fills in whatever a spec can name.
func namesMuch(c *ucv1.Cluster) {
	c.Spec.Preflight.Accept = append(c.Spec.Preflight.Accept,
		ucv1.AcceptedFinding{ID: "NodeNotReady", Objects: []string{"Secret other/" + onlyCompared}, Reason: onlyCompared})
	c.Spec.Rollout.AcceptNodes = []string{onlyCompared}
	c.Spec.Rollout.AcceptChanges = []string{"Service other/" + onlyCompared, "PersistentVolume " + onlyCompared}
	c.Spec.Handover.AcceptLostManagers = []string{onlyCompared}
	c.Spec.Handover.AcceptOtherManagers = []string{"Deployment other/" + onlyCompared}
	// In the management cluster the namespace is always that of the Cluster.
	c.Spec.MachineController.Namespace, c.Spec.MachineController.Webhook.Namespace = "other", "other"
	c.Spec.ControlPlane.KubeControllerManager = ucv1.DeploymentReference{Name: kcm, Container: kcm}
	c.Spec.MachineController.MachineController.DeploymentReference = ucv1.DeploymentReference{
		Name:      "machine-controller",
		Container: "machine-controller",
	}
	c.Spec.KubeconfigSecretRef = &ucv1.SecretKeyReference{Name: alpha + "-kubeconfig", Key: "value"}
}

// A migration up to the roll does all that the controller ever does to Deployments and Secrets of the management cluster.
func TestAClusterReachesIntoItsOwnNamespaceOnly(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("large", 1)
	w.playKCM(kcm + "-r1-0")
	w.create(namesMuch)
	w.pass()
	w.edit(feature(true))
	templates := map[string]string{}
	for _, name := range append(machineControllers(), kcm) {
		templates[name] = w.templateWithoutArguments(name)
	}
	w.until("a forceRestart value", func(c *ucv1.Cluster) bool { return c.Status.RollGeneration != "" },
		w.playControlPlane, w.playAddons, w.playMachines, func() { w.playKCM(w.pods(kcm)[len(w.pods(kcm))-1].Name) })

	for _, path := range w.requests.reached() {
		g.Expect(path).NotTo(ContainSubstring(onlyCompared), "what a person vouches for is compared, and no one is asked for it")
		switch {
		case path == "/api", path == "/apis", !strings.Contains(path, "/namespaces/") && isDiscovery(path):
		// That of the pods.
		case path == "/api/v1/nodes/"+w.namespace,
			path == "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+w.namespace:
		case path == "/apis/usercluster.k8c.io/v1alpha1/providerprofiles/simcloud":
		case path == "/apis/usercluster.k8c.io/v1alpha1/clusters": // managerClient waits for its rights by it.
		default:
			g.Expect(path + "/").To(ContainSubstring("/namespaces/" + w.namespace + "/"))
		}
	}
	for name, template := range templates {
		g.Expect(w.deployment(name).Generation).To(BeNumerically(">", 1), name+" was changed")
		g.Expect(w.templateWithoutArguments(name)).To(Equal(template), "nothing but the arguments of "+name)
	}
}

// isDiscovery says that a path is a group's or a version's, and no resource's.
func isDiscovery(path string) bool {
	return strings.Count(strings.Trim(path, "/"), "/") <= 2 && !strings.HasSuffix(path, "s")
}

func (w *world) templateWithoutArguments(name string) string {
	w.t.Helper()
	template := w.deployment(name).Spec.Template
	for i := range template.Spec.Containers {
		template.Spec.Containers[i].Command = template.Spec.Containers[i].Command[:1]
		template.Spec.Containers[i].Args = nil
	}
	return template.String()
}

func TestWhatIsNoNameIsRefused(t *testing.T) {
	t.Parallel()
	checkRules(t, map[string]ruleCase{
		"a version with a path in it":  {nil, version("1.30.14/../x"), "spec.version"},
		"a version with a second line": {nil, version("1.30.14\n--x"), "spec.version"},
		"an approval that is no digest": {
			nil,
			func(c *ucv1.Cluster) { c.Spec.Approval.PlanDigest = "../x" },
			"spec.approval.planDigest",
		},
		"a finding that is called like a path": {
			nil,
			func(c *ucv1.Cluster) { c.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "a/b", Reason: "x"}} },
			"spec.preflight.accept[0].id",
		},
		"a number of rolls that is a text": {
			nil,
			func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromString("1; x")) },
			"spec.rollout.maxConcurrent",
		},
	})
}
