package controlplane

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// FuzzCommandLine: a change of a command line that is understood sets what it says and leaves all else as it was, and a second
// one is none.
func FuzzCommandLine(f *testing.F) {
	for _, seed := range []struct{ command, args, variable string }{
		{"kube-controller-manager\n--controllers=*,-service\n--cloud-provider=openstack", "", ""},
		{"kube-controller-manager", "--controllers\n*\n--v=2\n--leader-elect", ""},
		{"/usr/local/bin/http-prober", "-endpoint=https://a\n-command={\"command\":\"kcm\",\"args\":[\"--controllers\",\"*\"]}", ""},
		{"sh\n-c", "exec kube-controller-manager --controllers=*", ""},
		{"", "--controllers=$(LIST)\n--cloud-config=$$(A)", "*,$(B)"},
		{"hyperkube\nkube-controller-manager", "-controllers=*\n--controllers=-route\n--", "x"},
	} {
		f.Add(seed.command, seed.args, seed.variable)
	}
	f.Fuzz(func(t *testing.T, command, args, variable string) {
		if !utf8.ValidString(command + args + variable) {
			return // An API server has no such text.
		}
		const value = "*,-service-lb-controller"
		g := NewWithT(t)
		container := &corev1.Container{
			Name:    "kcm",
			Command: words(command),
			Args:    words(args),
			Env:     []corev1.EnvVar{{Name: "LIST", Value: variable}},
		}
		before := ParseArguments(container)
		change := outcome.ArgumentChange{Set: []outcome.Flag{{Name: "--controllers", Value: value}}, Remove: []string{"cloud-config"}}
		var err error
		container.Command, container.Args, err = Change(container, change)
		if err != nil {
			return
		}
		g.Expect(before.Understood()).To(BeTrue(), before.Problem)
		after := ParseArguments(container)
		g.Expect(after.Understood()).To(BeTrue(), after.Problem)
		want := maps.Clone(before.Flags)
		want["controllers"] = value
		delete(want, "cloud-config")
		g.Expect(after.Flags).To(Equal(want))
		again, more, err := Change(container, change)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect([][]string{again, more}).To(Equal([][]string{container.Command, container.Args}))
	})
}

func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
