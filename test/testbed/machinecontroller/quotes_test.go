//go:build realmachinecontroller

package machinecontroller_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	source    = flag.String("source", "", "checkout of the machine-controller")
	sourceOSM = flag.String("osm-source", "", "checkout of the operating-system-manager; empty: its lines are not looked at")
)

// Every line that the table names begins as it says.
func TestRealMachineControllerHasTheFacts(t *testing.T) {
	for _, fact := range facts() {
		checkout, place := *source, fact.source
		if rest, isOSM := strings.CutPrefix(place, "osm:"); isOSM {
			checkout, place = *sourceOSM, rest
		}
		if checkout == "" && place != fact.source {
			continue
		}
		t.Run(fact.real, func(t *testing.T) {
			g := NewWithT(t)
			file, number, _ := strings.Cut(place, ":")
			content, err := os.ReadFile(filepath.Join(checkout, file))
			g.Expect(err).NotTo(HaveOccurred())
			at, err := strconv.Atoi(number)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.TrimSpace(strings.Split(string(content), "\n")[at-1])).To(HavePrefix(fact.quote))
		})
	}
}
