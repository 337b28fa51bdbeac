package chart_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/gomega"
)

// definitions are those of the objects that the chart makes for other projects, in the modules that these publish.
var definitions = []struct {
	module, sum string
	files       []string
}{
	{
		module: "github.com/cert-manager/cert-manager@v1.21.2", sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		files: []string{"deploy/crds/cert-manager.io_certificates.yaml", "deploy/crds/cert-manager.io_issuers.yaml"},
	},
	{
		module: "github.com/prometheus-operator/prometheus-operator@v0.85.0", sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		files: []string{
			"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
			"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
		},
	},
}

// defineOthers applies them.
func (s server) defineOthers() {
	s.t.Helper()
	g, all := NewWithT(s.t), bytes.Buffer{}
	for _, from := range definitions {
		command := exec.CommandContext(s.t.Context(), "go", "mod", "download", "-json", from.module)
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		out, err := command.Output()
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
		var got struct{ Dir, Sum string }
		g.Expect(json.Unmarshal(out, &got)).To(Succeed())
		g.Expect(got.Sum).To(Equal(from.sum), "what is published under this version never changes")
		for _, file := range from.files {
			content, err := os.ReadFile(filepath.Join(got.Dir, file))
			g.Expect(err).NotTo(HaveOccurred())
			all.WriteString("\n---\n")
			all.Write(content)
		}
	}
	s.kubectl(all.Bytes(), "apply", "--server-side", "-f", "-")
}
