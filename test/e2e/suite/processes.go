package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// child is a process of this machine; its start tells it from a later one with the same number.
type child struct {
	pid, parent int
	started     string
	name        string
}

func (c child) String() string { return fmt.Sprintf("%s (%d)", c.name, c.pid) }

// readProcess returns nothing for a process that ended, also when nobody has reaped it yet.
func readProcess(pid int) (child, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return child{}, false
	}
	// The name is in parentheses and may contain anything.
	text := string(stat)
	open, end := strings.Index(text, "("), strings.LastIndex(text, ")")
	fields := strings.Fields(text[end+1:])
	if fields[0] == "Z" || fields[0] == "X" {
		return child{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return child{pid: pid, parent: parent, started: fields[19], name: text[open+1 : end]}, err == nil
}

// descendants are the live processes below one.
func descendants(root int) []child {
	children := map[int][]child{}
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
	var found []child
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, process := range children[next[0]] {
			found = append(found, process)
			next = append(next, process.pid)
		}
	}
	return found
}

// stillAlive are those of the processes that live.
func stillAlive(processes []child) []child {
	return slices.DeleteFunc(slices.Clone(processes), func(before child) bool {
		now, alive := readProcess(before.pid)
		return !alive || now.started != before.started
	})
}

// expectNoneAlive gives the kernel a moment: a signal is delivered after kill returned.
func expectNoneAlive(t *testing.T, processes []child) {
	t.Helper()
	NewWithT(t).Eventually(func() []child { return stillAlive(processes) }).
		WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(BeEmpty())
}

// expectEmptyRegistry: the kubelets remove the entry of each process that ended.
func expectEmptyRegistry(t *testing.T, dir string) {
	t.Helper()
	g := NewWithT(t)
	entries, err := filepath.Glob(filepath.Join(dir, "processes", "*", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(BeEmpty(), "the registry of processes")
}
