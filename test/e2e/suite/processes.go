package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Child is a process of this machine; its start tells it from a later one with the same number.
type Child struct {
	pid, parent int
	started     string
	// Name of its program, as the kernel cuts it off.
	Name string
}

func (c Child) String() string { return fmt.Sprintf("%s (%d)", c.Name, c.pid) }

// readProcess returns nothing for a process that ended, also when it has not been reaped yet.
func readProcess(pid int) (Child, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return Child{}, false
	}
	// The name is in parentheses and may contain anything.
	text := string(stat)
	open, end := strings.Index(text, "("), strings.LastIndex(text, ")")
	fields := strings.Fields(text[end+1:])
	if fields[0] == "Z" || fields[0] == "X" {
		return Child{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return Child{pid: pid, parent: parent, started: fields[19], Name: text[open+1 : end]}, err == nil
}

// Descendants are the live processes below one.
func Descendants(root int) []Child {
	children := map[int][]Child{}
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if process, alive := readProcess(pid); alive {
			children[process.parent] = append(children[process.parent], process)
		}
	}
	var found []Child
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, process := range children[next[0]] {
			found = append(found, process)
			next = append(next, process.pid)
		}
	}
	return found
}

// stillAlive are those of the processes that live.
func stillAlive(processes []Child) []Child {
	return slices.DeleteFunc(slices.Clone(processes), func(before Child) bool {
		now, alive := readProcess(before.pid)
		return !alive || now.started != before.started
	})
}

// ExpectNoneAlive gives the kernel a moment: a signal is delivered after kill returned.
func ExpectNoneAlive(processes []Child) {
	GinkgoHelper()
	Eventually(func() []Child { return stillAlive(processes) }).
		WithTimeout(killTime).WithPolling(100 * time.Millisecond).Should(BeEmpty())
}

// ExpectEmptyRegistry of processes: the kubelets remove the entry of each that ended.
func ExpectEmptyRegistry(dir string) {
	GinkgoHelper()
	entries, err := filepath.Glob(filepath.Join(dir, "processes", "*", "*"))
	Expect(err).NotTo(HaveOccurred())
	Expect(entries).To(BeEmpty(), "the registry of processes")
}
