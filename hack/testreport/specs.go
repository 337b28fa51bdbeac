package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// junit is the file of one suite, as Ginkgo writes it.
type junit struct {
	Suites []struct {
		Specs []junitSpec `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitSpec struct {
	Name    string `xml:"name,attr"`
	Status  string `xml:"status,attr"`
	Skipped *struct {
		Message string `xml:"message,attr"`
	} `xml:"skipped"`
}

// readSpecs are the specs of a suite by name. Of several with one name, the later ones are numbered. The nodes around
// them, as BeforeSuite, are there only when they failed.
func readSpecs(file io.Reader) (map[string]outcome, error) {
	var content junit
	if err := xml.NewDecoder(file).Decode(&content); err != nil {
		return nil, err
	}
	if len(content.Suites) == 0 {
		return nil, errors.New("it has no suite")
	}
	labels := regexp.MustCompile(` \[[^\[\]]*\]$`)
	specs, times := map[string]outcome{}, map[string]int{}
	for _, suite := range content.Suites {
		for _, spec := range suite.Specs {
			name, isSpec := strings.CutPrefix(spec.Name, "[It] ")
			result := spec.outcome()
			if result == "" || !isSpec && result != failed {
				continue
			}
			name = labels.ReplaceAllString(name, "")
			times[name]++
			if times[name] > 1 {
				name = fmt.Sprintf("%s (%d)", name, times[name])
			}
			specs[name] = result
		}
	}
	return specs, nil
}

// outcome is empty for a spec that a label or another filter left out: Ginkgo calls that skipped, without a reason.
func (s junitSpec) outcome() outcome {
	switch s.Status {
	case "passed":
		return passed
	case "pending":
		return skipped
	case "skipped":
		if s.Skipped != nil && s.Skipped.Message != "skipped" {
			return skipped
		}
		return ""
	}
	return failed
}
