package fleet_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// A claim moves when its holder is known to select the Cluster no longer. Otherwise a misspelled selector in one FleetMigration
// would have its Clusters start in another.
func TestAClaimMoves(t *testing.T) {
	for name, test := range map[string]struct {
		holder func(*ucv1.FleetMigration)
		member func(*fleet.Member)
		by     string
	}{
		"to one that selects the Cluster, when its holder does so no longer": {
			func(fm *ucv1.FleetMigration) { fm.Spec.ClusterSelector = selecting("team", "x") }, func(*fleet.Member) {}, "second",
		},
		"not while the holder selects it": {func(*ucv1.FleetMigration) {}, func(*fleet.Member) {}, ""},
		"not while the selector of the holder cannot be read": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.ClusterSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Is"}}
			}, func(*fleet.Member) {}, "",
		},
		"not while that for namespaces cannot be read": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.NamespaceSelector = &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Is"}},
				}
			}, func(*fleet.Member) {}, "",
		},
		"not while the labels of the namespace are not known": {
			func(fm *ucv1.FleetMigration) { fm.Spec.NamespaceSelector = selecting("team", "x") },
			func(m *fleet.Member) { m.NamespaceUnknown = true }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			first, second := openFleet(), openFleet()
			first.Spec.Mode = ucv1.FleetHold
			test.holder(first)
			second.Name, second.UID = "second", "uid-second"
			m := member("a", "canary")
			m.Admission = &ucv1.AdmissionStatus{
				FleetMigration: first.Name, UID: string(first.UID), Wave: "canary", State: ucv1.AdmissionQueued,
			}
			test.member(&m)
			f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(first), fleet.Compile(second)}, Members: []fleet.Member{m}}
			(&fleet.Placer{}).Place(&f)
			plan := fleet.Decide(f, noon())
			if wanted := plan.Members[0].Admission(plan, &f.Members[0], noon()); test.by == "" {
				g.Expect(wanted).To(BeNil())
			} else {
				g.Expect(wanted).To(HaveField("FleetMigration", test.by))
			}
		})
	}
}

// Of a Cluster whose namespace is not known no one can say what selects it: one that excludes labels would.
func TestAClusterOfAnUnknownNamespaceIsNotClaimed(t *testing.T) {
	fm := openFleet()
	fm.Spec.NamespaceSelector = &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: metav1.LabelSelectorOpDoesNotExist}},
	}
	m := member("a", "canary")
	m.NamespaceUnknown = true
	p := decide(fm, m).Members[0]
	NewWithT(t).Expect(p).To(And(HaveField("Claim", false), HaveField("Admit", false)))
	m.NamespaceUnknown = false
	NewWithT(t).Expect(decide(fm, m).Members[0].Admit).To(BeTrue())
}
