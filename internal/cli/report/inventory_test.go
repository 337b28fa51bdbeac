package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func kept() observation.Inventory {
	return observation.Inventory{
		Version:       observation.InventoryVersion,
		LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb", Ingress: []string{"192.0.2.1"}}},
		Volumes:       []observation.Volume{{Name: "pv", UID: "pv", Phase: "Bound", Claim: "web/data"}},
		Nodes:         []observation.NodeRecord{{Name: "n1", UID: "u1", ProviderID: "simcloud://n1", Machine: "m1"}},
	}
}

func clusterWithBaseline() *ucv1.Cluster {
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user-alpha", Name: "alpha"}}
	taken := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	cluster.Status.Baseline = &ucv1.BaselineStatus{SecretName: "alpha-baseline", Digest: kept().Digest(), TakenAt: &taken}
	return cluster
}

func TestInventoryText(t *testing.T) {
	g := NewWithT(t)
	observed := observation.Observation{Cluster: clusterWithBaseline(), Baseline: observation.Known(kept())}
	report, err := newInventoryReport(observed, false)
	g.Expect(err).NotTo(HaveOccurred())
	text := &strings.Builder{}
	g.Expect(report.text(text)).To(Succeed())
	g.Expect(text.String()).To(Equal(`Cluster  user-alpha/alpha
Taken    2026-01-01T12:00:00Z
Secret   alpha-baseline

WHAT                BEFORE
load balancers      1
volumes             1
attachments         0
Nodes               1
Nodes with a route  0
StorageClasses      0

Service web/front    [192.0.2.1]
Node n1              simcloud://n1
PersistentVolume pv  Bound web/data
`))
}

func TestAnInventoryHasNoValuesThatTenantsWrite(t *testing.T) {
	g := NewWithT(t)
	whole := kept()
	whole.LoadBalancers[0].Annotations = map[string]string{"note": "a secret of a tenant"}
	whole.Nodes[0].Labels = map[string]string{"owner": "a secret of a tenant"}
	report, err := newInventoryReport(
		observation.Observation{Cluster: clusterWithBaseline(), Baseline: observation.Known(whole)},
		false,
	)
	g.Expect(err).NotTo(HaveOccurred())
	out := &bytes.Buffer{}
	g.Expect(terminal.Write(out, "json", report, nil)).To(Succeed())
	g.Expect(out.String()).To(And(ContainSubstring("note"), ContainSubstring("owner"), Not(ContainSubstring("a secret"))))
}

func TestInventoryDiffText(t *testing.T) {
	g := NewWithT(t)
	now := kept()
	now.LoadBalancers = []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb", Ingress: []string{"192.0.2.9"}}}
	now.Nodes, now.Volumes = []observation.NodeRecord{{Name: "n2", UID: "u2"}}, nil
	observed := observation.Observation{
		Cluster:   clusterWithBaseline(),
		Baseline:  observation.Known(kept()),
		Inventory: observation.Known(now),
		Machines:  observation.Known(observation.Machines{}),
		Gone:      observation.Known(map[string]observation.Gone{"pv": {Seen: "it was gone by noon"}}),
	}
	report, err := newInventoryReport(observed, true)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Unexplained).To(Equal(1))
	text := &strings.Builder{}
	g.Expect(report.text(text)).To(Succeed())
	g.Expect(text.String()).To(ContainSubstring(`
1 unexplained, 3 explained
! Service web/front had 192.0.2.1 and has 192.0.2.9  unexplained
  Node n1 is gone                                    its Machine was replaced or deleted
  Node n2 is new                                     it joined since
? PersistentVolume pv is gone                        it was gone by noon
`))
}

func TestInventoryDiffThatCannotLook(t *testing.T) {
	g := NewWithT(t)
	observed := observation.Observation{
		Cluster:   clusterWithBaseline(),
		Baseline:  observation.Known(kept()),
		Inventory: observation.Unknown[observation.Inventory]("timeout"),
	}
	_, err := newInventoryReport(observed, true)
	g.Expect(err).To(MatchError(ContainSubstring("timeout")))
}

func TestReadBaseline(t *testing.T) {
	packed, err := baseline.Encode(kept())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, test := range map[string]struct {
		data map[string][]byte
		when func(*ucv1.Cluster)
		says string
	}{
		"it is read":           {data: map[string][]byte{baseline.Key: packed}},
		"none was taken":       {when: func(c *ucv1.Cluster) { c.Status.Baseline = nil }, says: "has no baseline"},
		"it is gone":           {says: "is gone; restore it"},
		"it is something else": {data: map[string][]byte{baseline.OldKey: []byte("password")}, says: "is no baseline"},
		"it is not the one of the status": {data: map[string][]byte{baseline.Key: packed},
			when: func(c *ucv1.Cluster) { c.Status.Baseline.Digest = "other" }, says: "is not the baseline that was taken"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			scheme, err := management.NewScheme()
			g.Expect(err).NotTo(HaveOccurred())
			cluster, builder := clusterWithBaseline(), fake.NewClientBuilder().WithScheme(scheme)
			if test.data != nil {
				builder = builder.WithObjects(
					&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "user-alpha", Name: "alpha-baseline"}, Data: test.data},
				)
			}
			if test.when != nil {
				test.when(cluster)
			}
			_, err = readBaseline(t.Context(), builder.Build(), cluster)
			if test.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.says)))
			g.Expect(err.Error()).NotTo(ContainSubstring("password"))
		})
	}
}
