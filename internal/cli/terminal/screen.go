package terminal

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
	FileWidth = 100
	minWidth  = 72
	MaxWidth  = 140
)

// Tone is how a text is meant. Nothing is said by colour alone.
type Tone string

// The tones, as the sixteen colours that every terminal theme keeps readable, on a dark ground too.
const (
	Plain Tone = ""
	Good  Tone = "32"
	Busy  Tone = "36"
	Warn  Tone = "33"
	Bad   Tone = "1;31"
	Bold  Tone = "1"
	Faint Tone = "2"
)

// Class of a tone, for pages, which have other colors.
func (t Tone) Class() string {
	switch t {
	case Good:
		return "good"
	case Busy:
		return "busy"
	case Warn:
		return "warn"
	case Bad:
		return "bad"
	default:
		return "plain"
	}
}

// Screen is what text is printed for.
type Screen struct {
	Width int
	// Height bounds what is redrawn; zero means that there is no bound.
	Height int
	Colour bool
	ASCII  bool
}

// ScreenOptions are the flags about it.
type ScreenOptions struct {
	Colour string
	ascii  bool
}

// Bind the flags about the screen.
func (o *ScreenOptions) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.Colour, "color", "auto", "Colors: auto, always or never. With auto, on a terminal, unless NO_COLOR is set.")
	flags.BoolVar(&o.ascii, "ascii", false, "Print no characters but those of ASCII.")
}

// Screen looks where out leads to. NO_COLOR: https://no-color.org
func (o *ScreenOptions) Screen(out io.Writer, getenv func(string) string) (Screen, error) {
	s := Screen{Width: FileWidth, ASCII: o.ascii || !speaksUnicode(getenv)}
	file, isFile := out.(*os.File)
	terminal := false
	if isFile {
		if width, height, ok := terminalSize(file); ok {
			s.Width, s.Height, terminal = min(max(width, minWidth), MaxWidth), height, true
		}
	}
	switch o.Colour {
	case "auto":
		s.Colour = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	case "always":
		s.Colour = true
	case "never":
	default:
		return s, UsageError(fmt.Errorf("--color is %q; it is one of auto, always, never", o.Colour))
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

// Paint gives a text its tone. Pad before: the marks of a colour have no width.
func (s Screen) Paint(t Tone, text string) string {
	if !s.Colour || t == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}

// Sign is a character of its own width, or its stand-in in ASCII.
func (s Screen) Sign(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

// Cut shortens a text to a width.
func (s Screen) Cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	more := s.Sign("…", "~")
	return string([]rune(text)[:max(width-1, 0)]) + more
}

// Cell is a text of exactly that width.
func (s Screen) Cell(text string, width int) string {
	text = s.Cut(text, width)
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// Wrap breaks a text between words. A word that is longer than the width stays whole, so that it can be copied.
func Wrap(text string, width int) []string {
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

// Bar shows how much of a whole is done, in eighths of a character.
func (s Screen) Bar(done float64, width int) string {
	eighths := min(max(int(done*float64(8*width)), 0), 8*width)
	full, rest := eighths/8, eighths%8
	if s.ASCII {
		return strings.Repeat("#", full) + strings.Repeat("-", width-full)
	}
	text := strings.Repeat("█", full)
	if rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
		full++
	}
	return text + strings.Repeat("·", width-full)
}

// Age is a duration in at most four characters, as people say it.
func Age(d time.Duration) string {
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
