package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// The width of what is printed: of a file, and the bounds on a terminal.
const (
	fileWidth = 100
	minWidth  = 72
	maxWidth  = 140
)

// tone is how a text is meant. Nothing is said by colour alone.
type tone string

// The tones, as the sixteen colours that every terminal theme keeps readable, on a dark ground too.
const (
	plain tone = ""
	good  tone = "32"
	busy  tone = "36"
	warn  tone = "33"
	bad   tone = "1;31"
	bold  tone = "1"
	faint tone = "2"
)

// screen is what text is printed for.
type screen struct {
	width int
	// height bounds what is redrawn; zero means that there is no bound.
	height int
	colour bool
	ascii  bool
}

// screenOptions are the flags about it.
type screenOptions struct {
	colour string
	ascii  bool
}

func (o *screenOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.colour, "color", "auto", "Colours: auto, always or never. With auto, on a terminal, unless NO_COLOR is set.")
	flags.BoolVar(&o.ascii, "ascii", false, "Print no characters but those of ASCII.")
}

// screen looks where out leads to. NO_COLOR: https://no-color.org
func (o *screenOptions) screen(out io.Writer, getenv func(string) string) (screen, error) {
	s := screen{width: fileWidth, ascii: o.ascii || !speaksUnicode(getenv)}
	file, isFile := out.(*os.File)
	terminal := false
	if isFile {
		if width, height, ok := terminalSize(file); ok {
			s.width, s.height, terminal = min(max(width, minWidth), maxWidth), height, true
		}
	}
	switch o.colour {
	case "auto":
		s.colour = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	case "always":
		s.colour = true
	case "never":
	default:
		return s, usageError(fmt.Errorf("--color is %q; it is one of auto, always, never", o.colour))
	}
	return s, nil
}

// speaksUnicode holds unless the locale says otherwise.
func speaksUnicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}

// paint gives a text its tone. Pad before: the marks of a colour have no width.
func (s screen) paint(t tone, text string) string {
	if !s.colour || t == plain || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}

// sign is a character of its own width, or its stand-in in ASCII.
func (s screen) sign(unicode, ascii string) string {
	if s.ascii {
		return ascii
	}
	return unicode
}

// cut shortens a text to a width.
func (s screen) cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	more := s.sign("…", "~")
	return string([]rune(text)[:max(width-1, 0)]) + more
}

// cell is a text of exactly that width.
func (s screen) cell(text string, width int) string {
	text = s.cut(text, width)
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// wrap breaks a text between words. A word that is longer than the width stays whole, so that it can be copied.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// bar shows how much of a whole is done, in eighths of a character.
func (s screen) bar(done float64, width int) string {
	eighths := min(max(int(done*float64(8*width)), 0), 8*width)
	full, rest := eighths/8, eighths%8
	if s.ascii {
		return strings.Repeat("#", full) + strings.Repeat("-", width-full)
	}
	text := strings.Repeat("█", full)
	if rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
		full++
	}
	return text + strings.Repeat("·", width-full)
}

// age is a duration in at most four characters, as people say it.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
