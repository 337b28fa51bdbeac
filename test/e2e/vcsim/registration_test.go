//go:build vcsim

package vcsim_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
)

// roll is what the manager would do next with a MachineDeployment that is to be rolled, by the volumes that it reads. The Machines
// are none of this cluster's, and the minor is one in which the catalogue migrates.
func (w *world) roll(session *usercluster.Session) outcome.Outcome {
	GinkgoHelper()
	profile, known := provider.New().Lookup("vsphere")
	Expect(known).To(BeTrue())
	made := &ucv1.Cluster{}
	made.Spec.Rollout.Canary = ucv1.NoCanary
	pool := observation.MachineDeployment{Ref: observation.Ref{
		Kind: "MachineDeployment", Namespace: metav1.NamespaceSystem, Name: "pool", UID: "pool",
	}, Replicas: 0, Settled: true, MaxSurge: 1}
	return rollout.Next(rollout.In{
		Now: time.Now(), Facts: ucv1.Facts{RollGeneration: "1"},
		Observation: observation.Observation{
			Cluster: made, Provider: observation.Known(profile.Facts("1.28.15")), Nodes: session.Facts.Nodes(w.ctx),
			Machines:  observation.Known(observation.Machines{Deployments: []observation.MachineDeployment{pool}}),
			Inventory: session.Facts.Inventory(w.ctx), Registered: session.Facts.RegisteredVolumes(w.ctx),
			Proofs: observation.Absent[observation.KeptProofs](), Measured: observation.Known(slo.Seen{}),
			Deadlines: observation.RealDeadlines(),
		},
	})
}

// register is the syncer of the driver, which knows a volume by its path from then on:
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/apis/migration/v1alpha1/types.go
func (w *world) register(paths ...string) {
	GinkgoHelper()
	group, text := facts.RegistrationGroupVersion(), apiextensionsv1.JSONSchemaProps{Type: "string"}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "cnsvspherevolumemigrations." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: facts.RegistrationKind, ListKind: facts.RegistrationKind + "List",
				Plural: "cnsvspherevolumemigrations", Singular: "cnsvspherevolumemigration",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
						Type: "object", Required: []string{"volumeid", "volumepath"},
						Properties: map[string]apiextensionsv1.JSONSchemaProps{"volumeid": text, "volumepath": text},
					}},
				}},
			}},
		},
	}
	_, err := envtest.InstallCRDs(w.control.AdminConfig(), envtest.CRDInstallOptions{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{definition},
	})
	Expect(err).NotTo(HaveOccurred())
	for _, path := range paths {
		object := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"generateName": "fcd-"}, "spec": map[string]any{"volumeid": "6f4cbf1e", "volumepath": path},
		}}
		object.SetGroupVersionKind(group.WithKind(facts.RegistrationKind))
		Expect(w.client.Create(w.ctx, object)).To(Succeed())
	}
}
