package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The widths of the columns of a fleet: none depends on what goes on, so that nothing jumps while it is watched.
const (
	stateWidth    = 12
	stepWidth     = 21
	barWidth      = 10
	stepsWidth    = 5
	machinesWidth = 9
	ageWidth      = 4
)

// eachOf is how many Clusters of a group say at most, each for itself, what is wrong.
const eachOf = 3

// text prints the fleet for people.
func (r *fleetReport) text(out io.Writer, s terminal.Screen, now time.Time) error {
	text := &strings.Builder{}
	if len(r.Clusters) == 0 {
		none := "There is no Cluster here.\n"
		if !r.selection.selectsAll() {
			none = "No Cluster here is selected.\n"
		}
		_, err := io.WriteString(out, none)
		return err
	}
	r.head(text, s)
	wide, name := s.Width >= terminal.FileWidth, r.nameWidth(s)
	head := "  " + s.Cell("CLUSTER", name) + "  " + s.Cell("STATE", stateWidth) + "  " + s.Cell("STEP", stepWidth) + "  "
	if wide {
		head += s.Cell("STEPS", barWidth+1+stepsWidth) + "  " + s.Cell("MACHINES", machinesWidth) + "  "
	} else {
		head += s.Cell("STEPS", barWidth) + "  "
	}
	text.WriteString(s.Paint(terminal.Bold, head+"FOR") + "\n")
	row := func(one *clusterReport) { one.line(text, s, now, name, wide) }
	for at, headed := 0, false; at < len(r.Clusters); {
		members := r.Clusters[at:][:together(r.Clusters[at:])]
		before := headed
		if headed = headedGroup(members); at > 0 && (before || headed) {
			text.WriteString("\n")
		}
		printGroup(text, s, members, row)
		at += len(members)
	}
	r.foot(text)
	_, err := io.WriteString(out, text.String())
	return err
}

// head counts what there is.
func (r *fleetReport) head(text *strings.Builder, s terminal.Screen) {
	if names := r.unattended(); len(names) > 0 {
		for _, line := range terminal.Wrap("No manager runs the cloud loops of: "+strings.Join(names, ", "), s.Width) {
			text.WriteString(s.Paint(terminal.Bad, line) + "\n")
		}
	}
	line := r.total()
	width, between := utf8.RuneCountInString(line), " "
	for _, state := range clusterStates() {
		count := r.Counts[state]
		if count == 0 {
			continue
		}
		part := state.counted(count)
		if width += len(between) + len(part); width > s.Width-1 {
			line, width, between = line+"\n ", 1+len(part), " "
		}
		line += between + s.Paint(state.tone(), part)
		between = s.Sign(" · ", ", ")
	}
	text.WriteString(line + "\n\n")
}

// unattended are the Clusters whose cloud loops no manager runs.
func (r *fleetReport) unattended() (names []string) {
	for i := range r.Clusters {
		if r.Clusters[i].Unattended != "" {
			names = append(names, r.Clusters[i].Cluster)
		}
	}
	return names
}

func (r *fleetReport) total() string {
	return wording.Count(len(r.Clusters), "Cluster", "Clusters") + ":"
}

// counted says how many Clusters have a state.
func (c clusterState) counted(count int) string {
	if c == needsYou {
		return wording.Count(count, c.words(), "need you")
	}
	return fmt.Sprintf("%d %s", count, c.words())
}

// nameWidth is what the longest name needs, as far as there is room.
func (r *fleetReport) nameWidth(s terminal.Screen) int {
	width := len("CLUSTER")
	for i := range r.Clusters {
		width = max(width, utf8.RuneCountInString(r.Clusters[i].Cluster))
	}
	others := 2 + 2 + stateWidth + 2 + stepWidth + 2 + barWidth + 2 + ageWidth
	if s.Width >= terminal.FileWidth {
		others += 1 + stepsWidth + machinesWidth + 2
	}
	return min(width, s.Width-others)
}

// line is one Cluster.
func (r *clusterReport) line(text *strings.Builder, s terminal.Screen, now time.Time, name int, wide bool) {
	t := r.State.tone()
	text.WriteString(s.Paint(t, r.State.sign(s)) + " " + s.Cell(r.Cluster, name) + "  " +
		s.Paint(t, s.Cell(r.State.words(), stateWidth)) + "  ")
	text.WriteString(s.Cell(orDash(string(r.Step)), stepWidth) + "  " + s.Paint(t, s.Bar(r.progress(), barWidth)))
	if wide {
		text.WriteString(" " + s.Cell(r.steps(), stepsWidth) + "  " + s.Cell(r.machines(), machinesWidth))
	}
	text.WriteString("  " + r.age(now) + "\n")
}

func (r *clusterReport) age(now time.Time) string {
	if r.Since.IsZero() {
		return "-"
	}
	return terminal.Age(now.Sub(r.Since.Time))
}

// together is how many Clusters stand in the group of the first one.
func together(clusters []clusterReport) int {
	n, key := 1, groupOf(&clusters[0]).key()
	for n < len(clusters) && groupOf(&clusters[n]).key() == key {
		n++
	}
	return n
}

// A group of Clusters without trouble needs no head, and one Cluster says what is wrong by itself.
func headedGroup(members []clusterReport) bool {
	return len(members) > 1 && members[0].Trouble != noTrouble
}

// printGroup says what is wrong once where it is the same for all, below each of a few where it is not, and of many of the first
// one as an example.
func printGroup(text *strings.Builder, s terminal.Screen, members []clusterReport, row func(*clusterReport)) {
	first := &members[0]
	below := func(said string) {
		text.WriteString("  " + s.Paint(first.messageTone(), s.Sign("└ ", "- ")+s.Cut(said, s.Width-4)) + "\n")
	}
	same, headed, each := sameTrouble(members), headedGroup(members), len(members) <= eachOf
	if headed {
		group := groupOf(first)
		text.WriteString(s.Paint(terminal.Bold, s.Cut(fmt.Sprintf("%d Clusters: %s", len(members), group.words()), s.Width)) + "\n")
		switch {
		case same:
			below(first.trouble())
		case !each:
			below(first.Cluster + ", for example: " + first.trouble())
		}
	}
	for i := range members {
		one := &members[i]
		row(one)
		switch {
		case one.Trouble == noTrouble:
		case !headed && one.Unattended == "" && one.Blocking == "":
			below(one.Reason + ": " + one.trouble())
		case !headed, each && !same:
			below(one.trouble())
		}
	}
}

func sameTrouble(members []clusterReport) bool {
	return !slices.ContainsFunc(members, func(c clusterReport) bool { return c.trouble() != members[0].trouble() })
}

func (r *clusterReport) messageTone() terminal.Tone {
	if r.Trouble == cloudLoops {
		return terminal.Bad
	}
	return terminal.Plain
}

// trouble in the words of the status.
func (r *clusterReport) trouble() string { return cmp.Or(r.Unattended, r.Blocking, r.Message) }

func (c clusterGroup) words() string {
	if len(c.Findings) == 0 {
		return c.Reason
	}
	return c.Reason + " (" + strings.Join(c.Findings, ", ") + ")"
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
