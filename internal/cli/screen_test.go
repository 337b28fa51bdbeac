package cli

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
		options screenOptions
		env     map[string]string
		want    screen
		problem string
	}{
		"of a file":                 {options: screenOptions{colour: "auto"}, want: screen{width: 100}},
		"with colours all the same": {options: screenOptions{colour: "always"}, env: map[string]string{"NO_COLOR": "1"}, want: screen{width: 100, colour: true}},
		"in ASCII by flag":          {options: screenOptions{colour: "never", ascii: true}, env: map[string]string{"LANG": "en_US.UTF-8"}, want: screen{width: 100, ascii: true}},
		"in ASCII by locale":        {options: screenOptions{colour: "auto"}, env: map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, want: screen{width: 100, ascii: true}},
		"in Unicode by locale":      {options: screenOptions{colour: "auto"}, env: map[string]string{"LANG": "de_DE.utf8"}, want: screen{width: 100}},
		"of another colour":         {options: screenOptions{colour: "pink"}, problem: `"pink"; it is one of auto, always, never`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := tc.options.screen(&bytes.Buffer{}, func(name string) string { return tc.env[name] })
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				g.Expect(ExitCode(err)).To(Equal(exitRefused))
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
	painted := screen{colour: true}.paint(bad, "no\x1b[2J\x1b]0;title\x07 \u009b2Kmore\r\x1b[8mhidden")
	g.Expect(write(out, "text", nil, func(out io.Writer) error { _, err := io.WriteString(out, painted+"\n\tü\n"); return err })).To(Succeed())
	g.Expect(out.String()).To(Equal("\x1b[1;31mno[2J]0;title 2Kmore[8mhidden\x1b[0m\n\tü\n"))
}

func TestAFileIsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	s, err := (&screenOptions{colour: "auto"}).screen(file, func(string) string { return "" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s).To(Equal(screen{width: fileWidth}))
}

func TestCellsAndLines(t *testing.T) {
	g := NewWithT(t)
	s, ascii := screen{width: 80}, screen{width: 80, ascii: true}
	g.Expect(s.cell("ä", 3)).To(Equal("ä  "))
	g.Expect(s.cell("äöüß", 3)).To(Equal("äö…"))
	g.Expect(ascii.cell("abcd", 3)).To(Equal("ab~"))
	g.Expect(wrap("one two three-is-long four", 8)).To(Equal([]string{"one two", "three-is-long", "four"}))
	g.Expect(wrap("", 8)).To(BeEmpty())
	g.Expect(s.paint(good, "x")).To(Equal("x"))
	g.Expect(screen{colour: true}.paint(good, "x")).To(Equal("\x1b[32mx\x1b[0m"))
}

func TestBars(t *testing.T) {
	g := NewWithT(t)
	s, ascii := screen{}, screen{ascii: true}
	for done, want := range map[float64]string{0: "····", 0.5: "██··", 1: "████", 2: "████", -1: "····", 0.53125: "██▏·", 0.99: "███▉"} {
		g.Expect(s.bar(done, 4)).To(Equal(want))
	}
	g.Expect(ascii.bar(0.53125, 4)).To(Equal("##--"))
}

func TestAges(t *testing.T) {
	g := NewWithT(t)
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m",
		2 * time.Hour: "2h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 999 * 24 * time.Hour: "999d",
	} {
		g.Expect(age(d)).To(Equal(want))
		g.Expect(len(age(d))).To(BeNumerically("<=", ageWidth))
	}
}
