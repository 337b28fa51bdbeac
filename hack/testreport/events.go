package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// outcome of a test, in the words of go test.
type outcome string

const (
	passed  outcome = "pass"
	failed  outcome = "fail"
	skipped outcome = "skip"
	// running is what a test is that began and did not end.
	running outcome = "run"
)

// event is a line of go test -json.
type event struct {
	Action  outcome
	Package string
	Test    string
	Elapsed float64
}

// testPackage is what go test said of one package.
type testPackage struct {
	seconds float64
	outcome outcome
	// tests has the tests and their subtests.
	tests map[string]outcome
}

// packages are keyed by their path below the root of the repository.
type packages map[string]*testPackage

// readEvents adds what a stream of events says. Its last line may be cut off, as a run can be.
func (p packages) readEvents(stream io.Reader) error {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("no event of go test: %.80q: %w", line, err)
		}
		p.add(e)
	}
}

// add leaves out the events of builds, which belong to no package: the one that could not be built fails by itself.
func (p packages) add(e event) {
	if e.Package == "" {
		return
	}
	name := strings.TrimPrefix(e.Package, module)
	if p[name] == nil {
		p[name] = &testPackage{outcome: running, tests: map[string]outcome{}}
	}
	switch e.Action {
	case passed, failed, skipped:
	case running:
		e.Elapsed = 0
	default:
		return
	}
	if e.Test != "" {
		p[name].tests[e.Test] = e.Action
		return
	}
	p[name].outcome = e.Action
	p[name].seconds += e.Elapsed
}
