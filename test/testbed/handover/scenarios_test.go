package handover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
)

func TestScenariosCanBeToldApart(t *testing.T) {
	g := NewWithT(t)
	names := map[string]bool{}
	for _, scenario := range slices.Concat(Scenarios(), AcrossMinors("1.29.15"), Random(100, 1, usualLease)) {
		g.Expect(names).NotTo(HaveKey(scenario.Name))
		names[scenario.Name] = true
		g.Expect(scenario.Name).To(MatchRegexp(`^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$`), "it is the name of a cluster")
		g.Expect(scenario.Want).To(BeElementOf(HandedOver, RolledBack, Refused, Stalled))
		g.Expect(scenario.Setup.Lease).NotTo(BeZero())
		if scenario.Want == HandedOver {
			bounded, excused := scenario.Bars.Gap > 0, scenario.Bars.NoGap != ""
			g.Expect(bounded).NotTo(Equal(excused), scenario.Name+" has a bar or a reason why not")
		}
	}
}

// TestEveryLineIsDisturbed: a line that a table gets is one at which KCM's leader is killed, unless it passes unseen.
func TestEveryLineIsDisturbed(t *testing.T) {
	unseen := map[string]bool{"WorkloadWithheld": true, "Leading": true}
	lockUnseen := "FenceOpen" // That line holds since CCMArmed.
	for protocol, choice := range map[ucv1.HandoverProtocol]ucv1.HandoverProtocolChoice{
		ucv1.FencedProtocol: ucv1.FencedProtocolChoice, ucv1.SerializedProtocol: ucv1.SerializedProtocolChoice,
		ucv1.LeaderMigrationProtocol: ucv1.LeaderMigrationProtocolChoice,
	} {
		for _, line := range loops.Stages(protocol, "") {
			if !unseen[line.Name] && (choice != ucv1.LeaderMigrationProtocolChoice || line.Name != lockUnseen) {
				NewWithT(t).Expect(lines(choice)).To(ContainElement(line.Name))
			}
		}
	}
}

func TestTheSameSeedPlaysTheSame(t *testing.T) {
	g := NewWithT(t)
	names := func(seed uint64) []string {
		var names []string
		for _, scenario := range Random(20, seed, usualLease) {
			names = append(names, scenario.Name)
		}
		return names
	}
	g.Expect(names(1)).To(Equal(names(1)))
	g.Expect(names(1)).NotTo(Equal(names(2)))
}

func TestDocumentGetsTheTable(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	path := filepath.Join(dir, "document.md")
	content := "before\n"
	for _, random := range []bool{false, true} {
		begin, end := marks(random)
		content += begin + "\nold\n" + end + "\nafter\n"
	}
	g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	row, _ := Judge(scenario(), good(), true)
	other := row
	other.Scenario = "y"
	for _, random := range []bool{false, true, false, true} {
		conditions := Conditions{Command: "make handover", Commit: "0123abc", Processors: 2, Seed: 7, Random: random}
		g.Expect(WriteReport(dir, []Outcome{{Row: row}, {Row: other, Unmet: []string{"x"}}}, conditions)).To(Succeed())
		g.Expect(WriteDocument(path, dir)).To(Succeed())
	}
	written, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(written)).To(And(
		HavePrefix("before\n<!-- measured: scenarios -->\n`make handover` of commit 0123abc on "),
		HaveSuffix("<!-- /measured: random -->\nafter\n"),
		ContainSubstring("seed 7; 1 not as expected.\n\n| scenario |"),
		Not(ContainSubstring("old")),
		ContainSubstring("| x | Fenced | Hosted | 1 | 15 s | HandedOver | 2.0 s | 3.0 s | 0.0 s | 0 | 2 | 0 | 0 |\n"),
		ContainSubstring("| Fenced |  | 2 | 1 | 2.0 s | 2.0 s | 0 | 0 | 0 |\n| all |  | 2 |"),
	))
}

func TestMeasuredAgainStandsForEarlier(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	path := filepath.Join(dir, "document.md")
	begin, end := marks(false)
	g.Expect(os.WriteFile(path, []byte(begin+"\n"+end), 0o600)).To(Succeed())
	row, _ := Judge(scenario(), good(), true)
	for folder, unmet := range map[string][]string{"first": {"x"}, "again": nil} {
		g.Expect(os.Mkdir(filepath.Join(dir, folder), 0o700)).To(Succeed())
		conditions := Conditions{Command: "make handover " + folder, Processors: 2}
		g.Expect(WriteReport(filepath.Join(dir, folder), []Outcome{{Row: row, Unmet: unmet}}, conditions)).To(Succeed())
	}
	g.Expect(WriteDocument(path, filepath.Join(dir, "first"), filepath.Join(dir, "again"))).To(Succeed())
	written, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(written)).To(
		MatchRegexp("`make handover first` .* 1 not as expected.\nThen `make handover again` .* 0 not as expected.\n"),
	)
	g.Expect(strings.Count(string(written), "| x |")).To(Equal(1))
}
