package loops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	kubeControllerManager  = "kube-controller-manager"
	cloudControllerManager = "cloud-controller-manager"
	userNamespacePrefix    = "user-"
)

// process is what a kubelet of the testbed registers of a running container.
type process struct {
	PID       int      `json:"pid"`
	Cluster   string   `json:"cluster"`
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Image     string   `json:"image"`
	IP        string   `json:"ip"`
	Args      []string `json:"args"`
	// EndedAt is zero while it runs.
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt"`
}

// component is empty for a process that is no controller manager.
func (p process) component() string {
	for _, name := range []string{manifest.ImageName(p.Image), p.Container} {
		if name == kubeControllerManager || name == cloudControllerManager {
			return name
		}
	}
	return ""
}

// worksFor is the user cluster whose control plane the process belongs to.
func (p process) worksFor(managementCluster string) string {
	if user, found := strings.CutPrefix(p.Namespace, userNamespacePrefix); found && p.Cluster == managementCluster {
		return user
	}
	return p.Cluster
}

func (p process) port() string {
	port := map[string]string{kubeControllerManager: "10257", cloudControllerManager: "10258"}[p.component()]
	for _, arg := range p.Args {
		if value, found := strings.CutPrefix(arg, "--secure-port="); found {
			port = value
		}
	}
	return port
}

// excluded are the cloud loops that a process cannot run by its own arguments: a
// KCM needs an in-tree provider for them, and its --controllers may leave them
// out, by names that are longer from 1.28 on.
func (p process) excluded() []string {
	inTree, left := p.component() == cloudControllerManager, []string(nil)
	for _, arg := range p.Args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--cloud-provider":
			inTree = inTree || value != "" && value != "external"
		case "--controllers":
			left = strings.Split(value, ",")
		}
	}
	names := map[string][]string{
		"service": {"-service", "-service-lb-controller"}, "route": {"-route", "-node-route-controller"},
		"cloud-node-lifecycle": {"-cloud-node-lifecycle", "-cloud-node-lifecycle-controller"},
	}
	return slices.DeleteFunc(CloudLoops(), func(loop string) bool {
		return inTree && !slices.Contains(left, names[loop][0]) && !slices.Contains(left, names[loop][1])
	})
}

// readProcesses reads the registry by file name. A file that cannot be read or
// is half written has a nil process: that is no sign that its process ended.
func readProcesses(dir string) (map[string]*process, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list processes in %s: %w", dir, err)
	}
	processes := map[string]*process{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		processes[file] = nil
		var p process
		if err == nil && json.Unmarshal(text, &p) == nil {
			processes[file] = &p
		}
	}
	return processes, nil
}
