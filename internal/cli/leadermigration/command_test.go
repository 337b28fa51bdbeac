package leadermigration_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

// leaderMigration runs the command with buffers; no argument of it has spaces.
func leaderMigration(line string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	command := cli.Command()
	command.SetArgs(append([]string{"leader-migration"}, strings.Fields(line)...))
	command.SetOut(&out)
	command.SetErr(&errs)
	code = terminal.ExitCode(command.Execute())
	return out.String(), errs.String(), code
}

// lockFile writes a configuration and returns its path.
func lockFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock.yaml")
	NewWithT(t).Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	return path
}

func TestWhatRenderPrintsIsAFile(t *testing.T) {
	g := NewWithT(t)
	stdout, stderr, code := leaderMigration("render --from 1.29.3 --to 1.30.1 --provider gce --lock-name cloud-loops")
	g.Expect(code).To(Equal(0))
	g.Expect(stderr).To(BeEmpty())
	g.Expect(stdout).To(ContainSubstring("# KCM 1.29.3: --leader-elect=true --enable-leader-migration=true"))
	lock, err := leadermigration.Parse([]byte(stdout), 29)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lock.Name).To(Equal("cloud-loops"))
	stdout, _, code = leaderMigration("check --from 1.29.3 --to 1.30.1 --provider gce --apiserver 1.30.1 " + lockFile(t, stdout))
	g.Expect(code).To(Equal(0))
	g.Expect(stdout).To(Equal("0 errors, 0 warnings\n"))
}

func TestRenderWritesFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		plan  string
		files []string
	}{
		"one file for both managers": {"--from 1.29 --to 1.30 --provider gce", []string{"ccm.flags", "kcm-afterwards.flags", "kcm.flags", "leader-migration.yaml"}},
		"a file for each manager, because 1.21 knows no wildcard": {
			"--from 1.21 --to 1.22 --provider openstack", []string{
				"ccm.flags", "kcm-afterwards.flags", "kcm.flags", "leader-migration-ccm.yaml", "leader-migration-kcm.yaml",
			},
		},
		"nothing where there is an error": {"--from 1.30 --to 1.31 --provider azure", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "new", "lock")
			stdout, _, code := leaderMigration("render " + tc.plan + " --output-dir " + dir)
			g.Expect(stdout).To(BeEmpty())
			entries, err := os.ReadDir(dir)
			if tc.files == nil {
				g.Expect(code).To(Equal(3))
				g.Expect(err).To(MatchError(os.ErrNotExist))
				return
			}
			g.Expect(code).To(Equal(0))
			var names []string
			for _, entry := range entries {
				names = append(names, entry.Name())
			}
			g.Expect(names).To(Equal(tc.files))
			flags, err := os.ReadFile(filepath.Join(dir, "ccm.flags"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(flags)).To(HavePrefix("--leader-elect=true\n--enable-leader-migration=true\n"))
		})
	}
}

func TestWhatIsWrittenForPrograms(t *testing.T) {
	const (
		good = " --from 1.30 --to 1.30 --provider simcloud"
		bad  = " --from 1.30 --to 1.31 --provider azure"
	)
	for name, tc := range map[string]struct {
		line string
		keys []string
		code int
	}{
		"render":                       {"render" + good, []string{"files", "kcm", "ccm", "kcmAfterwards", "kcmAfterwardsWithout", "violations"}, 0},
		"explain":                      {"explain" + good, []string{"steps", "why", "later", "flags", "provider", "violations"}, 0},
		"explain without an objection": {"explain --from 1.29 --to 1.30 --provider gce", []string{"steps", "why", "later", "flags", "provider", "violations"}, 0},
		"check":                        {"check --kcm 1.29=off", []string{"errors", "warnings", "violations"}, 0},
		"check with an error":          {"check --kcm 1.29=default", []string{"errors", "warnings", "violations"}, 3},
		"render with an error":         {"render" + bad, []string{"violations"}, 3},
		"explain with an error":        {"explain" + bad, []string{"steps", "why", "later", "flags", "provider", "violations"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var fromJSON, fromYAML map[string]any
			stdout, _, code := leaderMigration(tc.line + " -o json")
			g.Expect(code).To(Equal(tc.code))
			g.Expect(json.Unmarshal([]byte(stdout), &fromJSON)).To(Succeed())
			stdout, _, code = leaderMigration(tc.line + " -o yaml")
			g.Expect(code).To(Equal(tc.code))
			g.Expect(yaml.Unmarshal([]byte(stdout), &fromYAML)).To(Succeed())
			g.Expect(fromYAML).To(Equal(fromJSON))
			for _, key := range tc.keys {
				g.Expect(fromJSON).To(HaveKey(key))
			}
			g.Expect(fromJSON).To(HaveLen(len(tc.keys)))
			g.Expect(fromJSON["violations"]).NotTo(BeNil(), "an empty list, not null")
		})
	}
}

func TestExplainTellsTheStory(t *testing.T) {
	g := NewWithT(t)
	stdout, stderr, code := leaderMigration("explain --from 1.25 --to 1.26 --provider aws --config-path /lock.yaml")
	g.Expect(code).To(Equal(0))
	g.Expect(stderr).To(BeEmpty())
	for _, text := range []string{
		"From KCM 1.25 to CCM 1.26, provider aws", " 1. Let the identities", "--leader-migration-config=/lock.yaml",
		"KCM 1.26 is the last that knows it", "kube-controller-manager   feature gate ControllerManagerLeaderMigration          " +
			"deprecated  deprecated",
		"1.27: kube-controller-manager does not start with feature gate ControllerManagerLeaderMigration.",
	} {
		g.Expect(stdout).To(ContainSubstring(text))
	}
}

func TestCheckJudgesFiles(t *testing.T) {
	good := "apiVersion: controllermanager.config.k8s.io/v1beta1\nkind: LeaderMigrationConfiguration\nleaderName: " +
		"a\nresourceLock: leases\ncontrollerLeaders:\n"
	for _, name := range []string{"service-lb-controller", "node-route-controller", "cloud-node-lifecycle-controller"} {
		good += "- name: " + name + "\n  component: \"*\"\n"
	}
	for name, tc := range map[string]struct {
		line string
		code int
		says []string
	}{
		"a hand-over to the next minor": {
			"--kcm 1.29.3=FILE --kcm 1.30.1=off --ccm 1.30.1=FILE --apiserver 1.29.3 --apiserver 1.30.1", 0,
			[]string{"0 errors, 0 warnings"},
		},
		"a hand-over within one minor": {"--kcm 1.30=FILE --ccm 1.30=FILE", 3, []string{"error: OneManager"}},
		"a hand-over within one minor that is meant": {
			"--kcm 1.30=FILE --ccm 1.30=FILE --in-place", 0, []string{"warning: OneManager", "0 errors, 1 warning"},
		},
		"a hand-over within one minor that is spelled out": {"--from 1.30 --to 1.30 FILE", 0, []string{"0 errors, 1 warning"}},
		"upstream's default": {
			"--kcm 1.29=default --ccm 1.30=default", 3, []string{"error: RunsOnce", "loops:    route, service", "5 errors, 0 warnings"},
		},
		"a name that another Lease has":   {"--kcm 1.29=FILE --lease a", 3, []string{"error: UniqueName"}},
		"a CCM that ignores the lock":     {"--from 1.28 --to 1.29 --provider azure FILE FILE", 3, []string{"error: HonouredLock"}},
		"a CCM that is too new":           {"--kcm 1.29=FILE --ccm 1.30=FILE --apiserver 1.29", 3, []string{"error: Skew"}},
		"a file that 1.21 does not read":  {"--kcm 1.21=FILE", 3, []string{"error: ReadableFile", "is not known to 1.21", "releases: kube-controller-manager 1.21"}},
		"a release that no one knows yet": {"--ccm 1.99=FILE", 3, []string{"error: KnownVersion"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stdout, _, code := leaderMigration("check " + strings.ReplaceAll(tc.line, "FILE", lockFile(t, good)))
			g.Expect(code).To(Equal(tc.code), stdout)
			for _, text := range tc.says {
				g.Expect(stdout).To(ContainSubstring(text))
			}
		})
	}
}

func TestWrongInputHasAClearError(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		code int
		says string
	}{
		"an unknown flag":               {"render --form 1.29", 2, "unknown flag: --form"},
		"a missing flag":                {"render --from 1.29 --to 1.30", 2, "--from, --to and --provider are needed"},
		"a version that is none":        {"explain --from 1.x --to 1.30 --provider gce", 2, "--from: \"1.x\" is no version"},
		"an API server that is none":    {"render --from 1.29 --to 1.30 --provider gce --apiserver x", 2, "--apiserver"},
		"an output that is none":        {"check -o xml", 2, "it is one of text, json, yaml"},
		"an argument too many":          {"render x", 2, "unknown command"},
		"nothing to check":              {"check", 2, "nothing to check"},
		"a release without a file":      {"check --kcm 1.29", 2, "is not of the form VERSION=FILE"},
		"a release that cannot be read": {"check --kcm new=off", 2, "\"new\" is no version"},
		"both ways of naming files":     {"check --kcm 1.29=off --from 1.29 --to 1.30 x", 2, "give either"},
		"a hand-over without a file":    {"check --from 1.29 --to 1.30", 2, "one or two files"},
		"a file that is not there": {"check --kcm 1.29=/no/such/file", 1, "read the file of kube-controller-manager " +
			"1.29: open /no/such/file"},
		"a directory that cannot be made": {"render --from 1.29 --to 1.30 --provider gce --output-dir /dev/null/x", 1, "make the output directory"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, stderr, code := leaderMigration(tc.line)
			g.Expect(code).To(Equal(tc.code))
			g.Expect(stderr).To(ContainSubstring(tc.says))
		})
	}
}
