package prometheus

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const config = "../../config"

func strictly(t *testing.T, into any, file ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{config}, file...)...))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(yaml.UnmarshalStrict(text, into)).To(Succeed())
}

// The types of the Prometheus Operator know every field that is written.
func TestThePrometheusOperatorTakesTheObjects(t *testing.T) {
	g, monitor, rule := NewWithT(t), &monitoringv1.ServiceMonitor{}, &monitoringv1.PrometheusRule{}
	strictly(t, monitor, "prometheus", "service_monitor.yaml")
	strictly(t, rule, "prometheus", "rules.yaml")
	component := struct{ Resources []string }{}
	read(t, filepath.Join(config, "prometheus", "kustomization.yaml"), &component)
	g.Expect(component.Resources).To(ConsistOf("service_monitor.yaml", "rules.yaml"))
	g.Expect(monitor.Namespace).To(Equal(rule.Namespace))

	service, manager := &corev1.Service{}, struct{ Namespace string }{}
	strictly(t, service, "manager", "metrics_service.yaml")
	read(t, filepath.Join(config, "manager", "kustomization.yaml"), &manager)
	g.Expect(monitor.Namespace).To(Equal(manager.Namespace), "where the Service is")
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(selector.Matches(labels.Set(service.Labels))).To(BeTrue())
	g.Expect(service.Spec.Ports).To(ContainElement(HaveField("Name", monitor.Spec.Endpoints[0].Port)))
}
