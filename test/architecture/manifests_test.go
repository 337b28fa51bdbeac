package architecture_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Whoever may edit a namespace could start a migration, which cannot be unset: only the right to look comes by aggregation.
func TestNoRightToWriteIsAggregated(t *testing.T) {
	g, root := NewWithT(t), os.DirFS("../../config")
	aggregated := []string{}
	g.Expect(fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil || !strings.Contains(string(text), "aggregate-to-") && !strings.Contains(string(text), "kind: ClusterRole\n") {
			return err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			role := &rbacv1.ClusterRole{}
			if yaml.Unmarshal([]byte(document), role) != nil {
				continue // A list of rules for kustomize, which has no labels.
			}
			for label := range role.Labels {
				if to, is := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); is {
					aggregated = append(aggregated, role.Name+" to "+to)
				}
			}
		}
		return nil
	})).To(Succeed())
	g.Expect(aggregated).To(ConsistOf("ccm-migration-controller-cluster-viewer to view"))
}

// What the README says of the installation that no API server judges.
func TestTheManagerIsInstalledBehindItsBounds(t *testing.T) {
	g := NewWithT(t)
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		g.Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	image := read("Dockerfile")
	g.Expect(image[strings.LastIndex(image, "\nFROM "):]).To(
		And(HavePrefix("\nFROM gcr.io/distroless/static:nonroot\n"), ContainSubstring("\nUSER 65532:65532\n")),
	)
	g.Expect(read("internal/cli/manager/manager.go")).To(
		MatchRegexp(`SecureServing: true, FilterProvider: filters\.WithAuthenticationAndAuthorization,`),
	)
	for _, installation := range []string{"default", "default-self-managed", "default-namespaced"} {
		g.Expect(read("config/"+installation+"/kustomization.yaml")).To(
			MatchRegexp(`(?m)^- \.\./(network-policy|default|default-self-managed)$`),
			installation,
		)
	}
	policy := &networkingv1.NetworkPolicy{}
	g.Expect(yaml.UnmarshalStrict([]byte(read("config/network-policy/network_policy.yaml")), policy)).To(Succeed())
	g.Expect(policy.Spec.PolicyTypes).To(ConsistOf(networkingv1.PolicyTypeIngress))
	for _, rule := range policy.Spec.Ingress {
		g.Expect(rule.Ports).NotTo(BeEmpty(), "a rule without ports lets everything in")
		for _, port := range rule.Ports {
			if port.Port.String() == "metrics" {
				g.Expect(rule.From).NotTo(BeEmpty(), "metrics are for namespaces that say so")
			}
		}
	}
}

// What outweighs a step is seen in kubectl get, without -o wide.
func TestClustersAreListedWithWhatOutweighsTheirStep(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("../../config/crd/bases/usercluster.k8c.io_clusters.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	definition := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(yaml.UnmarshalStrict(text, definition)).To(Succeed())
	shown := map[string]string{}
	for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
		if column.Priority == 0 {
			shown[column.Name] = column.JSONPath
		}
	}
	for column, condition := range map[string]string{"Ready": "Ready", "Attended": "CloudLoopsAttended", "Paused": "Paused"} {
		g.Expect(shown).To(HaveKeyWithValue(column, `.status.conditions[?(@.type=="`+condition+`")].status`))
	}
}
