package hazards

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
)

func TestGroups(t *testing.T) {
	g := NewWithT(t)
	names, hazards, ids := []string{}, 0, map[string]bool{}
	for _, group := range Groups() {
		g.Expect(names).NotTo(ContainElement(group.Name))
		names = append(names, group.Name)
		for _, hazard := range group.Hazards {
			hazards++
			ids[hazard.ID] = true
			g.Expect(preflight.IDs()).To(ContainElement(hazard.ID), "a finding of this ID exists")
			g.Expect(hazard.Name).To(MatchRegexp(`^[A-Z].*[^.]$`), "a sentence without its end")
			g.Expect(hazard.Happens).NotTo(BeNil(), hazard.ID)
			g.Expect([]ucv1.FindingSeverity{blocking, warning, info}).To(ContainElement(hazard.Severity))
		}
	}
	g.Expect(hazards).To(BeNumerically(">=", 18))
	g.Expect(len(ids)).To(BeNumerically(">=", 18), "different findings")
	g.Expect(slices.ContainsFunc(Groups(), func(group Group) bool { return group.CI })).To(BeTrue())
}

func TestAmong(t *testing.T) {
	hazard := Hazard{ID: "NodeNotReady", Severity: blocking, Objects: []string{"Node b", "Node a"}}
	for name, test := range map[string]struct {
		findings []ucv1.PreflightFinding
		problem  string
	}{
		"no finding is a problem":                   {nil, "there is no finding NodeNotReady"},
		"one of the same objects in any order fits": {[]ucv1.PreflightFinding{{ID: "NodeNotReady", Severity: blocking, Objects: []string{"Node a", "Node b"}}}, ""},
		"one that lacks an object does not": {
			[]ucv1.PreflightFinding{{ID: "NodeNotReady", Severity: blocking, Objects: []string{"Node a"}}}, "NodeNotReady is Blocking " +
				"about [Node a], not looked at: false",
		},
		"one that is milder does not": {
			[]ucv1.PreflightFinding{{ID: "NodeNotReady", Severity: warning, Objects: []string{"Node a", "Node b"}}},
			"NodeNotReady is Warning about [Node a Node b], not looked at: false",
		},
		"one that no one could look at does not": {
			[]ucv1.PreflightFinding{{ID: "NodeNotReady", Severity: blocking, NotLookedAt: true}}, "NodeNotReady is Blocking about [], " +
				"not looked at: true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, problem := hazard.among(test.findings)
			NewWithT(t).Expect(problem).To(Equal(test.problem))
		})
	}
}

func TestDocument(t *testing.T) {
	g, dir, later := NewWithT(t), t.TempDir(), t.TempDir()
	first := Report{
		Command: "make hazards", Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Seconds: 600, Processors: 2, Beside: 3,
		Rows: []Row{
			{Cluster: "nodes", Hazard: "A Node", ID: "NodeNotReady", Severity: "Blocking", Said: "It | said.", Happened: "It happened."},
			{
				Cluster:  "renamed",
				Hazard:   "A name",
				ID:       "ClusterNameChanges",
				Severity: "Blocking",
				Refused:  true,
				Said:     "So.",
				Unmet:    "it did not",
			},
		},
	}
	second := Report{
		Command:    "make hazards HAZARDS='renamed'",
		Started:    first.Started,
		Seconds:    60,
		Processors: 2,
		Beside:     3,
		Rows: []Row{
			{
				Cluster:  "renamed",
				Hazard:   "A name",
				ID:       "ClusterNameChanges",
				Severity: "Blocking",
				Refused:  true,
				Said:     "So.",
				Happened: "So it was.",
			},
		},
	}
	g.Expect(Unmet(first.Rows)).To(Equal([]string{"renamed: ClusterNameChanges: it did not"}))
	g.Expect(first.Write(dir)).To(Succeed())
	g.Expect(second.Write(later)).To(Succeed())
	again, err := ReadReport(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(first))

	text := Document([]Report{first})
	g.Expect(text).To(
		ContainSubstring(
			"`make hazards` on 2026-03-01, with 2 processors and 3 user clusters at once: 2 hazards in 10 minutes; 1 not as expected.",
		),
	)
	g.Expect(text).To(ContainSubstring("| A Node. | [NodeNotReady](runbooks/NodeNotReady.md) | Blocking | It \\| said. | It " +
		"happened. | nodes |\n"))
	g.Expect(text).To(ContainSubstring("| Blocking, cannot be accepted | So. | **Not as expected**: it did not | renamed |\n"))

	path := dir + "/document.md"
	g.Expect(WriteDocument(path, dir, later)).To(Succeed())
	g.Expect(path).To(BeARegularFile())
	text = Document([]Report{first, second})
	g.Expect(text).To(ContainSubstring("Then `make hazards HAZARDS='renamed'`"))
	g.Expect(text).To(ContainSubstring("| So it was. | renamed |\n"))
	g.Expect(text).NotTo(ContainSubstring("it did not"), "a hazard stands there as it was the last time")
}
