package fleet

import (
	"fmt"
	"io"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The widths of the columns: none depends on what goes on, so that nothing jumps while it is watched. Lines of lists that may be
// long are bounded.
const (
	nameWidth   = 14
	barWidth    = 10
	doneWidth   = 9
	countWidth  = 6
	reasonWidth = 26
	mostLines   = 8
)

func (r *statusReport) text(out io.Writer, s terminal.Screen) error {
	text := &strings.Builder{}
	if len(r.FleetMigrations) == 0 {
		text.WriteString("There is no FleetMigration here.\n")
	}
	for i := range r.FleetMigrations {
		if i > 0 {
			text.WriteString("\n")
		}
		r.FleetMigrations[i].text(text, s, r.At.Time)
	}
	tasks(text, s, "Clusters without FleetMigration", r.Tasks)
	if len(r.FleetMigrations) > 1 {
		text.WriteString("\nOf one of them:  " + program + "status NAME\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (r *migrationReport) text(text *strings.Builder, s terminal.Screen, now time.Time) {
	row(text, s, r.Name+"  "+r.Reason+"  "+r.done())
	text.WriteString("\n" + s.Paint(terminal.Bold, "  "+s.Cell("WAVE", nameWidth)+"  "+s.Cell("DONE", bar(s)+doneWidth)+
		right("FLIGHT", countWidth+1)+right("FAILED", countWidth+1)+right("QUEUE", countWidth+1)+"  NOW") + "\n")
	for i := range r.Waves {
		r.Waves[i].text(text, s, now)
	}
	tasks(text, s, "To do", r.Tasks)
	r.queue(text, s)
	r.budgets(text, s)
	r.calendar(text, s)
	if r.Forecast != nil {
		r.Forecast.text(text, s)
	}
}

func (r *migrationReport) done() string {
	return fmt.Sprintf("%d/%d Clusters, %d/%d Nodes", r.Clusters.Succeeded, r.Clusters.Total, r.Nodes.Migrated, r.Nodes.Known)
}

// text is the line of a wave.
func (w *waveReport) text(text *strings.Builder, s terminal.Screen, now time.Time) {
	mark, tone := w.sign(s)
	c := w.Clusters
	start := s.Paint(tone, mark) + " " + s.Cell(w.Name, nameWidth) + "  "
	if bar(s) > 0 {
		start += s.Paint(tone, s.Bar(finished(c), barWidth)) + " "
	}
	start += s.Cell(fmt.Sprintf("%d/%d", c.Succeeded, c.Total), doneWidth)
	counts := number(c.InFlight, countWidth+1) + number(c.Failed, countWidth+1) + number(c.Queued+c.Ineligible, countWidth+1)
	used := 2 + nameWidth + 2 + bar(s) + doneWidth + 3*(countWidth+1) + 2
	text.WriteString(start + counts + "  " + s.Cut(w.now(now), s.Width-used) + "\n")
}

// sign and tone: what failed outweighs the state.
func (w *waveReport) sign(s terminal.Screen) (string, terminal.Tone) {
	mark, tone := sign(s, w.State)
	if w.Clusters.Failed > 0 {
		tone = terminal.Bad
	}
	return mark, tone
}

// bar is how much room it has, with what parts it: none on a narrow terminal, where words matter more.
func bar(s terminal.Screen) int {
	if s.Width < mostColumns {
		return 0
	}
	return barWidth + 1
}

// now is what a wave does, or waits for.
func (w *waveReport) now(now time.Time) string {
	switch w.State {
	case ucv1.WavePassed:
		return "passed " + w.PassedAt.UTC().Format("01-02 15:04")
	case ucv1.WaveEmpty:
		return "no Cluster"
	case ucv1.WaveSoaking:
		if w.SoaksUntil != nil {
			return "soaks " + terminal.Age(w.SoaksUntil.Sub(now)) + " more"
		}
	case ucv1.WaveAwaitingApproval:
		return "needs approval"
	case ucv1.WaveOpen, ucv1.WaveWaiting:
	}
	switch {
	case w.WaitsFor != "":
		return w.WaitsFor
	case w.Clusters.InFlight > 0:
		return "migrates"
	case w.Clusters.Failed > 0:
		return "has failures"
	case w.Clusters.NotRequested > 0:
		return "feature is off"
	}
	return string(w.State)
}

// tasks are what people have to do.
func tasks(text *strings.Builder, s terminal.Screen, title string, list []task) {
	if len(list) == 0 {
		return
	}
	head(text, s, title)
	for _, t := range list {
		bullet(text, s, terminal.Plain, "  "+s.Sign("•", "*")+" ", t.Who.words()+": "+t.Message)
		for _, command := range t.Commands {
			for line := range strings.Lines(command) {
				text.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
}

// queue is what Clusters wait for.
func (r *migrationReport) queue(text *strings.Builder, s terminal.Screen) {
	reasons(text, s, "QUEUE", r.Queue)
	reasons(text, s, "NOT COUNTED", r.OutOfScope)
}

func reasons(text *strings.Builder, s terminal.Screen, title string, counts []ucv1.ReasonCount) {
	if len(counts) == 0 {
		return
	}
	head(text, s, "  "+s.Cell(title, reasonWidth)+right("CLUSTERS", countWidth+2)+"  SUCH AS")
	for _, c := range counts {
		row(text, s, "  "+s.Cell(c.Reason, reasonWidth)+number(c.Count, countWidth+2)+"  "+strings.Join(c.Examples, ", "))
	}
}

// budgets are the fullest.
func (r *migrationReport) budgets(text *strings.Builder, s terminal.Screen) {
	if len(r.Budgets) == 0 {
		return
	}
	head(text, s, "  "+s.Cell("BUDGET", reasonWidth)+right("USED", countWidth+2)+"  OF")
	for i, b := range r.Budgets {
		if i == mostLines {
			row(text, s, "  "+r.budgetsLeft())
			break
		}
		row(text, s, fmt.Sprintf("  %s%s  %d", s.Cell(budgetName(b), reasonWidth), number(b.Used, countWidth+2), b.Limit))
	}
}

func budgetName(b ucv1.BudgetStatus) string { return strings.TrimSpace(b.Name + " " + b.Value) }

// budgetsLeft says how many are not shown.
func (r *migrationReport) budgetsLeft() string {
	if len(r.Budgets) <= mostLines {
		return ""
	}
	return fmt.Sprintf("%d more are less full", len(r.Budgets)-mostLines)
}

// calendar is when windows and exclusions change.
func (r *migrationReport) calendar(text *strings.Builder, s terminal.Screen) {
	lines := r.calendarLines()
	if len(lines) == 0 {
		return
	}
	head(text, s, "Windows")
	for _, line := range lines {
		bullet(text, s, terminal.Plain, "  "+s.Sign("•", "*")+" ", line)
	}
}

func (r *migrationReport) calendarLines() (lines []string) {
	for _, w := range r.Windows {
		lines = append(lines, w.words())
	}
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], wording.Count(len(lines)-mostLines, "window changes", "windows change")+" later.")
	}
	for i, e := range r.Exclusions {
		if i < mostLines {
			lines = append(lines, e.words())
		}
	}
	return lines
}

func (f *forecastReport) text(text *strings.Builder, s terminal.Screen) {
	head(text, s, "Forecast")
	switch {
	case f.Likely == nil:
		bullet(text, s, terminal.Warn, "  ", "It never ends by itself: "+f.WaitsFor+".")
	case f.Earliest.Equal(f.Latest):
		bullet(text, s, terminal.Plain, "  ", "It ends at "+when(f.Likely.Time)+".")
	default:
		bullet(text, s, terminal.Plain, "  ", fmt.Sprintf("It ends at about %s: between %s and %s.", when(f.Likely.Time),
			when(f.Earliest.Time), when(f.Latest.Time)))
	}
	for _, w := range f.Waves {
		if w.PassesAt != nil && w.PassesAt.After(f.from) {
			row(text, s, "  "+s.Cell(w.Name, nameWidth)+"  passes "+when(w.PassesAt.Time))
		}
	}
	if left := f.Clusters.Total - f.Clusters.Succeeded; left > 0 {
		bullet(text, s, terminal.Plain, "  ", wording.Count(int(left), "Cluster is", "Clusters are")+" not migrated then.")
	}
	for _, assumption := range f.Assumptions {
		bullet(text, s, terminal.Faint, "  "+s.Sign("•", "*")+" ", assumption)
	}
}
