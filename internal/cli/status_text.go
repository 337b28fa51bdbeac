package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// tone of a state. The words say the same.
func (c clusterState) tone() tone {
	switch c {
	case needsYou:
		return bad
	case cannotLook, isPaused, isUndoing:
		return warn
	case isWorking, isDeleting, isNew:
		return busy
	case isDone, isUndone:
		return good
	case isInTree:
	}
	return plain
}

func (c clusterState) sign(s screen) string {
	switch c {
	case needsYou:
		return s.sign("✗", "!")
	case cannotLook:
		return "?"
	case isPaused:
		return s.sign("‖", "=")
	case isUndoing:
		return s.sign("◂", "<")
	case isDone, isUndone:
		return s.sign("✓", "+")
	case isInTree, isNew:
		return s.sign("○", "o")
	default:
		return s.sign("▸", ">")
	}
}

func (t stepState) sign(s screen) string {
	switch t {
	case stepDone:
		return s.paint(good, s.sign("✓", "+"))
	case stepCurrent:
		return s.paint(busy, s.sign("▸", ">"))
	case stepFailed:
		return s.paint(bad, s.sign("✗", "!"))
	case stepUnknown:
		return s.paint(warn, "?")
	default:
		return s.paint(faint, s.sign("·", "."))
	}
}

// The widths of the columns of a fleet: none depends on what goes on, so that nothing jumps while it is watched.
const (
	stateWidth    = 11
	stepWidth     = 21
	barWidth      = 10
	stepsWidth    = 5
	machinesWidth = 9
	ageWidth      = 4
)

// text prints the fleet for people.
func (r *fleetReport) text(out io.Writer, s screen, now time.Time) error {
	text := &strings.Builder{}
	if len(r.Clusters) == 0 {
		_, err := io.WriteString(out, "There is no Cluster here.\n")
		return err
	}
	r.head(text, s)
	wide, name := s.width >= fileWidth, r.nameWidth(s)
	head := "  " + s.cell("CLUSTER", name) + "  " + s.cell("STATE", stateWidth) + "  " + s.cell("STEP", stepWidth) + "  "
	if wide {
		head += s.cell("STEPS", barWidth+1+stepsWidth) + "  " + s.cell("MACHINES", machinesWidth) + "  "
	} else {
		head += s.cell("STEPS", barWidth) + "  "
	}
	text.WriteString(s.paint(bold, head+"FOR") + "\n")
	for i := range r.Clusters {
		r.Clusters[i].line(text, s, now, name, wide)
	}
	r.foot(text)
	_, err := io.WriteString(out, text.String())
	return err
}

// head counts what there is.
func (r *fleetReport) head(text *strings.Builder, s screen) {
	names := []string{}
	for i := range r.Clusters {
		if r.Clusters[i].Unattended != "" {
			names = append(names, r.Clusters[i].Cluster)
		}
	}
	if len(names) > 0 {
		for _, line := range wrap("No manager runs the cloud loops of: "+strings.Join(names, ", "), s.width) {
			text.WriteString(s.paint(bad, line) + "\n")
		}
	}
	line := fmt.Sprintf("%d Clusters:", len(r.Clusters))
	if len(r.Clusters) == 1 {
		line = "1 Cluster:"
	}
	width, between := utf8.RuneCountInString(line), " "
	for _, state := range clusterStates() {
		count := r.Counts[state]
		if count == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", count, state.words())
		if state == needsYou {
			part = wording.Count(count, state.words(), "need you")
		}
		if width += len(between) + len(part); width > s.width-1 {
			line, width, between = line+"\n ", 1+len(part), " "
		}
		line += between + s.paint(state.tone(), part)
		between = s.sign(" · ", ", ")
	}
	text.WriteString(line + "\n\n")
}

// nameWidth is what the longest name needs, as far as there is room.
func (r *fleetReport) nameWidth(s screen) int {
	width := len("CLUSTER")
	for i := range r.Clusters {
		width = max(width, utf8.RuneCountInString(r.Clusters[i].Cluster))
	}
	others := 2 + 2 + stateWidth + 2 + stepWidth + 2 + barWidth + 2 + ageWidth
	if s.width >= fileWidth {
		others += 1 + stepsWidth + machinesWidth + 2
	}
	return min(width, s.width-others)
}

// line is one Cluster, and below it what is in the way when someone has to know.
func (r *clusterReport) line(text *strings.Builder, s screen, now time.Time, name int, wide bool) {
	t := r.State.tone()
	text.WriteString(s.paint(t, r.State.sign(s)) + " " + s.cell(r.Cluster, name) + "  " + s.paint(t, s.cell(r.State.words(), stateWidth)) + "  ")
	text.WriteString(s.cell(orDash(string(r.Step)), stepWidth) + "  " + s.paint(t, s.bar(r.progress(), barWidth)))
	if wide {
		text.WriteString(" " + s.cell(r.steps(), stepsWidth) + "  " + s.cell(r.machines(), machinesWidth))
	}
	since := "-"
	if !r.Since.IsZero() {
		since = age(now.Sub(r.Since.Time))
	}
	text.WriteString("  " + since + "\n")
	switch {
	case r.Unattended != "":
		text.WriteString("  " + s.paint(bad, s.sign("└ ", "- ")+s.cut(r.Unattended, s.width-4)) + "\n")
	case r.State == needsYou, r.State == cannotLook:
		text.WriteString("  " + s.sign("└ ", "- ") + s.cut(r.Reason+": "+r.Message, s.width-4) + "\n")
	case r.Blocking != "":
		text.WriteString("  " + s.sign("└ ", "- ") + s.cut(r.Blocking, s.width-4) + "\n")
	}
}

// foot is what to run next.
func (r *fleetReport) foot(text *strings.Builder) {
	for i := range r.Clusters {
		if one := &r.Clusters[i]; one.State == needsYou {
			text.WriteString("\nWhat to do:  ccm-migration-controller why " + one.Cluster + "\n")
			return
		}
	}
}

// text prints the tree of one Cluster for people.
func (r *clusterReport) text(out io.Writer, s screen, now time.Time, entries int) error {
	text := &strings.Builder{}
	r.Next.unattended(text, s)
	fmt.Fprintf(text, "%s  %s%s\n", s.paint(bold, r.Cluster), s.paint(r.State.tone(), r.State.sign(s)+" "+r.State.words()), r.Next.duration(now))
	for _, line := range wrap(r.facts(), s.width) {
		text.WriteString(line + "\n")
	}
	if len(r.Steps) > 0 {
		fmt.Fprintf(text, "\n%s  %d of %d steps\n", s.paint(r.State.tone(), s.bar(r.progress(), 3*barWidth)), r.StepsDone, r.StepsTotal)
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
		facts = append(facts, "Migrated at "+at(r.CompletedAt))
	case r.Origin == ucv1.OriginExternal:
		facts = append(facts, "Created with the external cloud provider")
	case r.StartedAt != nil:
		facts = append(facts, "Started at "+at(r.StartedAt))
	}
	if point := r.PointOfNoReturn; point != nil && r.CompletedAt == nil {
		facts = append(facts, map[ucv1.PointOfNoReturnState]string{
			ucv1.PointOfNoReturnAhead: "It can still be undone", ucv1.PointOfNoReturnPassed: "It cannot be undone any more",
			ucv1.PointOfNoReturnUnknown: "Whether it can be undone could not be looked at",
		}[point.State])
	}
	return strings.Join(facts, ". ") + "."
}

// text prints a row of the table, and its parts while it is the current one.
func (r *stepReport) text(text *strings.Builder, s screen, now time.Time, last bool) {
	branch, below := s.sign("├─", "|-"), s.sign("│ ", "| ")
	if last {
		branch, below = s.sign("└─", "`-"), "  "
	}
	line := s.paint(faint, branch) + " " + r.State.sign(s) + " " + s.cell(string(r.Step), stepWidth) + "  " +
		s.cell(r.took(now), ageWidth) + "  " + s.cut(r.Note, s.width-34)
	text.WriteString(strings.TrimRight(line, " ") + "\n")
	for i, part := range r.Parts {
		twig := s.sign("├─", "|-")
		if i == len(r.Parts)-1 {
			twig = s.sign("└─", "`-")
		}
		line := s.paint(faint, below+" "+twig) + " " + part.State.sign(s) + " " + s.cell(part.Name, stepWidth+8) + s.cut(part.Means, s.width-37)
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// took is how long a step was the current one, or has been.
func (r *stepReport) took(now time.Time) string {
	switch {
	case r.Since == nil:
		return ""
	case r.Until != nil:
		return age(r.Until.Sub(r.Since.Time))
	case r.State == stepDone || r.State == stepOpen:
		return ""
	}
	return age(now.Sub(r.Since.Time))
}

// next says what it waits for, and the next command for a person.
func (r *clusterReport) next(text *strings.Builder, s screen) {
	if r.Next == nil {
		return
	}
	head := map[actor]string{person: "Waits for you", controlled: "Waits for", noActor: "Nothing to do"}[r.Next.Acts]
	if r.Next.Reason != "" {
		head += ": " + r.Next.Reason
	}
	fmt.Fprintf(text, "\n%s\n", s.paint(r.State.tone(), head))
	said := []string{r.Next.Message, r.Next.Paused}
	if r.Next.Reason == ucv1.CloudLoopsUnattendedReason {
		said = said[1:] // It stands in the first line.
	}
	for _, line := range wrap(strings.TrimSpace(strings.Join(said, " ")), s.width-2) {
		text.WriteString("  " + line + "\n")
	}
	if r.Next.Acts == person {
		text.WriteString("  What to do:  ccm-migration-controller why " + r.Cluster + "\n")
	}
}

func (r *clusterReport) accepted(text *strings.Builder, s screen) {
	if len(r.Acceptances) > 0 {
		fmt.Fprintf(text, "\n%s\n", s.paint(bold, "Accepted"))
	}
	for _, a := range r.Acceptances {
		text.WriteString("  " + s.cut(fmt.Sprintf("%s  %s, by %s: %s", stamp(a.SeenAt), a.Field, a.By, a.Value), s.width-2) + "\n")
	}
}

// lately are the last entries of the timeline.
func (r *clusterReport) lately(text *strings.Builder, s screen, entries int) {
	timeline := r.Timeline[max(len(r.Timeline)-entries, 0):]
	if len(timeline) == 0 {
		return
	}
	fmt.Fprintf(text, "\n%s\n", s.paint(bold, "Lately"))
	for _, entry := range timeline {
		what := entry.Message
		switch entry.Kind {
		case ucv1.TimelineStep:
			what = string(entry.Step)
		case ucv1.TimelineFailure:
			what = entry.Reason + ": " + what
		case ucv1.TimelineAcceptance, ucv1.TimelineHalt:
			what += " By " + entry.Actor + "."
		default:
		}
		line := s.cell(string(entry.Kind), len(ucv1.TimelineAcceptance)) + "  " + s.cut(what, s.width-30)
		text.WriteString("  " + stamp(entry.Time) + "  " + s.paint(toneOf(entry.Kind), strings.TrimRight(line, " ")) + "\n")
	}
}

// stamp is a time in fourteen characters; the year is that of the Cluster.
func stamp(t metav1.Time) string { return t.UTC().Format("01-02 15:04:05") }

func toneOf(kind ucv1.TimelineKind) tone {
	switch kind {
	case ucv1.TimelineFailure:
		return bad
	case ucv1.TimelineHalt, ucv1.TimelineAcceptance:
		return warn
	case ucv1.TimelineResume:
		return good
	default:
		return plain
	}
}
