package leadermigration_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

// TestManagersReadFilesAsParseDoes gives files to the managers: those that Parse refuses they refuse, too, and the others
// they start with.
func TestManagersReadFilesAsParseDoes(t *testing.T) {
	const (
		group = "apiVersion: controllermanager.config.k8s.io/"
		kind  = "\nkind: LeaderMigrationConfiguration\n"
		body  = "leaderName: a\ncontrollerLeaders:\n- name: service-lb-controller\n  component: \"*\"\n"
	)
	files := map[string]string{
		"v1":                       group + "v1" + kind + body,
		"v1-with-resource-lock":    group + "v1" + kind + "resourceLock: leases\n" + body,
		"unknown-field":            group + "v1" + kind + "extra: 1\n" + body,
		"bare-asterisk":            group + "v1" + kind + "leaderName: a\ncontrollerLeaders:\n- name: service\n  component: *\n",
		"v1beta1-without-lock":     group + "v1beta1" + kind + body,
		"resource-lock-configmaps": group + "v1beta1" + kind + "resourceLock: configmaps\n" + body,
		"unknown-version":          group + "v2" + kind + body,
		"another-kind":             "apiVersion: v1\nkind: ConfigMap\n" + body,
		"no-name":                  group + "v1" + kind + "controllerLeaders: []\n",
		"name-in-another-case":     group + "v1" + kind + "leadername: a\n",
		"no-component":             group + "v1" + kind + "leaderName: a\ncontrollerLeaders:\n- name: service\n",
		"empty":                    "",
	}
	maps.Copy(files, renderedFiles())
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, []byte(file))
			_, refused := leadermigration.Parse([]byte(file), minor)
			p := newPair(t, "file-"+name)
			if refused != nil {
				p.expectRefused(kcm, path)
				p.expectRefused(ccm, path)
				return
			}
			p.start(ccm, armedWith(path)...).expectLeading()
		})
	}
}

// renderedFiles are all that differ, of all minors, by who is to read them.
func renderedFiles() map[string]string {
	files := map[string]string{}
	var contents []string
	for from := leadermigration.FirstMinor; from <= minor; from++ {
		for _, to := range []int{from, from + 1} {
			for _, nodeIPAM := range []bool{false, true} {
				artifacts, _ := leadermigration.Render(leadermigration.Plan{
					From: leadermigration.OfMinor(from), To: leadermigration.OfMinor(to), Provider: "gce", NodeIPAM: nodeIPAM, LockName: "read",
				})
				for _, f := range []struct{ of, content string }{{"kcm", artifacts.Files[kcm]}, {"ccm", artifacts.Files[ccm]}} {
					if !slices.Contains(contents, f.content) {
						contents = append(contents, f.content)
						files[fmt.Sprintf("%s-from-1-%d-to-1-%d-ipam-%t", f.of, from, to, nodeIPAM)] = f.content
					}
				}
			}
		}
	}
	return files
}

// writeFile writes a configuration and returns its path.
func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leader-migration.yaml")
	NewWithT(t).Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}

func armedWith(path string) []leadermigration.Flag {
	return []leadermigration.Flag{
		{Name: "--enable-leader-migration", Value: "true"},
		{Name: "--leader-migration-config", Value: path},
	}
}

// expectRefused waits for the end of a manager that does not like its file, and for no other reason.
func (p *pair) expectRefused(component leadermigration.Component, path string) {
	p.t.Helper()
	g := NewWithT(p.t)
	m := p.start(component, armedWith(path)...)
	g.Eventually(m.Done()).WithTimeout(patience).Should(BeClosed(), "%s starts with a file that Parse refuses", component)
	g.Expect(m.ExitCode()).To(Equal(1))
	g.Expect(m.LogTail(10)).To(Or(ContainSubstring("LeaderMigration"), ContainSubstring("leader migration configuration"),
		ContainSubstring("Object 'Kind' is missing"), ContainSubstring("yaml"), ContainSubstring("no kind")))
}
