package cli

import (
	"bytes"
	"runtime/debug"
	"testing"

	. "github.com/onsi/gomega"
)

func TestVersion(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	report := newVersionReport(&debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.3.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "true"}},
		Deps: []*debug.Module{
			{Path: "k8s.io/client-go", Version: "v0.36.4"}, {Path: "sigs.k8s.io/controller-runtime", Version: "v0.24.1"},
		},
	})
	report.Platform = "linux/amd64"
	g.Expect(report.text(out)).To(Succeed())
	g.Expect(out.String()).To(Equal(`Version               v0.3.0
Commit                0123abc, with changes
Go                    go1.26.8
Platform              linux/amd64
Kubernetes libraries  v0.36.4
controller-runtime    v0.24.1
`))
	out.Reset()
	g.Expect(newVersionReport(&debug.BuildInfo{}).text(out)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("Commit                unknown\n"), "nothing is guessed")
}

func TestTheCommandVersion(t *testing.T) {
	g, out, command := NewWithT(t), &bytes.Buffer{}, Command()
	command.SetOut(out)
	command.SetArgs([]string{"version", "-o", "json"})
	g.Expect(command.Execute()).To(Succeed())
	g.Expect(out.String()).To(And(ContainSubstring(`"go": "go1.`), ContainSubstring(`"platform": "`)))
}
