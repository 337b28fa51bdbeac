package main

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	managerNamespace = "ccm-migration-system"
	// A line with one of these is replaced by lines of a template: YAML has no place for them.
	labelsMark    = "chart-labels"
	ownLabelsMark = "chart-own-labels"
	keepMark      = "chart-keep"
	injectMark    = "chart-inject-ca"
	selectorMark  = "chart-namespace-selector"
	metricsMark   = "chart-metrics-namespaces"
)

const injectCA = `{{- if eq .Values.certificates "CertManager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/ccm-migration-controller-webhook
  {{- end }}`

const namespaceSelector = `{{- with .Values.namespaces }}
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: In
      values: {{ toJson . }}
  {{- end }}`

// template is the object as a part of a template, with its conditions around it.
func (p part) template() (string, error) {
	object := p.object.DeepCopy()
	if err := mark(object); err != nil {
		return "", err
	}
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		return "", err
	}
	// What looks like a template in config/ is one of someone else's: Prometheus'.
	text := strings.NewReplacer("{{", `{{ "{{" }}`, "}}", `{{ "}}" }}`).Replace(string(content))
	text = "---\n" + unmark(strings.ReplaceAll(text, managerNamespace, "{{ .Release.Namespace }}"))
	if p.ranges {
		text = strings.NewReplacer(".Release.", "$.Release.", `labels" .`, `labels" $`, exampleNamespace, "{{ . }}").Replace(text)
		text = "{{- range .Values.namespaces }}\n" + text + "{{- end }}\n"
	}
	for _, condition := range p.conditions {
		text = "{{- if " + condition + " }}\n" + text + "{{- end }}\n"
	}
	return text, nil
}

// mark puts into the object what unmark finds.
func mark(object *unstructured.Unstructured) error {
	labels := map[string]string{labelsMark: ""}
	maps.Copy(labels, object.GetLabels())
	delete(labels, "app.kubernetes.io/name") // It is one of the chart's.
	annotations := maps.Clone(object.GetAnnotations())
	switch kind := object.GetKind(); kind {
	case "CustomResourceDefinition":
		annotations[keepMark] = ""
	case "ServiceMonitor", "PrometheusRule", "ConfigMap":
		labels[ownLabelsMark] = kind
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		annotations = map[string]string{injectMark: ""}
	}
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	switch object.GetKind() {
	case "NetworkPolicy":
		return markMetrics(object)
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return markWebhooks(object)
	}
	return nil
}

func markWebhooks(object *unstructured.Unstructured) error {
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, one := range webhooks {
		one.(map[string]any)["namespaceSelector"] = selectorMark
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

// markMetrics lets a value say from which namespaces metrics are read: the rule that has a sender.
func markMetrics(object *unstructured.Unstructured) error {
	rules, _, err := unstructured.NestedSlice(object.Object, "spec", "ingress")
	if err != nil {
		return err
	}
	for _, rule := range rules {
		senders, found, err := unstructured.NestedSlice(rule.(map[string]any), "from")
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		selector := senders[0].(map[string]any)["namespaceSelector"].(map[string]any)
		selector["matchLabels"] = metricsMark
		rule.(map[string]any)["from"] = senders
	}
	return unstructured.SetNestedSlice(object.Object, rules, "spec", "ingress")
}

func unmark(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
		switch {
		case key == labelsMark:
			line = indent + "{{- include \"ccm-migration-controller.labels\" . | nindent 4 }}\n"
		case key == ownLabelsMark:
			option := map[string]string{
				"ServiceMonitor": "prometheus.serviceMonitor", "PrometheusRule": "prometheus.rules", "ConfigMap": "grafana.dashboards",
			}[value]
			line = indent + "{{- with .Values." + option + ".labels }}{{ toYaml . | nindent 4 }}{{ end }}\n"
		case key == keepMark:
			line = indent + "{{- if .Values.crds.keep }}\n" + indent + "helm.sh/resource-policy: keep\n" + indent + "{{- end }}\n"
		case key == injectMark:
			lines = lines[:len(lines)-1] // The key of the annotations, which are there only if there is one.
			line = "  " + injectCA + "\n"
		case value == selectorMark:
			line = indent + namespaceSelector + "\n"
		case value == metricsMark:
			line = indent + "matchLabels: {{ toJson .Values.networkPolicy.metricsNamespaceLabels }}\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
