package terminal

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestScreens(t *testing.T) {
	for name, tc := range map[string]struct {
		options ScreenOptions
		env     map[string]string
		want    Screen
		problem string
	}{
		"of a file":                 {options: ScreenOptions{Colour: "auto"}, want: Screen{Width: 100}},
		"with colours all the same": {options: ScreenOptions{Colour: "always"}, env: map[string]string{"NO_COLOR": "1"}, want: Screen{Width: 100, Colour: true}},
		"in ASCII by flag":          {options: ScreenOptions{Colour: "never", ascii: true}, env: map[string]string{"LANG": "en_US.UTF-8"}, want: Screen{Width: 100, ASCII: true}},
		"in ASCII by locale":        {options: ScreenOptions{Colour: "auto"}, env: map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, want: Screen{Width: 100, ASCII: true}},
		"in Unicode by locale":      {options: ScreenOptions{Colour: "auto"}, env: map[string]string{"LANG": "de_DE.utf8"}, want: Screen{Width: 100}},
		"of another colour":         {options: ScreenOptions{Colour: "pink"}, problem: `"pink"; it is one of auto, always, never`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := tc.options.Screen(&bytes.Buffer{}, func(name string) string { return tc.env[name] })
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				g.Expect(ExitCode(err)).To(Equal(ExitRefused))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestATenantsTextCommandsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	painted := Screen{Colour: true}.Paint(Bad, "no\x1b[2J\x1b]0;title\x07 \u009b2Kmore\r\x1b[8mhidden")
	g.Expect(
		Write(out, "text", nil, func(out io.Writer) error { _, err := io.WriteString(out, painted+"\n\tü\n"); return err }),
	).To(
		Succeed(),
	)
	g.Expect(out.String()).To(Equal("\x1b[1;31mno[2J]0;title 2Kmore[8mhidden\x1b[0m\n\tü\n"))
}

func TestAFileIsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	s, err := (&ScreenOptions{Colour: "auto"}).Screen(file, func(string) string { return "" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s).To(Equal(Screen{Width: FileWidth}))
}

func TestCellsAndLines(t *testing.T) {
	g := NewWithT(t)
	s, ascii := Screen{Width: 80}, Screen{Width: 80, ASCII: true}
	g.Expect(s.Cell("ä", 3)).To(Equal("ä  "))
	g.Expect(s.Cell("äöüß", 3)).To(Equal("äö…"))
	g.Expect(ascii.Cell("abcd", 3)).To(Equal("ab~"))
	g.Expect(Wrap("one two three-is-long four", 8)).To(Equal([]string{"one two", "three-is-long", "four"}))
	g.Expect(Wrap("", 8)).To(BeEmpty())
	g.Expect(s.Paint(Good, "x")).To(Equal("x"))
	g.Expect(Screen{Colour: true}.Paint(Good, "x")).To(Equal("\x1b[32mx\x1b[0m"))
}

func TestBars(t *testing.T) {
	g := NewWithT(t)
	s, ascii := Screen{}, Screen{ASCII: true}
	for done, want := range map[float64]string{
		0: "····", 0.5: "██··", 1: "████", 2: "████",
		-1: "····", 0.53125: "██▏·", 0.99: "███▉",
	} {
		g.Expect(s.Bar(done, 4)).To(Equal(want))
	}
	g.Expect(ascii.Bar(0.53125, 4)).To(Equal("##--"))
}

func TestAges(t *testing.T) {
	g := NewWithT(t)
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m",
		2 * time.Hour: "2h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 999 * 24 * time.Hour: "999d",
	} {
		g.Expect(Age(d)).To(Equal(want))
		g.Expect(len(Age(d))).To(BeNumerically("<=", 4), "it fits into its column")
	}
}
