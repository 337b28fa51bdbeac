package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// programs makes a directory with empty programs.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name), nil, 0o755)).To(Succeed())
	}
	return dir
}

func TestProgramOf(t *testing.T) {
	bin := programs(t, "etcd", "kube-controller-manager")
	NewWithT(t).Expect(os.Mkdir(filepath.Join(bin, "folder"), 0o755)).To(Succeed())
	NewWithT(t).Expect(os.CopyFS(filepath.Join(bin, "v2"), os.DirFS(programs(t, "etcd")))).To(Succeed())
	releases := filepath.Join(bin, "releases")
	for _, release := range []string{"1.29.15", "2"} {
		NewWithT(t).Expect(os.CopyFS(filepath.Join(releases, release), os.DirFS(programs(t, "etcd")))).To(Succeed())
	}
	tests := map[string]struct {
		image, releases, want string
	}{
		"an image that names a program is a process image": {image: "registry.example/any/thing/etcd:3.5", want: "etcd"},
		"a program of the image's version is taken first":  {image: "registry.example/etcd:v2", want: "v2/etcd"},
		"that of another release before it": {
			image: "registry.example/etcd:v2", releases: releases, want: "releases/2/etcd",
		},
		"also where no folder has the tag": {
			image: "registry.example/etcd:v1.29.15", releases: releases, want: "releases/1.29.15/etcd",
		},
		"a release that is not there": {image: "registry.example/etcd:v1.30.14", releases: releases, want: "etcd"},
		"a program that a release does not have": {
			image: "registry.example/kube-controller-manager:v1.29.15", releases: releases, want: "kube-controller-manager",
		},
		"a digest does not matter": {image: "registry.example/etcd:1@sha256:" +
			strings.Repeat("0", 64), want: "etcd"},
		"neither does a missing tag": {
			image: "registry.example/x/kube-controller-manager",
			want:  "kube-controller-manager",
		},
		"an image that names no program is faked":                  {image: "registry.example/any/nginx:1"},
		"an image of a real registry is faked whatever it is":      {image: "registry.k8s.io/etcd:3.5"},
		"an image without a registry is faked":                     {image: "etcd:3.5"},
		"a folder is no program":                                   {image: "registry.example/folder:1"},
		"an image without a name does not stand for the directory": {image: "registry.example/:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := test.want
			if want != "" {
				want = filepath.Join(bin, want)
			}
			NewWithT(t).Expect(programOf(bin, test.releases, test.image)).To(Equal(want))
		})
	}
}

func TestCommandLine(t *testing.T) {
	bin := programs(t, "server", "other")
	env := []corev1.EnvVar{{Name: "POD_IP", Value: "127.2.0.10"}, {Name: "LEVEL", Value: "1"}, {Name: "LEVEL", Value: "2"}}
	tests := map[string]struct {
		command, args []string
		program       string
		want          []string
		fails         bool
	}{
		"without a command the image's program gets the arguments": {
			args: []string{
				"--bind-address=$(POD_IP)",
				"-v=$(LEVEL)",
			},
			program: "server",
			want:    []string{"--bind-address=127.2.0.10", "-v=2"},
		},
		"a command may have the path that it has in the real image": {
			command: []string{
				"/usr/local/bin/other",
				"run",
				"$(POD_IP)",
			},
			args:    []string{"x"},
			program: "other",
			want:    []string{"run", "127.2.0.10", "x"},
		},
		"a command of the host is refused": {command: []string{"/bin/sh", "-c", "true"}, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			container := &corev1.Container{Command: test.command, Args: test.args}
			program, args, err := commandLine(bin, filepath.Join(bin, "server"), container, env)
			if test.fails {
				g.Expect(err).To(MatchError(ContainSubstring("no program of the testbed")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(program).To(Equal(filepath.Join(bin, test.program)))
			g.Expect(args).To(Equal(test.want))
		})
	}
}

func TestExpand(t *testing.T) {
	values := map[string]string{"A": "1", "B": "$(A)"}
	tests := map[string]struct {
		text, want string
	}{
		"a known name is replaced":                  {text: "x-$(A)-y$(A)", want: "x-1-y1"},
		"an unknown name stays":                     {text: "$(C)/$(A)", want: "$(C)/1"},
		"two dollar signs are one":                  {text: "$$(A) $$$(A)", want: "$(A) $1"},
		"what a value contains is not looked at":    {text: "$(B)", want: "$(A)"},
		"a dollar sign alone stays":                 {text: "5$ $", want: "5$ $"},
		"a reference that is never closed stays":    {text: "$(A", want: "$(A"},
		"text without references stays as it was":   {text: "plain", want: "plain"},
		"shell syntax means nothing here":           {text: "${A} $A", want: "${A} $A"},
		"an empty text stays empty":                 {text: "", want: ""},
		"a reference right after another one works": {text: "$(A)$(A)", want: "11"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(expand(test.text, values)).To(Equal(test.want))
		})
	}
}
