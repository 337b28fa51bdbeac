package registration

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const namespace = "user-alpha"

// deployment of one container that is called like it.
func deployment(name string, command ...string) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: name, Image: "registry.example/" + name + ":v1.25.16", Command: command,
		}}}}},
	}
}

// inTree is KCM with cloud loops.
func inTree(arguments ...string) appsv1.Deployment {
	return deployment(controllerManager, append([]string{controllerManager, "--cloud-provider=openstack"}, arguments...)...)
}

func changed(d appsv1.Deployment, change func(*appsv1.Deployment)) appsv1.Deployment {
	change(&d)
	return d
}

// known is a catalogue of two clouds that were in-tree and one that was not.
func known() Providers {
	return Providers{
		InTree: map[string]string{"openstack": "openstack", "gce": "gcp"},
		Keys:   map[string][]string{"openstack": {"cloud.conf"}, "gcp": {"gce.conf", "cloud-sa.json"}, "hetzner": {"token"}},
		Unknown: func(name string) string {
			if name == "openstack" || name == "gcp" || name == "hetzner" {
				return ""
			}
			return "Provider " + name + " is not in the catalogue."
		},
		Objections:   func(*ucv1.Cluster) string { return "" },
		Unmigratable: func(string, string) string { return "" },
	}
}

// nothing is a look that found no Secret and no Cluster.
func nothing() Look {
	look := Look{
		Secrets: map[string]observation.Observed[Secret]{}, Clusters: observation.Known([]ucv1.Cluster{}),
	}
	for _, name := range []string{
		namespace + "-kubeconfig", namespace + "-cloud-config", "cloud", "admin-kubeconfig", "internal-admin-kubeconfig",
		"web-kubeconfig", "web-cloud-config", "web-admin-kubeconfig",
	} {
		look.Secrets[name] = observation.Absent[Secret]()
	}
	return look
}

// with is a look that found a Secret, too.
func (l Look) with(name string, secret observation.Observed[Secret]) Look {
	l.Secrets[name] = secret
	return l
}

// only is the one proposal for the Deployments.
func only(
	t *testing.T, platform Platform, told observation.Observed[Told], look Look, deployments ...appsv1.Deployment,
) Proposal {
	t.Helper()
	planes := Find(platform, Namespace{Name: namespace, Deployments: deployments, Told: told})
	NewWithT(t).Expect(planes).To(HaveLen(1))
	return planes[0].Propose(look, known())
}

// toldNothing is what no platform says.
func toldNothing() observation.Observed[Told] { return observation.Absent[Told]() }

// field of a proposal as the tests compare it: its value, or what is missing.
func field(p Proposal, path string) string {
	for _, one := range p.Fields {
		if one.Path != path {
			continue
		}
		if one.Missing() {
			return "missing: " + one.From + " " + one.Check
		}
		return strings.TrimSpace(one.Value.(string) + "; " + one.From + " " + one.Check)
	}
	return ""
}

// sameEmptiness holds for texts that are empty where the other one is.
func sameEmptiness(other string) types.GomegaMatcher {
	if other == "" {
		return BeEmpty()
	}
	return Not(BeEmpty())
}
