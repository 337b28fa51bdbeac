package supportbundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	readmeName = "README.md"
	// fileLimit bounds each file.
	fileLimit = 4 << 20
)

// file of the bundle. Its text is redacted and bounded.
type file struct {
	what, source, text string
}

// gap is what is not in the bundle, and why. A problem is what should be there.
type gap struct {
	what, why string
	problem   bool
}

// bundle is what goes into the archive.
type bundle struct {
	redactor redactor
	// leaveOut are files that the person does not want.
	leaveOut []string
	progress io.Writer
	files    map[string]file
	gaps     []gap
}

// add a file: redacted, and its end where it is too long.
func (b *bundle) add(name, what, source, text string) {
	if slices.Contains(b.leaveOut, name) {
		b.without(name, "--leave-out names it")
		return
	}
	text = b.redactor.text(text)
	if cut := len(text) - fileLimit; cut > 0 {
		text = fmt.Sprintf("[The first %d bytes are left out.]\n%s", cut, text[cut:])
		b.without(fmt.Sprintf("the first %d bytes of %s", cut, name), "a file has at most 4 MiB")
	}
	b.files[name] = file{what, source, text}
}

// without says what is left out on purpose, or does not exist.
func (b *bundle) without(what, why string) { b.gaps = append(b.gaps, gap{what: what, why: why}) }

// couldNotRead says what is not there because of an error. It never looks like absence.
func (b *bundle) couldNotRead(what string, err error) {
	b.gaps = append(b.gaps, gap{what, err.Error(), true})
}

// problems name what could not be read.
func (b *bundle) problems() (named []string) {
	for _, gap := range b.gaps {
		if gap.problem {
			named = append(named, gap.what)
		}
	}
	return named
}

// readme lists what is in the archive, and what is not.
func (b *bundle) readme(cluster string, now time.Time, scanned string) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "# Support bundle of Cluster %s, %s\n\n%s\n\n"+
		"What looked like a secret is replaced by %s; no Secret's values are read into a file.\n\n"+
		"| File | Bytes | What | Read from |\n|---|---|---|---|\n", cluster, now.UTC().Format(time.RFC3339), scanned, redacted)
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		f := b.files[name]
		fmt.Fprintf(out, "| %s | %d | %s | %s |\n", name, len(f.text), f.what, f.source)
	}
	fmt.Fprint(out, "\n## Could not be read\n\nWhether these exist is not known.\n\n")
	b.list(out, true)
	fmt.Fprint(out, "\n## Left out\n\n")
	b.list(out, false)
	return out.String()
}

func (b *bundle) list(out io.Writer, problems bool) {
	count := 0
	for _, gap := range b.gaps {
		if gap.problem == problems {
			fmt.Fprintf(out, "* %s: %s\n", gap.what, strings.Join(strings.Fields(gap.why), " "))
			count++
		}
	}
	if count == 0 {
		fmt.Fprintln(out, "Nothing.")
	}
}

// archive is the .tar.gz, with its files in the order of their names in one folder.
func (b *bundle) archive(folder string, now time.Time) ([]byte, error) {
	out := &bytes.Buffer{}
	zipped := gzip.NewWriter(out)
	files := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		text := b.files[name].text
		header := &tar.Header{Name: folder + "/" + name, Mode: 0o600, Size: int64(len(text)), ModTime: now, Format: tar.FormatPAX}
		if err := files.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(files, text); err != nil {
			return nil, err
		}
	}
	err := cmp.Or(files.Close(), zipped.Close())
	return out.Bytes(), err
}
