package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// frames are what is printed one after the other: on a terminal in one place, into a file below each other.
type frames struct {
	out    io.Writer
	redraw bool
	// yaml documents stand in a stream: https://yaml.org/spec/1.2.2/#92-streams
	yaml bool
	// last that was printed, without its ages: they alone are no news in a file.
	last  string
	drawn bool
}

// The control sequences of terminals: https://man7.org/linux/man-pages/man4/console_codes.4.html
const (
	clearScreen = "\x1b[2J"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
	hideCursor  = "\x1b[?25l"
	showCursor  = "\x1b[?25h"
)

func (f *frames) show(s terminal.Screen, text string) error {
	if f.redraw && s.Height > 0 {
		return f.draw(s, text)
	}
	known := regexp.MustCompile(`\b\d+[smhd]\b *`).ReplaceAllString(text, "")
	if known == f.last {
		return nil
	}
	switch {
	case f.last == "":
	case f.yaml:
		text = "---\n" + text
	default:
		text = "\n" + text
	}
	f.last = known
	_, err := io.WriteString(f.out, text)
	return err
}

// draw never lets the terminal scroll: what does not fit is left out, and said.
func (f *frames) draw(s terminal.Screen, text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(s.Height-1, 1); len(lines) > most {
		more := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], fmt.Sprintf("%s %d more lines", s.Sign("…", "..."), more))
	}
	begin := cursorHome
	if !f.drawn {
		begin = hideCursor + clearScreen + cursorHome
	}
	f.drawn = true
	_, err := io.WriteString(f.out, begin+strings.Join(lines, clearLine+"\n")+clearLine+"\n"+clearBelow)
	return err
}

// end gives the cursor back.
func (f *frames) end() {
	if f.drawn {
		_, _ = io.WriteString(f.out, showCursor)
	}
}
