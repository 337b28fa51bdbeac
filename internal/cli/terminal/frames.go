package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Frames are what is printed one after the other: on a terminal in one place, into a file below each other.
type Frames struct {
	Out io.Writer
	// Redraw says that it is text, which may be drawn over.
	Redraw bool
	// YAML documents stand in a stream: https://yaml.org/spec/1.2.2/#92-streams
	YAML bool
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

// Show the next one.
func (f *Frames) Show(s Screen, text string) error {
	if f.Redraw && s.Height > 0 {
		return f.draw(s, text)
	}
	known := regexp.MustCompile(`\b\d+[smhd]\b *`).ReplaceAllString(text, "")
	if known == f.last {
		return nil
	}
	switch {
	case f.last == "":
	case f.YAML:
		text = "---\n" + text
	default:
		text = "\n" + text
	}
	f.last = known
	_, err := io.WriteString(f.Out, text)
	return err
}

// draw never lets the terminal scroll: what does not fit is left out, and said.
func (f *Frames) draw(s Screen, text string) error {
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
	_, err := io.WriteString(f.Out, begin+strings.Join(lines, clearLine+"\n")+clearLine+"\n"+clearBelow)
	return err
}

// End gives the cursor back.
func (f *Frames) End() {
	if f.drawn {
		_, _ = io.WriteString(f.Out, showCursor)
	}
}
