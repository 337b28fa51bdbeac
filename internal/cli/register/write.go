package register

import (
	"fmt"
	"io"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/registration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// report is what the command prints.
type report struct {
	From      registration.Platform   `json:"from"`
	Namespace string                  `json:"namespace,omitempty"`
	Proposals []registration.Proposal `json:"-"`
}

// proposed is a proposal with its manifest, for a script.
type proposed struct {
	registration.Proposal
	// Missing fields: without some of them the API server refuses the Cluster.
	Missing []string       `json:"missing,omitempty"`
	Cluster map[string]any `json:"cluster,omitempty"`
}

func write(out io.Writer, format string, made report) error {
	if format == "json" {
		list := []proposed{}
		for _, one := range made.Proposals {
			list = append(list, proposed{Proposal: one, Missing: one.Missing(), Cluster: one.Manifest()})
		}
		return terminal.Write(out, format, struct {
			report
			Proposals []proposed `json:"proposals"`
		}{made, list}, nil)
	}
	text, err := documents(made)
	if err != nil {
		return err
	}
	_, err = io.WriteString(terminal.Output{Writer: out}, text)
	return err
}

// documents are the manifests behind a comment that says what was not proposed.
func documents(made report) (string, error) {
	var documents []string
	refused := strings.Builder{}
	for _, one := range made.Proposals {
		document, err := one.YAML()
		if err != nil {
			return "", err
		}
		if one.Refused != "" {
			refused.WriteString("#\n" + document)
			continue
		}
		documents = append(documents, document)
	}
	where := "in namespace " + made.Namespace
	if made.Namespace == "" {
		where = "in all namespaces"
	}
	heading := fmt.Sprintf("# register --from=%s, %s: %s proposed, %d not. Nothing was applied.\n", made.From, where,
		wording.Count(len(documents), "Cluster", "Clusters"), len(made.Proposals)-len(documents))
	if len(made.Proposals) == 0 {
		heading += "# No Deployment there runs kube-controller-manager.\n"
	}
	if len(documents) > 0 {
		heading += "# From says where a value comes from, Check what to look at before you apply it. A field with Missing is not\n" +
			"# set: fill it in. The API server refuses a Cluster without version, provider or cloud configuration.\n"
	}
	return strings.Join(append([]string{heading + refused.String()}, documents...), "---\n"), nil
}
