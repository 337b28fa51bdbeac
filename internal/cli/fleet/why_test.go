package fleet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

func TestWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		of, format string
		with       func(*ucv1.FleetMigration)
	}{
		"a Cluster that waits for a budget":              {of: "prod-3"},
		"a Cluster that waits for its window":            {of: "prod-0", with: withWindows},
		"a Cluster of a later wave":                      {of: "rest-1"},
		"a Cluster of a halted FleetMigration":           {of: "prod-0", with: halted},
		"a Cluster with two things of its own":           {of: "eta"},
		"a Cluster that migrates":                        {of: "delta"},
		"a Cluster that failed":                          {of: "epsilon"},
		"a Cluster that is done":                         {of: "alpha"},
		"a Cluster without the feature":                  {of: "iota"},
		"a Cluster with nothing to migrate":              {of: "kappa"},
		"a Cluster that no wave selects":                 {of: "theta"},
		"a Cluster that no FleetMigration selects":       {of: "lambda"},
		"a Cluster whose FleetMigration is gone":         {of: "mu"},
		"a Cluster that is selected no longer":           {of: "nu"},
		"a Cluster that waits for its window, as YAML":   {of: "prod-0", with: withWindows, format: "yaml"},
		"a Cluster of a FleetMigration in mode PlanOnly": {of: "prod-0", with: func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetPlanOnly }},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.with == nil {
				tc.with = func(*ucv1.FleetMigration) {}
			}
			file, format := "why/"+fileName(name)+".txt", "text"
			if tc.format != "" {
				file, format = "why/"+fileName(name)+"."+tc.format, tc.format
			}
			made, err := newWhyReport(viewOf(fleetOf(), openstack(tc.with)), "user-"+tc.of, tc.of)
			expectGolden(t, file, printed(t, made, err, format, plain()))
		})
	}
}

func TestWhyOfAClusterThatIsNotThere(t *testing.T) {
	_, err := newWhyReport(viewOf(fleetOf(), openstack()), "user", "other")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("cluster user/other does not exist")))
}

// fileName of a golden file is its case.
func fileName(of string) string { return strings.ReplaceAll(strings.ReplaceAll(of, ",", ""), " ", "-") }

// reasonsOf the FleetMigration that the API declares.
func reasonsOf(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/v1alpha1/fleetmigration_conditions.go", nil, 0)
	g.Expect(err).NotTo(HaveOccurred())
	var reasons []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || !strings.HasSuffix(spec.Names[0].Name, "Reason") {
			return true
		}
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		g.Expect(err).NotTo(HaveOccurred())
		reasons = append(reasons, reason)
		return true
	})
	return reasons
}

// TestEveryObstacleHasItsSentence: none is explained by what is said of a user cluster that cannot be asked.
func TestEveryObstacleHasItsSentence(t *testing.T) {
	g := NewWithT(t)
	reasons := append(reasonsOf(t), ucv1.PausedReason, ucv1.PlanNotApprovedReason, ucv1.DeletingReason, ucv1.CouldNotLookReason)
	g.Expect(len(reasons)).To(BeNumerically(">", 25))
	for _, reason := range reasons {
		if reason == ucv1.FleetRunningReason || reason == ucv1.FleetPassedReason {
			continue // These are no obstacles: nothing is in the way.
		}
		means := meaningOf(reason)
		g.Expect(means.says).NotTo(ContainSubstring("could not be asked"), reason)
		g.Expect(means.endedBy.words()).NotTo(BeEmpty(), reason)
		said := means.sentence(fleet.Obstacle{Reason: reason, Of: "the-thing"}, names{"user/a", "the-fleet", "the-wave", "the-first"})
		g.Expect(said).To(HaveSuffix("."), reason)
		g.Expect(said).NotTo(MatchRegexp(`\b(CLUSTER|FLEET|WAVE|BEFORE|OF)\b`), reason)
		g.Expect(strings.Count(said, ". ")).To(BeNumerically("<=", 1), "%s has at most two sentences: %s", reason, said)
	}
}

func TestAUserClusterThatCannotBeAskedHasASentence(t *testing.T) {
	means := meaningOf(ucv1.KubeconfigRefusedReason)
	NewWithT(t).Expect(means.sentence(fleet.Obstacle{}, names{cluster: "user/a"})).To(ContainSubstring("KubeconfigRefused"))
}
