package status

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func TestTextsAreNeutral(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"words, accents, symbols and emoji stay": {"Größe 5 µs → 日本 🙂", "Größe 5 µs → 日本 🙂"},
		"lines and tabs stay":                    {"a\n\tb", "a\n\tb"},
		"DEL":                                    {"a\x7fb", "a?b"},
		"a character of C1":                      {"a\u0085b\u009bc", "a?b?c"},
		"an escape sequence":                     {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
		"a carriage return":                      {"good\rbad", "good?bad"},
		"a bidirectional mark":                   {"a\u202eb\u2066c\u200fd", "a?b?c?d"},
		"a noncharacter":                         {"a\uffffb\ufdd0c\U0001fffe", "a?b?c?"},
		"a byte order mark":                      {"\ufeffa", "?a"},
		"bytes that are no UTF-8":                {"a\xffb\xc3", "a?b?"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(neutralText(tc.text)).To(Equal(tc.want))
		})
	}
}

func TestEveryTextOfTheStatusIsNeutral(t *testing.T) {
	g := NewWithT(t)
	const bad, good = "a\x7f\u202eb", "a??b"
	s := passOf(passes.ClusterOf(ucv1.OriginMigrating),
		passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, func(d *migration.Decision) {
			passes.Failing(ucv1.BlockedMachinesReason, bad)(d)
			d.Action = &outcome.Action{
				Kind:    outcome.ActionRestoreAnnotations,
				Why:     bad,
				Objects: []observation.Ref{{Kind: "Machine", Name: bad}},
			}
			d.Facts = &ucv1.Facts{
				Origin:    ucv1.OriginMigrating,
				Inherited: &ucv1.InheritedConfiguration{ClusterName: bad},
				Handover: &ucv1.HandoverStatus{
					ProbeProblem: bad, Original: []ucv1.OriginalArguments{{Deployment: "kcm", Controllers: new(bad)}},
					Proof: []ucv1.ProofItem{{Message: bad}},
				},
			}
		}))
	s.Acceptances = []ucv1.AcceptanceStatus{{Field: "spec.x", Value: bad, By: bad}}
	s.Decision.Findings = []observation.Finding{{ID: "X", Message: bad, Objects: []string{bad}}}

	status := reported(t, s).Status

	g.Expect(passes.Condition(&ucv1.Cluster{Status: status}, ucv1.StalledCondition).Message).To(Equal(good))
	g.Expect(status.Handover.ProbeProblem).To(Equal(good))
	g.Expect(status.Handover.Proof[0].Message).To(Equal(good))
	g.Expect(status.Preflight.Findings[0].Objects).To(Equal([]string{good}))
	g.Expect(status.Acceptances).To(Equal([]ucv1.AcceptanceStatus{{Field: "spec.x", Value: good, By: good}}))
	g.Expect(status.Timeline).To(ContainElement(HaveField("Objects", ConsistOf("Machine "+good))))
	for _, entry := range status.Timeline {
		g.Expect(entry.Message).NotTo(ContainSubstring(bad))
	}
	g.Expect(status.Inherited.ClusterName).To(Equal(bad), "the CCM gets it as KCM had it")
	g.Expect(*status.Handover.Original[0].Controllers).To(Equal(bad), "a rollback gives it back as it was")

	again := passOf(reported(t, s), s.Decision)
	again.Acceptances = []ucv1.AcceptanceStatus{{Field: "spec.x", Value: bad, By: bad}}
	again.Decision.Action = nil
	g.Expect(statusOf(again).Timeline).To(Equal(status.Timeline), "the same texts are no news")
}

func TestNoFieldOfAStatusPanics(t *testing.T) {
	g := NewWithT(t)
	full := &ucv1.ClusterStatus{}
	randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).Funcs(
		func(moment *metav1.MicroTime, _ randfill.Continue) { moment.Time = time.Unix(1, 0) },
		func(moment *metav1.Time, _ randfill.Continue) { moment.Time = time.Unix(1, 0) },
	).Fill(full)
	g.Expect(full.Handover.Processes[0].EndedAt).NotTo(BeNil(), "each field is filled")
	before := full.DeepCopy()
	neutral(full)
	g.Expect(full.Timeline[0].Time).To(Equal(before.Timeline[0].Time))
	full.Conditions[0].Message = "drawn texts may be empty"
	WithoutMessages(full)
	g.Expect(full.Conditions[0].Message).To(Equal(NotShown))
}

func TestMessagesAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	status := ucv1.ClusterStatus{
		Step: ucv1.StepRoll, Facts: ucv1.Facts{RollGeneration: "5"},
		Conditions: []metav1.Condition{{Type: "Ready", Reason: "Acting", Message: "m"}},
		Timeline:   []ucv1.TimelineEntry{{Message: "m", Actor: "a"}, {Actor: "b"}},
	}
	WithoutMessages(&status)
	g.Expect(status).To(Equal(ucv1.ClusterStatus{
		Step: ucv1.StepRoll, Facts: ucv1.Facts{RollGeneration: "5"},
		Conditions: []metav1.Condition{{Type: "Ready", Reason: "Acting", Message: NotShown}},
		Timeline:   []ucv1.TimelineEntry{{Message: NotShown, Actor: "a"}, {Actor: "b"}},
	}))
}

func TestMessagesAreBounded(t *testing.T) {
	for name, message := range map[string]string{
		"of plain letters":           strings.Repeat("a", 5000),
		"of two bytes a letter":      strings.Repeat("ä", 5000),
		"of two bytes, one step off": "a" + strings.Repeat("ä", 5000),
		"of three bytes a letter":    strings.Repeat("€", 5000),
		"of three bytes, a step off": "a" + strings.Repeat("€", 5000),
		"of three bytes, two steps":  "aa" + strings.Repeat("€", 5000),
		"that is as long as may be":  strings.Repeat("a", 1024),
		"that is longer by one":      strings.Repeat("a", 1025),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, decide := range []func(*migration.Decision){
				passes.Waiting("RollingOut", message), passes.Failing("InputInvalid", message),
				passes.Doing(outcome.ActionApplyAddons, message),
			} {
				after := reported(
					t, passOf(passes.ClusterOf(ucv1.OriginMigrating), passes.Decided(ucv1.OriginMigrating, ucv1.StepPreflight, decide)),
				)
				for _, c := range after.Status.Conditions {
					g.Expect(len(c.Message)).To(BeNumerically("<=", 1024), c.Type)
					g.Expect(utf8.ValidString(c.Message)).To(BeTrue(), "a cut character comes back as another one, and every pass writes")
				}
			}
		})
	}
}
