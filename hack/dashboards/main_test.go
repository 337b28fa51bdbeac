package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func TestPanelsStandSideBySideAsFarAsTheyFit(t *testing.T) {
	of := func(width, height int) panel { return panel{GridPos: place{W: width, H: height}} }
	for name, test := range map[string]struct {
		sections []section
		want     []place
	}{
		"a line": {
			[]section{{"a", []panel{of(12, 4), of(12, 8)}}},
			[]place{{H: 1, W: 24}, {H: 4, W: 12, Y: 1}, {H: 8, W: 12, X: 12, Y: 1}},
		},
		"what does not fit stands below the highest": {
			[]section{{"a", []panel{of(12, 4), of(8, 8), of(8, 4)}}},
			[]place{{H: 1, W: 24}, {H: 4, W: 12, Y: 1}, {H: 8, W: 8, X: 12, Y: 1}, {H: 4, W: 8, Y: 9}},
		},
		"a section begins below the one before": {
			[]section{{"a", []panel{of(4, 4)}}, {"b", []panel{of(24, 8)}}},
			[]place{{H: 1, W: 24}, {H: 4, W: 4, Y: 1}, {H: 1, W: 24, Y: 5}, {H: 8, W: 24, Y: 6}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for i, panel := range arranged(test.sections) {
				g.Expect(panel.ID).To(Equal(i + 1))
				g.Expect(panel.GridPos).To(Equal(test.want[i]))
			}
		})
	}
}

// What docs/dashboards.md says to apply has what Grafana's sidecar and kube-state-metrics read.
func TestTheConfigMapsRender(t *testing.T) {
	for directory, test := range map[string]struct {
		name, namespace string
		labels          map[string]string
		keys            []string
	}{
		"grafana": {
			"ccm-migration-controller-dashboards", "ccm-migration-system",
			map[string]string{"grafana_dashboard": "1"}, []string{"fleet.json", "cluster.json", "controller.json"},
		},
		"kube-state-metrics": {"ccm-migration-controller-kube-state-metrics", "", nil, []string{"config.yaml"}},
	} {
		t.Run(directory, func(t *testing.T) {
			g := NewWithT(t)
			rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../config/"+directory)
			g.Expect(err).NotTo(HaveOccurred())
			for _, object := range rendered.Resources() {
				if object.GetKind() != "ConfigMap" {
					continue
				}
				g.Expect(object.GetName()).To(Equal(test.name))
				g.Expect(object.GetNamespace()).To(Equal(test.namespace))
				for label, value := range test.labels {
					g.Expect(object.GetLabels()).To(HaveKeyWithValue(label, value))
				}
				for _, key := range test.keys {
					g.Expect(object.GetDataMap()).To(HaveKeyWithValue(key, Not(BeEmpty())))
				}
				g.Expect(object.GetDataMap()).To(HaveLen(len(test.keys)))
				return
			}
			t.Fatal("there is no ConfigMap")
		})
	}
}
