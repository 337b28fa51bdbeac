package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	pkgPasses = `{"Action":"start","Package":"` + module + `pkg/a"}
{"Action":"run","Package":"` + module + `pkg/a","Test":"TestA"}
{"Action":"run","Package":"` + module + `pkg/a","Test":"TestA/one"}
{"Action":"output","Package":"` + module + `pkg/a","Test":"TestA/one","Output":"x\n"}
{"Action":"pass","Package":"` + module + `pkg/a","Test":"TestA/one","Elapsed":1}
{"Action":"pass","Package":"` + module + `pkg/a","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"` + module + `pkg/a","Elapsed":2.5}
`
	suiteRan = `{"Action":"run","Package":"` + module + `test/e2e/roll","Test":"TestRoll"}
{"Action":"pass","Package":"` + module + `test/e2e/roll","Test":"TestRoll","Elapsed":1}
{"Action":"pass","Package":"` + module + `test/e2e/roll","Elapsed":1}
`
	suiteFailed = `{"Action":"run","Package":"` + module + `test/e2e/roll","Test":"TestRoll"}
{"Action":"fail","Package":"` + module + `test/e2e/roll","Test":"TestRoll","Elapsed":1}
{"Action":"fail","Package":"` + module + `test/e2e/roll","Elapsed":1}
`
	specs = `<?xml version="1.0"?><testsuites tests="4"><testsuite name="roll" tests="4">
<testcase name="[BeforeSuite]" status="passed"></testcase>
<testcase name="[It] a roll halts [core]" status="passed"></testcase>
<testcase name="[It] a roll [fast] goes on" status="passed"></testcase>
<testcase name="[It] a roll is left out" status="skipped"><skipped message="skipped"></skipped></testcase>
<testcase name="[It] a roll calls Skip" status="skipped"><skipped message="skipped - no network"></skipped></testcase>
<testcase name="[It] a roll is pending" status="pending"><skipped message="pending"></skipped></testcase>
</testsuite></testsuites>`
)

// files of a run, by name below its folder.
type files map[string]string

func (f files) write(t *testing.T) string {
	folder := t.TempDir()
	for name, content := range f {
		file := filepath.Join(folder, name)
		NewWithT(t).Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		NewWithT(t).Expect(os.WriteFile(file, []byte(content), 0o644)).To(Succeed())
	}
	return folder
}

func ofSuite(events, junit string) files {
	f := files{"plan": "e2e\n", "groups": "e2e 9 0\n", "suites": "test/e2e/roll\n", "e2e.jsonl": events}
	if junit != "" {
		f["junit/roll.xml"] = junit
	}
	return f
}

func ofGroup(events, end string) files {
	return files{"plan": "unit\n", "groups": end, "suites": "", "unit.jsonl": events}
}

// counted is a run and what is said of it.
type counted struct {
	run      files
	closing  string
	failures []string
}

func (c counted) check(t *testing.T) {
	g := NewWithT(t)
	r, err := readRun(c.run.write(t))
	g.Expect(err).NotTo(HaveOccurred())
	tests := r.tests()
	g.Expect(closingLine(tests)).To(Equal(c.closing))
	var out strings.Builder
	printFailures(&out, tests)
	lines := strings.Split(out.String(), "\n")
	g.Expect(lines).To(HaveLen(len(c.failures)+1), out.String())
	for i, want := range c.failures {
		g.Expect(lines[i]).To(HavePrefix("FAILED "))
		g.Expect(lines[i]).To(ContainSubstring(want))
	}
}

func TestCountOfPackages(t *testing.T) {
	ofOne := `","Package":"` + module + `pkg/a","Test":"TestA/one"`
	for name, tc := range map[string]counted{
		"tests and subtests count": {ofGroup(pkgPasses, "unit 4 0\n"), "2 passed, 0 failed, 0 skipped", nil},
		"a test that skips is skipped": {
			ofGroup(strings.ReplaceAll(pkgPasses, `pass`+ofOne, `skip`+ofOne), "unit 4 0\n"),
			"1 passed, 0 failed, 1 skipped", nil,
		},
		"a package that fails outside any test": {
			ofGroup(`{"Action":"fail","Package":"`+module+`pkg/a","Elapsed":0}`+"\n", "unit 4 1\n"),
			"0 passed, 1 failed, 0 skipped", []string{"pkg/a: it failed outside any test"},
		},
		"a package whose tests fail does not count itself": {
			ofGroup(strings.ReplaceAll(pkgPasses, `"pass"`, `"fail"`), "unit 4 1\n"),
			"0 passed, 2 failed, 0 skipped", []string{"pkg/a TestA", "pkg/a TestA/one"},
		},
		"a package that was cut off": {
			ofGroup(strings.Join(strings.SplitAfter(pkgPasses, "\n")[:2], "")+`{"Action":"ou`, ""),
			"0 passed, 3 failed, 0 skipped",
			[]string{"group unit: it was cut off, or did not begin", "pkg/a TestA", "pkg/a: it failed outside any test"},
		},
		"a group that another program is": {
			files{"plan": "mutants\n", "groups": "mutants 4 1\n", "suites": ""},
			"0 passed, 1 failed, 0 skipped", []string{"group mutants: it ended with status 1"},
		},
		"a group that another program is, and that says why": {
			files{"plan": "mutants\n", "groups": "mutants 4 1\n", "suites": "", "mutants.log": "begin\nx survived\nexit status 1\n"},
			"0 passed, 1 failed, 0 skipped", []string{"group mutants: it ended with status 1: x survived"},
		},
		"a group that another program is, and that is good": {
			files{"plan": "mutants\n", "groups": "mutants 4 0\n", "suites": ""}, "0 passed, 0 failed, 0 skipped", nil,
		},
		"a run that did not begin": {files{}, "0 passed, 1 failed, 0 skipped", []string{"the run: it did not begin"}},
	} {
		t.Run(name, tc.check)
	}
}

func TestCountOfSuites(t *testing.T) {
	oneSpec := func(status string) string {
		return `<testsuites><testsuite><testcase name="[It] x" status="` + status + `"></testcase></testsuite></testsuites>`
	}
	oneFailed, x := "0 passed, 1 failed, 0 skipped", []string{"test/e2e/roll x"}
	for name, tc := range map[string]counted{
		"specs count, the test around them and those that a label leaves out do not": {
			ofSuite(suiteRan, specs), "2 passed, 0 failed, 2 skipped", nil,
		},
		"a spec that failed":      {ofSuite(suiteFailed, oneSpec("failed")), oneFailed, x},
		"a spec that timed out":   {ofSuite(suiteFailed, oneSpec("timedout")), oneFailed, x},
		"a spec of a later state": {ofSuite(suiteRan, oneSpec("exploded")), oneFailed, x},
		"what is around the specs failed": {
			ofSuite(suiteFailed, strings.ReplaceAll(oneSpec("failed"), "[It] x", "[AfterSuite]")),
			oneFailed, []string{"test/e2e/roll [AfterSuite]"},
		},
		"a suite that fails although its specs passed": {
			ofSuite(suiteFailed, oneSpec("passed")),
			"1 passed, 1 failed, 0 skipped", []string{"test/e2e/roll: it failed outside any test"},
		},
		"a suite without a file of specs": {
			ofSuite(suiteRan, ""), oneFailed, []string{"no such file"},
		},
		"a suite with half a file of specs": {
			ofSuite(suiteRan, specs[:300]), oneFailed, []string{"its specs cannot be counted"},
		},
		"a file with something else": {
			ofSuite(suiteRan, "<html></html>"), oneFailed, []string{"it has no suite"},
		},
		"two specs of one name": {
			ofSuite(suiteFailed, strings.ReplaceAll(strings.ReplaceAll(specs, "[fast] goes on", "halts"), `passed`, `failed`)),
			"0 passed, 3 failed, 2 skipped",
			[]string{"test/e2e/roll [BeforeSuite]", "test/e2e/roll a roll halts", "test/e2e/roll a roll halts (2)"},
		},
		"a suite that did not run": {
			ofSuite("", specs), oneFailed, []string{"test/e2e/roll: the suite did not run"},
		},
		"a suite of which a label leaves out all": {
			ofSuite(suiteRan, oneSpec("skipped")), oneFailed, []string{"test/e2e/roll: no spec of it ran"},
		},
		"a test beside the suite, which nothing would count": {
			ofSuite(suiteRan+strings.ReplaceAll(suiteRan, "TestRoll", "TestOther"), specs),
			"2 passed, 1 failed, 2 skipped", []string{"other tests, which do not count: TestOther, TestRoll"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestRunThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		run  files
		want string
	}{
		"events that are none":     {ofGroup("go: no such tool\n", ""), "no event of go test"},
		"no list of ended groups":  {files{"plan": "unit\n", "suites": ""}, "groups: no such file"},
		"no list of suites":        {files{"plan": "unit\n", "groups": ""}, "suites: no such file"},
		"a group that was no plan": {ofGroup("", "other 4 0\n"), `"other 4 0"`},
		"an end without a status":  {ofGroup("", "unit 4\n"), `"unit 4"`},
		"a status that is a word":  {ofGroup("", "unit 4 bad\n"), `"bad"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readRun(tc.run.write(t))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
