package usercluster

import (
	"fmt"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// maxKubeconfig is ten times what a kubeconfig with embedded certificates has.
	maxKubeconfig = 128 << 10
	// maxKubeconfigDepth is three times the depth of a kubeconfig with a plugin and its extensions.
	maxKubeconfigDepth = 32

	unparsable = "cannot be parsed: put the YAML of a kubeconfig there"
)

// loadKubeconfig refuses what would take much more memory than its bytes: the parser of client-go copies what an alias stands for
// to each place, so that 160 KB of them take all that the manager has, and the whole fleet with it. The tree that is looked at
// before has an alias as a pointer.
func loadKubeconfig(data []byte) (*clientcmdapi.Config, error) {
	if len(data) > maxKubeconfig {
		return nil, invalid(
			fmt.Sprintf("has more than %d KiB: put one context there, with its cluster and its user", maxKubeconfig>>10),
		)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, invalid(unparsable)
	}
	if problem := reads.YAMLProblem(&document, maxKubeconfigDepth); problem != "" {
		return nil, invalid(problem)
	}
	file, err := clientcmd.Load(data)
	if err != nil {
		return nil, invalid(unparsable)
	}
	return file, nil
}
