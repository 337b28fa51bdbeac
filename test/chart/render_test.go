package chart_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	chart     = "../../charts/ccm-migration-controller"
	release   = "ccm-migration-controller"
	namespace = "ccm-migration-system"
)

// asInConfig are the values with which the chart has the image of config/.
var asInConfig = []string{"--set=image.tag=latest"}

func TestTheChartInstallsWhatConfigDoes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values  []string
		folders []string
	}{
		"by default": {folders: []string{"default-self-managed"}},
		"with certificates of cert-manager": {
			values: []string{"--set=certificates=CertManager"}, folders: []string{"default"},
		},
		"for the Clusters of one namespace": {
			values:  []string{"--set=certificates=CertManager", "--set=namespaces={user-example}"},
			folders: []string{"default-namespaced"},
		},
		"with policies about the manager and about approvals": {
			values:  []string{"--set=admissionPolicies.enabled=true", "--set=fleetApprovals.enabled=true"},
			folders: []string{"default-self-managed", "admission", "fleet-approvals"},
		},
		"with dashboards": {
			values: []string{"--set=grafana.dashboards.enabled=true"}, folders: []string{"default-self-managed", "grafana"},
		},
		"with what Prometheus Operator takes": {
			values:  []string{"--set=prometheus.serviceMonitor.enabled=true", "--set=prometheus.rules.enabled=true"},
			folders: []string{"default-self-managed", "prometheus"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]map[string]any{}
			for _, folder := range tc.folders {
				maps.Copy(want, asSaid(objectsOf(t, kustomized(t, folder))))
			}
			got := asSaid(objectsOf(t, template(t, append(tc.values, asInConfig...)...)))
			NewWithT(t).Expect(cmp.Diff(want, got)).To(BeEmpty(), "- config/, + chart")
		})
	}
}

// asSaid are the objects without what Helm and the chart add to each; the namespace is made by whoever installs a chart.
func asSaid(objects []*unstructured.Unstructured) map[string]map[string]any {
	found := map[string]map[string]any{}
	for _, object := range objects {
		if object.GetKind() == "Namespace" {
			continue
		}
		labels, annotations := object.GetLabels(), object.GetAnnotations()
		maps.DeleteFunc(labels, func(key, _ string) bool {
			return key == "helm.sh/chart" || strings.HasPrefix(key, "app.kubernetes.io/")
		})
		delete(annotations, "helm.sh/resource-policy")
		object.SetLabels(orNone(labels))
		object.SetAnnotations(orNone(annotations))
		found[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object.Object
	}
	return found
}

// orNone is none for an object that has none in config/.
func orNone(pairs map[string]string) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	return pairs
}

func TestEveryObjectSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for _, object := range objectsOf(t, template(t, everything()...)) {
		g.Expect(object.GetLabels()).To(And(
			HaveKeyWithValue("app.kubernetes.io/name", release), HaveKeyWithValue("app.kubernetes.io/instance", release),
			HaveKeyWithValue("app.kubernetes.io/managed-by", "Helm"), HaveKey("helm.sh/chart"),
		), "%s %s", object.GetKind(), object.GetName())
	}
}

// everything is each option of the chart.
func everything() []string {
	return []string{
		"--set=admissionPolicies.enabled=true", "--set=fleetApprovals.enabled=true", "--set=prometheus.serviceMonitor.enabled=true",
		"--set=prometheus.rules.enabled=true", "--set=grafana.dashboards.enabled=true",
	}
}

// helm runs it, and returns what it printed.
func helm(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	program, err := helmProgram()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(t.Context(), program, args...)
	folder := t.TempDir()
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+folder, "HELM_CONFIG_HOME="+folder, "HELM_DATA_HOME="+folder)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	if err := command.Run(); err != nil {
		return append(out.Bytes(), said.Bytes()...), err
	}
	return out.Bytes(), nil
}

// helmProgram is built by go from the versions that a release uses.
var helmProgram = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "tool", "-modfile=../../hack/tools/helm/go.mod", "-n", "helm").Output()
	return strings.TrimSpace(string(path)), err
})

func template(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := helm(t, append([]string{"template", release, chart, "--namespace=" + namespace, "--kube-version=1.31.4"}, args...)...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", out)
	return out
}

// kustomized is a folder of config/; one that is a component is wrapped.
func kustomized(t *testing.T, folder string) []byte {
	t.Helper()
	g := NewWithT(t)
	path, err := filepath.Abs(filepath.Join("../../config", folder))
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(path, "kustomization.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	if strings.Contains(string(text), "kind: Component") {
		wrapper := t.TempDir()
		component, err := filepath.Rel(wrapper, path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(filepath.Join(wrapper, "kustomization.yaml"), []byte("components: ["+component+"]\n"), 0o600)).To(Succeed())
		path = wrapper
	}
	out, err := exec.CommandContext(t.Context(), kubectlProgram(), "kustomize", path).Output()
	g.Expect(err).NotTo(HaveOccurred())
	return out
}

func kubectlProgram() string { return filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl") }

func objectsOf(t *testing.T, documents []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	g, decoder := NewWithT(t), yaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4096)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects
		}
		g.Expect(err).NotTo(HaveOccurred())
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		g.Expect(object.UnmarshalJSON(raw)).To(Succeed())
		objects = append(objects, object)
	}
}
