package chart_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// Each value is given in another way than by default, as JSON. A value that changes nothing is one that the user believes in.
func TestEveryValueOfTheChartHasAnEffect(t *testing.T) {
	t.Parallel()
	others := map[string]string{
		"admissionPolicies.enabled": "true", "affinity": `{"nodeAffinity":{}}`, "certificates": `"CertManager"`,
		"controlPlanePlacement.enabled": "false", "crds.enabled": "false", "crds.keep": "false",
		"extraArgs": `["--max-unmanaged-starts=20"]`, "extraEnv": `[{"name":"HTTPS_PROXY","value":"http://proxy.example"}]`,
		"grafana.dashboards.enabled": "true", "grafana.dashboards.labels": `{"a":"b"}`, "fleetAdmission": `"Required"`, "fleetApprovals.enabled": "true", "image.digest": `"sha256:` + sixtyFour + `"`,
		"image.pullPolicy": `"Always"`, "image.repository": `"registry.example/manager"`, "image.tag": `"v1"`,
		"imagePullSecrets": `[{"name":"pull"}]`, "namespaces": `["a","b"]`, "networkPolicy.enabled": "false",
		"networkPolicy.metricsNamespaceLabels": `{"a":"b"}`, "nodeSelector": `{"a":"b"}`, "podAnnotations": `{"a":"b"}`,
		"podDisruptionBudget.enabled": "false", "podDisruptionBudget.minAvailable": "2", "podLabels": `{"a":"b"}`,
		"priorityClassName": `"high"`, "prometheus.rules.enabled": "true", "prometheus.rules.labels": `{"a":"b"}`,
		"prometheus.serviceMonitor.enabled": "true", "prometheus.serviceMonitor.labels": `{"a":"b"}`, "replicas": "1", "resources": "null",
		"tolerations": `[{"operator":"Exists"}]`, "topologySpreadConstraints": `[{"maxSkew":1}]`,
	}
	g := NewWithT(t)
	g.Expect(leavesOfSchema(t)).To(ConsistOf(keys(others)), "each value of the schema is tried")
	base := []string{
		"--set=prometheus.rules.enabled=true", "--set=prometheus.serviceMonitor.enabled=true", "--set=grafana.dashboards.enabled=true",
	}
	for path, value := range others {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			before := base
			if slices.Contains(base, "--set="+path+"=true") {
				before = nil
			}
			changed := template(t, append([]string{"--set-json=" + path + "=" + value}, before...)...)
			NewWithT(t).Expect(string(changed)).NotTo(Equal(string(template(t, before...))))
		})
	}
}

const sixtyFour = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestValuesThatTheChartRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ value, says string }{
		"one that it does not know":             {"replicaCount=3", "replicaCount"},
		"one inside that it does not know":      {"image.name=a", "name"},
		"no replica":                            {"replicas=0", "replicas"},
		"a kind of certificates that is none":   {"certificates=certManager", "certificates"},
		"a digest that is none":                 {"image.digest=sha256:abc", "digest"},
		"namespaces that are no list":           {"namespaces=user-example", "namespaces"},
		"an admission of fleets that is none":   {"fleetAdmission=Maybe", "fleetAdmission"},
		"an argument that is no text":           {"extraArgs[0].name=a", "extraArgs"},
		"a repository that is empty":            {"image.repository=", "repository"},
		"a pull Secret that is given as a text": {"imagePullSecrets[0]=pull", "imagePullSecrets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			said, err := helm(t, "template", release, chart, "--set="+tc.value)
			g.Expect(err).To(HaveOccurred())
			g.Expect(string(said)).To(ContainSubstring(tc.says))
		})
	}
}

func TestTheChartPassesHelmLint(t *testing.T) {
	t.Parallel()
	for _, values := range combinations() {
		t.Run(name(values), func(t *testing.T) {
			t.Parallel()
			said, err := helm(t, append([]string{"lint", chart, "--strict"}, values...)...)
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", said)
		})
	}
}

// schema is what a test needs of a JSON schema.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
}

// leavesOfSchema are the paths of all values without values inside. Each says what it is.
func leavesOfSchema(t *testing.T) (paths []string) {
	t.Helper()
	g, root, defaults := NewWithT(t), schema{}, map[string]any{}
	content, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal(content, &root)).To(Succeed())
	content, err = os.ReadFile(filepath.Join(chart, "values.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(yaml.Unmarshal(content, &defaults)).To(Succeed())
	var walk func(schema, map[string]any, string)
	walk = func(at schema, values map[string]any, path string) {
		g.Expect(at.Properties).To(HaveLen(len(values)), "values.yaml has the values of the schema: %s", path)
		for name, property := range at.Properties {
			g.Expect(values).To(HaveKey(name), "%s", path)
			g.Expect(property.Description).NotTo(BeEmpty(), "%s%s", path, name)
			if len(property.Properties) > 0 {
				walk(property, values[name].(map[string]any), path+name+".")
				continue
			}
			paths = append(paths, path+name)
		}
	}
	delete(root.Properties, "global") // Helm has it in every chart.
	walk(root, defaults, "")
	return paths
}
