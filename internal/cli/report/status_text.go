package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// tone of a state. The words say the same.
func (c clusterState) tone() terminal.Tone {
	switch c {
	case needsYou:
		return terminal.Bad
	case cannotLook, isPaused, isRollingBack:
		return terminal.Warn
	case isWorking, isDeleting, isNew:
		return terminal.Busy
	case isDone, isRolledBack:
		return terminal.Good
	case isInTree, isQueued:
	}
	return terminal.Plain
}

func (c clusterState) sign(s terminal.Screen) string {
	switch c {
	case needsYou:
		return s.Sign("✗", "!")
	case cannotLook:
		return "?"
	case isPaused:
		return s.Sign("‖", "=")
	case isRollingBack:
		return s.Sign("◂", "<")
	case isDone, isRolledBack:
		return s.Sign("✓", "+")
	case isInTree, isQueued, isNew:
		return s.Sign("○", "o")
	default:
		return s.Sign("▸", ">")
	}
}

func (t stepState) tone() terminal.Tone {
	switch t {
	case stepDone:
		return terminal.Good
	case stepCurrent:
		return terminal.Busy
	case stepFailed:
		return terminal.Bad
	case stepUnknown:
		return terminal.Warn
	default:
		return terminal.Faint
	}
}

func (t stepState) sign(s terminal.Screen) string {
	return s.Paint(t.tone(), map[stepState]string{
		stepDone: s.Sign("✓", "+"), stepCurrent: s.Sign("▸", ">"), stepFailed: s.Sign("✗", "!"), stepUnknown: "?",
		stepOpen: s.Sign("·", "."),
	}[t])
}

// text prints the tree of one Cluster for people.
func (r *clusterReport) text(out io.Writer, s terminal.Screen, now time.Time, entries int) error {
	text := &strings.Builder{}
	r.Next.unattended(text, s)
	fmt.Fprintf(
		text,
		"%s  %s%s\n",
		s.Paint(terminal.Bold, r.Cluster),
		s.Paint(r.State.tone(), r.State.sign(s)+" "+r.State.words()),
		r.Next.duration(now),
	)
	for _, line := range terminal.Wrap(r.facts(), s.Width) {
		text.WriteString(line + "\n")
	}
	if len(r.Steps) > 0 {
		fmt.Fprintf(text, "\n%s  %d of %d steps\n", s.Paint(r.State.tone(), s.Bar(r.progress(), 3*barWidth)), r.StepsDone, r.StepsTotal)
	}
	for i := range r.Steps {
		r.Steps[i].text(text, s, now, i == len(r.Steps)-1)
	}
	r.next(text, s)
	r.accepted(text, s)
	r.lately(text, s, entries)
	_, err := io.WriteString(out, text.String())
	return err
}

// facts are what does not change from pass to pass.
func (r *clusterReport) facts() string {
	facts := []string{r.Provider + ", Kubernetes " + r.Version}
	switch {
	case r.CompletedAt != nil && r.Origin == ucv1.OriginMigrating:
		facts = append(facts, "Migrated at "+terminal.At(r.CompletedAt))
	case r.Origin == ucv1.OriginExternal:
		facts = append(facts, "Created with the external cloud provider")
	case r.StartedAt != nil:
		facts = append(facts, "Started at "+terminal.At(r.StartedAt))
	}
	if point := r.PointOfNoReturn; point != nil && r.CompletedAt == nil {
		facts = append(facts, map[ucv1.PointOfNoReturnState]string{
			ucv1.PointOfNoReturnAhead: "It can still be rolled back", ucv1.PointOfNoReturnPassed: "It cannot be rolled back any more",
			ucv1.PointOfNoReturnUnknown: "Whether it can be rolled back could not be looked at",
		}[point.State])
	}
	return strings.Join(facts, ". ") + "."
}

// text prints a row of the table, and its parts while it is the current one.
func (r *stepReport) text(text *strings.Builder, s terminal.Screen, now time.Time, last bool) {
	branch, below := s.Sign("├─", "|-"), s.Sign("│ ", "| ")
	if last {
		branch, below = s.Sign("└─", "`-"), "  "
	}
	line := s.Paint(terminal.Faint, branch) + " " + r.State.sign(s) + " " + s.Cell(string(r.Step), stepWidth) + "  " +
		s.Cell(r.took(now), ageWidth) + "  " + s.Cut(r.Note, s.Width-34)
	text.WriteString(strings.TrimRight(line, " ") + "\n")
	for i, part := range r.Parts {
		twig := s.Sign("├─", "|-")
		if i == len(r.Parts)-1 {
			twig = s.Sign("└─", "`-")
		}
		line := s.Paint(terminal.Faint, below+" "+twig) + " " + part.State.sign(s) + " " +
			s.Cell(part.Name, stepWidth+8) + s.Cut(part.Means, s.Width-37)
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// took is how long a step was the current one, or has been.
func (r *stepReport) took(now time.Time) string {
	switch {
	case r.Since == nil:
		return ""
	case r.Until != nil:
		return terminal.Age(r.Until.Sub(r.Since.Time))
	case r.State == stepDone || r.State == stepOpen:
		return ""
	}
	return terminal.Age(now.Sub(r.Since.Time))
}

// next says what it waits for, and the next command for a person.
func (r *clusterReport) next(text *strings.Builder, s terminal.Screen) {
	if r.Next == nil {
		return
	}
	fmt.Fprintf(text, "\n%s\n", s.Paint(r.State.tone(), r.Next.head()))
	for _, line := range terminal.Wrap(r.Next.said(), s.Width-2) {
		text.WriteString("  " + line + "\n")
	}
	if r.Next.Acts == person {
		text.WriteString("  What to do:  ccm-migration-controller why " + r.Cluster + "\n")
	}
}

// head says whom or what it waits for.
func (b *blocker) head() string {
	head := map[actor]string{person: "Waits for you", controlled: "Waits for", noActor: "Nothing to do"}[b.Acts]
	if b.Reason != "" {
		head += ": " + b.Reason
	}
	return head
}

func (b *blocker) said() string {
	said := []string{b.Message, b.Paused}
	if b.Reason == ucv1.CloudLoopsUnattendedReason {
		said = said[1:] // It stands in the first line.
	}
	return strings.TrimSpace(strings.Join(said, " "))
}

func (r *clusterReport) accepted(text *strings.Builder, s terminal.Screen) {
	if len(r.Acceptances) > 0 {
		fmt.Fprintf(text, "\n%s\n", s.Paint(terminal.Bold, "Accepted"))
	}
	for _, a := range r.Acceptances {
		text.WriteString("  " + s.Cut(acceptedWords(a), s.Width-2) + "\n")
	}
}

func acceptedWords(a ucv1.AcceptanceStatus) string {
	return fmt.Sprintf("%s  %s, by %s: %s", stamp(a.SeenAt), a.Field, a.By, a.Value)
}

// lately are the last entries of the timeline.
func (r *clusterReport) lately(text *strings.Builder, s terminal.Screen, entries int) {
	timeline := r.Timeline[max(len(r.Timeline)-entries, 0):]
	if len(timeline) == 0 {
		return
	}
	fmt.Fprintf(text, "\n%s\n", s.Paint(terminal.Bold, "Lately"))
	for _, entry := range timeline {
		line := s.Cell(string(entry.Kind), len(ucv1.TimelineAcceptance)) + "  " + s.Cut(entryWords(entry), s.Width-30)
		text.WriteString("  " + stamp(entry.Time) + "  " + s.Paint(toneOf(entry.Kind), strings.TrimRight(line, " ")) + "\n")
	}
}

func entryWords(entry ucv1.TimelineEntry) string {
	switch entry.Kind {
	case ucv1.TimelineStep:
		return string(entry.Step)
	case ucv1.TimelineFailure:
		return entry.Reason + ": " + entry.Message
	case ucv1.TimelineAcceptance, ucv1.TimelineHalt:
		return entry.Message + " By " + entry.Actor + "."
	default:
		return entry.Message
	}
}

// stamp is a time in fourteen characters; the year is that of the Cluster.
func stamp(t metav1.Time) string { return t.UTC().Format("01-02 15:04:05") }

func toneOf(kind ucv1.TimelineKind) terminal.Tone {
	switch kind {
	case ucv1.TimelineFailure:
		return terminal.Bad
	case ucv1.TimelineHalt, ucv1.TimelineAcceptance:
		return terminal.Warn
	case ucv1.TimelineResume:
		return terminal.Good
	default:
		return terminal.Plain
	}
}
