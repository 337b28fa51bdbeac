package fleet

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// named are the examples that are named at most.
const named = 3

// when is a time for people.
func when(at time.Time) string { return at.UTC().Format("Mon 2006-01-02 15:04") + " UTC" }

// timeOf is nil for the zero time.
func timeOf(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return new(metav1.NewTime(at.UTC()))
}

// head is the title of a part.
func head(text *strings.Builder, s terminal.Screen, title string) {
	fmt.Fprintf(text, "\n%s\n", s.Paint(terminal.Bold, title))
}

// bullet is a text below a title, with its first line after a mark.
func bullet(text *strings.Builder, s terminal.Screen, t terminal.Tone, mark, words string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(mark))
	for i, line := range terminal.Wrap(words, s.Width-utf8.RuneCountInString(mark)) {
		if i > 0 {
			mark = indent
		}
		text.WriteString(mark + s.Paint(t, line) + "\n")
	}
}

// row is a line without spaces at its end.
func row(text *strings.Builder, s terminal.Screen, line string) {
	text.WriteString(strings.TrimRight(s.Cut(line, s.Width), " ") + "\n")
}

// right is a text that stands at the end of its cell.
func right(words string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(words))) + words
}

func number(n int32, width int) string { return right(fmt.Sprint(n), width) }

// examples are some names, and how many more there are.
func examples(count int, names []string) string {
	shown := names[:min(len(names), named)]
	if more := count - len(shown); more > 0 && len(shown) > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(shown, ", ")
}

// finished is how much of the Clusters that are wanted to migrate has succeeded.
func finished(c ucv1.FleetCount) float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(c.Succeeded) / float64(c.Total)
}

// sign and tone of a wave.
func sign(s terminal.Screen, state ucv1.WaveState) (string, terminal.Tone) {
	switch state {
	case ucv1.WavePassed:
		return s.Sign("✓", "+"), terminal.Good
	case ucv1.WaveAwaitingApproval:
		return s.Sign("‖", "="), terminal.Warn
	case ucv1.WaveOpen, ucv1.WaveSoaking:
		return s.Sign("▸", ">"), terminal.Busy
	default:
		return s.Sign("○", "o"), terminal.Plain
	}
}
