package fleet

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestPlan(t *testing.T) {
	nightly := func(fm *ucv1.FleetMigration) {
		withWindows(fm)
		fm.Spec.Maintenance.Windows = fm.Spec.Maintenance.Windows[:1]
	}
	for name, tc := range map[string]struct {
		with   func(*ucv1.FleetMigration)
		edit   func(*ucv1.FleetMigration)
		format string
	}{
		"starts in windows":  {with: nightly},
		"a halt never ends":  {with: halted},
		"as JSON":            {with: nightly, format: "json"},
		"an edit of nothing": {with: nightly, edit: nightly},
		"an edit of waves and limits": {edit: func(fm *ucv1.FleetMigration) {
			fm.Spec.Budgets = nil
			fm.Spec.Waves[1].MaxConcurrency = new(intstr.FromInt32(6))
			fm.Spec.Waves[2].ClusterSelector = selecting()
		}},
		"an edit that cannot be followed": {edit: misspelled},
		"an edit of another selector": {edit: func(fm *ucv1.FleetMigration) {
			fm.Spec.ClusterSelector = selecting("cloud", "openstack", "tier", "prod")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.with == nil {
				tc.with = func(*ucv1.FleetMigration) {}
			}
			var edited *ucv1.FleetMigration
			if tc.edit != nil {
				edited = openstack(tc.edit)
			}
			file, format := "plan/"+fileName(name)+".txt", "text"
			if tc.format != "" {
				file, format = "plan/"+fileName(name)+"."+tc.format, tc.format
			}
			made, err := newPlanReport(viewOf(fleetOf(), openstack(tc.with)), "openstack", edited)
			expectGolden(t, file, printed(t, made, err, format, plain()))
		})
	}
}

func TestPlanOfAFleetMigrationThatIsNotThereYet(t *testing.T) {
	made, err := newPlanReport(viewOf(fleetOf(func(c *ucv1.Cluster) { c.Status.Admission = nil })), "openstack", openstack())
	expectGolden(t, "plan/one-that-is-not-there-yet.txt", printed(t, made, err, "text", plain()))
}

func TestEditedFiles(t *testing.T) {
	valid, err := yaml.Marshal(openstack())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct{ text, of, want string }{
		"a FleetMigration is taken":        {string(valid), "openstack", ""},
		"a field that is not known":        {"kind: FleetMigration\nspec:\n  wave: []\n", "openstack", "is no FleetMigration"},
		"another kind":                     {"kind: Cluster\nmetadata:\n  name: openstack\n", "openstack", "has Cluster"},
		"a FleetMigration of another name": {string(valid), "other", `and not FleetMigration "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fm, err := parseEdited([]byte(tc.text), "edited.yaml", tc.of)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(fm.Spec.Waves).To(HaveLen(3))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestGate(t *testing.T) {
	for name, tc := range map[string]struct {
		wave, format string
		with         func(*ucv1.FleetMigration)
	}{
		"a wave that could open":              {wave: "rest", with: awaitingApproval},
		"a wave that has to wait":             {wave: "rest"},
		"a wave that has opened":              {wave: "prod"},
		"a wave that asks for no approval":    {wave: "prod", with: func(fm *ucv1.FleetMigration) { fm.Status = ucv1.FleetMigrationStatus{} }},
		"a wave that could open, as JSON":     {wave: "rest", with: awaitingApproval, format: "json"},
		"an approval of an earlier report":    {wave: "rest", with: func(fm *ucv1.FleetMigration) { awaitingApproval(fm); fm.Spec.Approvals[0].Wave = "rest" }},
		"the first approval of all":           {wave: "rest", with: func(fm *ucv1.FleetMigration) { awaitingApproval(fm); fm.Spec.Approvals = nil }},
		"an approval that is given, and held": {wave: "rest", with: approvedAndHeld},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.with == nil {
				tc.with = func(*ucv1.FleetMigration) {}
			}
			file, format := "gate/"+fileName(name)+".txt", "text"
			if tc.format != "" {
				file, format = "gate/"+fileName(name)+"."+tc.format, tc.format
			}
			made, err := newGateReport(viewOf(fleetOf(), openstack(tc.with)), "openstack", tc.wave)
			expectGolden(t, file, printed(t, made, err, format, plain()))
		})
	}
}

// approvedAndHeld has the digest that its report has.
func approvedAndHeld(fm *ucv1.FleetMigration) {
	awaitingApproval(fm)
	fm.Spec.Approvals = nil
	digest := viewOf(fleetOf(), fm.DeepCopy()).plan.Migrations[0].Waves[2].Gate.Digest
	fm.Spec.Approvals = []ucv1.ApprovedWave{{Wave: "rest", GateDigest: digest}}
	fm.Spec.Mode = ucv1.FleetHold
}

func TestGateOfAWaveThatIsNotThere(t *testing.T) {
	_, err := newGateReport(viewOf(fleetOf(), openstack()), "openstack", "others")
	NewWithT(t).Expect(err).To(MatchError("FleetMigration openstack has no wave others; its waves are canary, prod, rest"))
}

// TestTheCommandOfTheGateApproves: the patch that is printed is applied as the API server does, and then the wave opens.
func TestTheCommandOfTheGateApproves(t *testing.T) {
	for name, approvals := range map[string][]ucv1.ApprovedWave{
		"without approvals":              nil,
		"beside another approval":        {{Wave: "prod", GateDigest: "0123"}},
		"in the place of an earlier one": {{Wave: "prod", GateDigest: "0123"}, {Wave: "rest", GateDigest: "4567", Reason: "CHG0001"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fm := openstack(awaitingApproval)
			fm.Spec.Approvals = approvals
			made, err := newGateReport(viewOf(fleetOf(), fm), "openstack", "rest")
			g.Expect(err).NotTo(HaveOccurred())
			found := regexp.MustCompile(`(?s)-p '(.*)'`).FindStringSubmatch(made.Command)
			g.Expect(found).To(HaveLen(2), made.Command)
			patch, err := jsonpatch.DecodePatch([]byte(found[1]))
			g.Expect(err).NotTo(HaveOccurred())
			before, err := json.Marshal(fm)
			g.Expect(err).NotTo(HaveOccurred())
			after, err := patch.Apply(before)
			g.Expect(err).NotTo(HaveOccurred())
			approved := &ucv1.FleetMigration{}
			g.Expect(json.Unmarshal(after, approved)).To(Succeed())
			wave := viewOf(fleetOf(), approved).plan.Migrations[0].Waves[2]
			g.Expect(wave.OpenedAt).To(Equal(noon()))
			fm.Generation++
			edited, err := json.Marshal(fm)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = patch.Apply(edited)
			g.Expect(err).To(HaveOccurred(), "the spec is another one by then")
		})
	}
}

func TestFailures(t *testing.T) {
	more := append(fleetOf(),
		waiting("xi", "prod", 3, failedBefore(3*time.Hour, ucv1.BlockedMachinesReason), of("openstack", "1.29.3")),
		waiting("omicron", "prod", 3, failedBefore(2*time.Hour, ucv1.CanaryFailedReason), of("openstack", "1.29.3")),
		waiting("pi", "prod", 3, failedBefore(time.Hour, ucv1.BlockedMachinesReason), of("vsphere", "1.28.0")),
		waiting("rho", "prod", 3, doneBefore(9*time.Hour, time.Hour), of("vsphere", "1.28.0")),
	)
	forgiven := openstack(func(fm *ucv1.FleetMigration) { fm.Spec.Failures.CountSince = ago(150 * time.Minute) })
	for name, tc := range map[string]struct {
		clusters []ucv1.Cluster
		by       string
		format   string
	}{
		"by reason":               {more, "reason", "text"},
		"by provider":             {more, "provider", "text"},
		"by version":              {more, "version", "text"},
		"by provider and version": {more, "provider,version", "text"},
		"by reason and version":   {more, "reason,version", "text"},
		"by reason, as JSON":      {more, "reason", "json"},
		"none":                    {fleetOf()[:4], "reason", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			file := "failures/" + fileName(name) + map[string]string{"text": ".txt", "json": ".json"}[tc.format]
			made, err := newFailuresReport(viewOf(tc.clusters, forgiven), "openstack", strings.Split(tc.by, ","))
			expectGolden(t, file, printed(t, made, err, tc.format, plain()))
		})
	}
}

func TestColumnsOfFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		by    []string
		valid bool
	}{
		"one":           {[]string{"reason"}, true},
		"several":       {[]string{"version", "provider"}, true},
		"none":          {nil, false},
		"one twice":     {[]string{"reason", "reason"}, false},
		"one not known": {[]string{"region"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(checkBy(tc.by) == nil).To(Equal(tc.valid))
		})
	}
}
