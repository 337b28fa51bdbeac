package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// view runs a shell script in namespaces of its own and returns what it printed.
func view(t *testing.T, script string, namespaces process.Namespaces) (int, string) {
	t.Helper()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	namespaces.Shim = []string{self, "shim"}
	namespaces.Staging = filepath.Join(t.TempDir(), "staging")
	g.Expect(os.Mkdir(namespaces.Staging, 0o755)).To(Succeed())
	log := filepath.Join(t.TempDir(), "log")
	child, err := newSupervisor(t).Start(process.Options{
		Command: "/bin/sh", Args: []string{"-c", script}, LogFile: log, Namespaces: &namespaces,
	})
	g.Expect(err).NotTo(HaveOccurred())
	code, err := child.Wait(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(log)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadDir(namespaces.Staging)).To(BeEmpty(), "the staging directory stays empty on the host")
	return code, strings.TrimSpace(string(content))
}

func TestShimSetsTheHostname(t *testing.T) {
	g := NewWithT(t)
	before, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	code, output := view(t, "hostname", process.Namespaces{Hostname: "kube-controller-manager-0"})
	g.Expect(output).To(Equal("kube-controller-manager-0"))
	g.Expect(code).To(BeZero())
	g.Expect(os.Hostname()).To(Equal(before))
}

func TestShimMounts(t *testing.T) {
	outside := t.TempDir()
	tests := map[string]struct {
		targets []string
		file    bool
		also    string
	}{
		"a target that exists is covered": {
			targets: []string{outside},
		},
		"a target below an existing directory appears, and its siblings stay": {
			targets: []string{"/etc/testbed-absent/cloud"}, also: "/etc/passwd",
		},
		"a target below the root appears, and its siblings stay": {
			targets: []string{"/testbed-absent"}, also: "/etc/passwd",
		},
		"a target below a directory that is a symbolic link appears": {
			targets: []string{"/var/run/testbed-absent/serviceaccount"}, also: "/etc/passwd",
		},
		"a target next to the volumes themselves appears": {
			targets: []string{filepath.Join(filepath.Dir(outside), "absent", "deep")},
		},
		"targets below each other and side by side all appear": {
			targets: []string{"/etc/testbed-absent/b", "/etc/testbed-absent", "/etc/testbed-absent/a/deep", "/testbed-a", "/testbed-b/c"},
			also:    "/etc/passwd",
		},
		"a single file is shown as a file": {
			targets: []string{"/etc/testbed-absent/cloud.conf", "/etc/testbed-absent/other.conf"}, file: true, also: "/etc/passwd",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var namespaces process.Namespaces
			script := "set -e\n"
			for _, target := range test.targets {
				bind, inside := volume(t, target, test.file)
				namespaces.Binds = append(namespaces.Binds, bind)
				script += "cat " + inside + "\n"
			}
			if test.also != "" {
				script += "test -s " + test.also + "\n"
			}
			code, output := view(t, script, namespaces)
			g.Expect(strings.Split(output, "\n")).To(Equal(test.targets))
			g.Expect(code).To(BeZero())
			for _, target := range test.targets {
				if target != outside {
					g.Expect(target).NotTo(BeAnExistingFile(), "nothing is written on the host")
				}
			}
		})
	}
}

// volume makes a directory, or a file, that contains the path where it is to be
// shown, and returns the path of that content inside.
func volume(t *testing.T, target string, file bool) (process.Bind, string) {
	t.Helper()
	source := t.TempDir()
	content := filepath.Join(source, "content")
	NewWithT(t).Expect(os.WriteFile(content, []byte(target+"\n"), 0o600)).To(Succeed())
	if file {
		return process.Bind{Source: content, Target: target}, target
	}
	return process.Bind{Source: source, Target: target}, filepath.Join(target, "content")
}

func TestShimWritesReachTheVolume(t *testing.T) {
	g := NewWithT(t)
	data := t.TempDir()
	code, output := view(t, "echo written > /testbed-absent/data/file", process.Namespaces{
		Binds: []process.Bind{{Source: data, Target: "/testbed-absent/data"}},
	})
	g.Expect(output).To(BeEmpty())
	g.Expect(code).To(BeZero())
	g.Expect(os.ReadFile(filepath.Join(data, "file"))).To(BeEquivalentTo("written\n"))
}

func TestRunShimRefusesWrongArguments(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no command":                {args: []string{"--hostname=x", "--"}, want: "no command"},
		"a bind without staging":    {args: []string{"--bind=/a:/b", "--", "true"}, want: "--staging"},
		"a bind without target":     {args: []string{"--bind=/a", "--", "true"}, want: "SRC:DST"},
		"a bind to a relative path": {args: []string{"--bind=/a:b", "--", "true"}, want: "absolute"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(process.RunShim(test.args)).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
