package leadermigration_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestGolden shows what is rendered for every minor, to the next one and within it:
// go test ./pkg/leadermigration -update, then read the diff.
func TestGolden(t *testing.T) {
	for _, minor := range leadermigration.Minors() {
		t.Run(fmt.Sprintf("from 1.%d", minor.Minor), func(t *testing.T) {
			g := NewWithT(t)
			var got bytes.Buffer
			writePlan(&got, minor.Minor, minor.Minor+1)
			writePlan(&got, minor.Minor, minor.Minor)
			file := filepath.Join("testdata", fmt.Sprintf("1.%d.txt", minor.Minor))
			if *update {
				g.Expect(os.WriteFile(file, got.Bytes(), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.String()).To(Equal(string(want)), "run go test ./pkg/leadermigration -update and read the diff")
		})
	}
}

func writePlan(out *bytes.Buffer, from, to int) {
	plan := leadermigration.Plan{From: leadermigration.OfMinor(from), To: leadermigration.OfMinor(to), Provider: inTreeAt(from)}
	artifacts, violations := leadermigration.Render(plan)
	fmt.Fprintf(out, "=== provider %s from %s to %s\n", plan.Provider, plan.From, plan.To)
	for _, violation := range violations {
		fmt.Fprintln(out, inOneLine(violation))
	}
	for _, manager := range []leadermigration.Component{kcm, ccm} {
		if file, rendered := artifacts.Files[manager]; rendered {
			fmt.Fprintf(out, "--- file of %s\n%s", manager, file)
		}
	}
	for _, flags := range []struct {
		of   string
		list []leadermigration.Flag
	}{{"KCM", artifacts.KCM}, {"CCM", artifacts.CCM}, {"KCM afterwards", artifacts.KCMAfter}} {
		for _, flag := range flags.list {
			fmt.Fprintf(out, "%s: %s\n", flags.of, flag)
		}
	}
	for _, name := range artifacts.KCMRemove {
		fmt.Fprintf(out, "KCM afterwards without %s\n", name)
	}
}

func inOneLine(v leadermigration.Violation) string {
	var about []string
	if v.Lock != "" {
		about = append(about, "lock "+v.Lock)
	}
	if len(v.Loops) > 0 {
		var loops []string
		for _, loop := range v.Loops {
			loops = append(loops, string(loop))
		}
		about = append(about, "loops "+strings.Join(loops, ", "))
	}
	about = append(about, v.Releases...)
	return fmt.Sprintf("%s %s [%s]: %s %s", v.Severity, v.Rule, strings.Join(about, "; "), v.Message, v.Fix)
}

// inTreeAt is a provider that is in-tree in a minor and whose CCM honours the lock; gce is the last that was.
func inTreeAt(minor int) string {
	for _, name := range []string{"openstack", "aws", "vsphere"} {
		if provider, _ := leadermigration.LookupProvider(name); minor <= provider.LastInTreeMinor {
			return name
		}
	}
	return "gce"
}

func TestRenderedFiles(t *testing.T) {
	for _, minor := range leadermigration.Minors() {
		for _, to := range []int{minor.Minor, minor.Minor + 1} {
			plan := leadermigration.Plan{
				From: leadermigration.OfMinor(minor.Minor), To: leadermigration.OfMinor(to), Provider: inTreeAt(minor.Minor),
			}
			t.Run(
				fmt.Sprintf("from %s to %s both managers read their file, and each loop is under the lock on both sides", plan.From, plan.To),
				func(t *testing.T) {
					g := NewWithT(t)
					artifacts, violations := leadermigration.Render(plan)
					if minor.Minor > 30 {
						g.Expect(leadermigration.HasErrors(violations)).To(BeTrue(), "there is no KCM to hand over from")
						g.Expect(artifacts).To(Equal(leadermigration.Artifacts{}), "nothing is to be placed")
						return
					}
					g.Expect(leadermigration.HasErrors(violations)).To(BeFalse())
					expectUnderLock(g, artifacts.Files[kcm], kcm, minor.Minor)
					expectUnderLock(g, artifacts.Files[ccm], ccm, to)
				},
			)
		}
	}
}

func expectUnderLock(g Gomega, file string, manager leadermigration.Component, minor int) {
	lock, err := leadermigration.Parse([]byte(file), minor)
	g.Expect(err).NotTo(HaveOccurred())
	c := leadermigration.Configuration{Manager: manager, Version: leadermigration.OfMinor(minor), Lock: &lock}
	for _, loop := range leadermigration.CloudLoops() {
		g.Expect(c.Place(loop)).To(Equal(leadermigration.MigrationLock), "%s in %s", loop, c)
	}
	g.Expect(c.Place(leadermigration.NodeIPAMLoop)).To(Equal(leadermigration.MainLock))
}

func TestPortableFileIsReadByEveryMinorThatKnowsTheWildcard(t *testing.T) {
	g := NewWithT(t)
	artifacts, _ := leadermigration.Render(
		leadermigration.Plan{From: leadermigration.OfMinor(27), To: leadermigration.OfMinor(28), Provider: "gce"},
	)
	g.Expect(artifacts.Files[kcm]).To(Equal(artifacts.Files[ccm]))
	for _, minor := range leadermigration.Minors() {
		lock, err := leadermigration.Parse([]byte(artifacts.Files[kcm]), minor.Minor)
		if !minor.Wildcard {
			g.Expect(err).To(MatchError(ContainSubstring("is not known to 1.21")))
			continue
		}
		g.Expect(err).NotTo(HaveOccurred(), "1.%d", minor.Minor)
		g.Expect(lock.Loops()).To(Equal([]leadermigration.Loop{"cloud-node-lifecycle", "route", "service"}))
		expectUnderLock(g, artifacts.Files[ccm], ccm, minor.Minor)
	}
}
