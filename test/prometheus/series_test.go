package prometheus

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// known is everything that a query may ask for.
func known(t *testing.T) series {
	t.Helper()
	all := documented(t)
	maps.Copy(all, ofKubeStateMetrics(t))
	for _, other := range others() {
		all[other.name] = append(other.labels, "job", "instance")
	}
	for _, group := range rules(t) {
		for _, rule := range group.Rules {
			if rule.Record != "" {
				labels, problems := problemsOf(rule.Expr, all)
				NewWithT(t).Expect(problems).To(BeEmpty(), rule.Record)
				all[rule.Record] = slices.Sorted(maps.Keys(labels))
			}
		}
	}
	return all
}

// documented is what docs/metrics.md, which is generated, has, with the labels that a ServiceMonitor gives its targets:
// https://prometheus-operator.dev/docs/developer/getting-started/ and
// https://github.com/prometheus-operator/prometheus-operator/blob/v0.95.2/pkg/prometheus/promcfg.go.
// Tables of libraries do not say which of their metrics are histograms: those in seconds may be.
func documented(t *testing.T) series {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	all := series{}
	rows := regexp.MustCompile("(?m)^\\| `((?:ccm_migration|controller_runtime|workqueue|rest_client|leader_election|certwatcher|process|go)_[a-z_]+)`" +
		" \\| (?:(counter|gauge|histogram) \\| )?(.*?) \\|")
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		name, kind := row[1], row[2]
		labels := []string{"job", "instance", "namespace", "pod", "container", "service", "endpoint"}
		for _, label := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[3], -1) {
			labels = append(labels, label[1])
		}
		if kind == "histogram" || kind == "" && strings.HasSuffix(name, "_seconds") {
			all[name+"_sum"], all[name+"_count"], all[name+"_bucket"] = labels, labels, append(slices.Clone(labels), "le")
		}
		if kind != "histogram" {
			all[name] = labels
		}
	}
	NewWithT(t).Expect(len(all)).To(BeNumerically(">", 50))
	return all
}

// ofKubeStateMetrics is what config/kube-state-metrics makes of objects; test/kubestatemetrics plays it.
func ofKubeStateMetrics(t *testing.T) series {
	t.Helper()
	type labelled struct {
		LabelsFromPath map[string][]string
	}
	configuration := struct {
		Spec struct {
			Resources []struct {
				labelled         `json:",inline"`
				MetricNamePrefix string
				Metrics          []struct {
					Name string
					Each struct{ Gauge, Info labelled }
				}
			}
		}
	}{}
	read(t, filepath.Join(config, "kube-state-metrics", "custom-resource-state.yaml"), &configuration)
	all := series{}
	for _, resource := range configuration.Spec.Resources {
		for _, metric := range resource.Metrics {
			labels := []string{"job", "instance", "customresource_group", "customresource_version", "customresource_kind"}
			for _, from := range []labelled{resource.labelled, metric.Each.Gauge, metric.Each.Info} {
				labels = slices.AppendSeq(labels, maps.Keys(from.LabelsFromPath))
			}
			all[resource.MetricNamePrefix+"_"+metric.Name] = labels
		}
	}
	NewWithT(t).Expect(len(all)).To(BeNumerically(">", 20))
	return all
}

type other struct {
	name   string
	labels []string
	source string
}

// others are metrics of programs that are not ours, with where they are described.
func others() []other {
	const kubeStateMetrics = "https://github.com/kubernetes/kube-state-metrics/blob/v2.20.0/docs/metrics/workload/"
	return []other{
		{"up", []string{"namespace", "pod", "service"}, "https://prometheus.io/docs/concepts/jobs_instances/"},
		{"kube_deployment_status_replicas_unavailable", []string{"namespace", "deployment"}, kubeStateMetrics + "deployment-metrics.md"},
		{"kube_pod_container_status_restarts_total", []string{"namespace", "pod", "uid", "container"}, kubeStateMetrics + "pod-metrics.md"},
	}
}

func TestRulesReadMetricsThatThereAre(t *testing.T) {
	all := known(t)
	for _, group := range rules(t) {
		for _, rule := range group.Rules {
			_, problems := problemsOf(rule.Expr, all)
			NewWithT(t).Expect(problems).To(BeEmpty(), rule.Record+rule.Alert)
		}
	}
}
