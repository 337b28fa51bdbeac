package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const (
	password  = "example-only-hunter2"
	cloudConf = "[Global]\nauth-url=https://keystone.example.com/v3\nregion=one\nusername=alpha\npassword=" + password +
		"\ntenant-name=alpha\ndomain-name=Default\n"
	images = "registry.k8s.io/provider-os/cinder-csi-plugin:v1.30.3\n" +
		"registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.3\nregistry.k8s.io/sig-storage/csi-attacher"
)

// execute runs a command line with buffers.
func execute(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	command := cli.Command()
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&errs)
	code = terminal.ExitCode(command.Execute())
	return out.String(), errs.String(), code
}

// configs are the same cloud configuration in each form that the command reads.
func configs(t *testing.T) map[string]string {
	t.Helper()
	g, dir := NewWithT(t), t.TempDir()
	forms := map[string]string{
		"a file":              filepath.Join(dir, "some.ini"),
		"a folder":            filepath.Join(dir, "folder"),
		"a Secret's manifest": filepath.Join(dir, "secret.yaml"),
	}
	g.Expect(os.Mkdir(forms["a folder"], 0o700)).To(Succeed())
	manifest := "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  cloud.conf: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(cloudConf), "\n", "\n    ") + "\n"
	for path, content := range map[string]string{
		forms["a file"]: cloudConf, filepath.Join(forms["a folder"], "cloud.conf"): cloudConf, forms["a Secret's manifest"]: manifest,
	} {
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	}
	return forms
}

func TestRenderReadsEveryFormOfTheConfigurationAndHidesIt(t *testing.T) {
	var first string
	for name, path := range configs(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stdout, stderr, code := execute("render", "--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", path)
			g.Expect(stderr).To(BeEmpty())
			g.Expect(code).To(Equal(0))
			g.Expect(stdout).To(
				And(
					ContainSubstring("kind: Deployment"),
					ContainSubstring("hidden: render with --show-secrets"),
					Not(ContainSubstring(password)),
				),
			)
			if first != "" {
				g.Expect(stdout).To(Equal(first), "the form makes no difference")
			}
			first = stdout
		})
	}
}

func TestRenderPlacement(t *testing.T) {
	config, onInstance := configs(t)["a file"], filepath.Join(t.TempDir(), "cloud.conf")
	NewWithT(t).Expect(
		os.WriteFile(onInstance, []byte("[Global]\nZone=eu-central-1a\nKubernetesClusterID=a\n"), 0o600),
	).To(Succeed())
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"a CCM beside the control plane": {
			args: []string{
				"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--placement", "ControlPlane",
				"--namespace", "user-a", "--name", "a",
			},
			stdout: "    ccm-migration.k8c.io/cluster: a\n  name: a-openstack-cloud-controller-manager\n  namespace: user-a\n",
		},
		"a configuration that lacks what a CCM beside the control plane needs": {
			args: []string{"--provider", "aws", "--kubernetes", "1.30", "--cloud-config", onInstance, "--placement", "ControlPlane"},
			code: 1, stderr: "lacks VPC",
		},
		"a place that is none": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--placement", "Elsewhere"},
			code: 2, stderr: "none of UserCluster and ControlPlane",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stdout, stderr, code := execute(append([]string{"render"}, tc.args...)...)
			g.Expect(code).To(Equal(tc.code), stderr)
			g.Expect(stdout).To(ContainSubstring(tc.stdout))
			g.Expect(stderr).To(ContainSubstring(tc.stderr))
		})
	}
}

func TestRender(t *testing.T) {
	config := configs(t)["a file"]
	broken := filepath.Join(t.TempDir(), "cloud.conf")
	NewWithT(t).Expect(os.WriteFile(broken, []byte("[Global]\npassword="+password+"\n"), 0o600)).To(Succeed())
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"images are listed once, sorted": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30.14", "--cloud-config", config, "--images"}, stdout: images,
		},
		"images are listed without a configuration": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30.14", "--images"}, stdout: images,
		},
		"JSON is a list": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "-o", "json"}, stdout: `"kind": "List"`,
		},
		"routes go on when KCM ran them": {
			args: []string{
				"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--routes", "--cluster-cidr", "10.0.0.0/8",
			},
			stdout: "- --configure-cloud-routes=true",
		},
		"values are shown to whoever asks for them": {
			args:   []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "--show-secrets"},
			stdout: "cloud.conf: W0dsb2Jh",
		},
		"a provider that is not in the catalogue": {
			args: []string{"--provider", "cloudy", "--kubernetes", "1.30", "--cloud-config", config}, code: 2,
			stderr: `"cloudy" is not in the catalogue; it has`,
		},
		"a minor that is not in the catalogue": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.23", "--cloud-config", config}, code: 1,
			stderr: "for Kubernetes 1.23 in the catalogue",
		},
		"a version that is none": {
			args: []string{"--provider", "openstack", "--kubernetes", "new", "--cloud-config", config}, code: 1,
			stderr: "write it like 1.30.14",
		},
		"a file that is not there": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config + "x"}, code: 1,
			stderr: "no such file",
		},
		"a configuration that lacks something": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", broken}, code: 1, stderr: "lacks auth-url",
		},
		"a format that is none": {
			args: []string{"--provider", "openstack", "--kubernetes", "1.30", "--cloud-config", config, "-o", "toml"}, code: 2,
			stderr: "it is one of yaml, json",
		},
		"nothing to render": {code: 2, stderr: "are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stdout, stderr, code := execute(append([]string{"render"}, tc.args...)...)
			g.Expect(code).To(Equal(tc.code), stderr)
			g.Expect(stdout).To(ContainSubstring(tc.stdout))
			g.Expect(stderr).To(And(ContainSubstring(tc.stderr), Not(ContainSubstring(password))))
		})
	}
}

func TestVersions(t *testing.T) {
	g := NewWithT(t)
	stdout, _, code := execute("versions", "--provider", "openstack")
	g.Expect(code).To(Equal(0))
	g.Expect(stdout).To(
		And(MatchRegexp(`1\.25 +v1\.25\.6 +v1\.25\.6 +-\n`), MatchRegexp(`1\.26 .* in-tree: create, upgrade, migrate \[2\]\n`),
			ContainSubstring("[2] Kubernetes 1.25 is the last with the in-tree provider openstack")),
	)
	stdout, _, code = execute("versions", "--provider", "simcloud")
	g.Expect(code).To(Equal(0))
	g.Expect(stdout).To(MatchRegexp(`1\.29 +v1\.29\.15 +v1\.29\.15 +-\n1\.30 +v1\.30\.14 +v1\.30\.14 +-\n`))
	_, stderr, code := execute("versions")
	g.Expect(code).To(Equal(2))
	g.Expect(stderr).To(ContainSubstring("is not in the catalogue; it has"))
}
