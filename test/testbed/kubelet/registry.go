package kubelet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Entry is a running process as the registry of processes has it, in the file
// <run dir>/processes/<cluster>/<pod>_<container>.json. It is removed when the
// process ended, whatever became of its Pod.
type Entry struct {
	PID       int       `json:"pid"`
	Cluster   string    `json:"cluster"`
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	PodUID    string    `json:"podUID"`
	Container string    `json:"container"`
	Image     string    `json:"image"`
	IP        string    `json:"ip"`
	Args      []string  `json:"args"`
	StartedAt time.Time `json:"startedAt"`
}

// register writes an entry and returns its file.
func register(runDir string, entry Entry) (string, error) {
	dir := filepath.Join(runDir, "processes", entry.Cluster)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("register process: %w", err)
	}
	content, err := json.Marshal(entry)
	if err != nil {
		return "", fmt.Errorf("register process: %w", err)
	}
	path := filepath.Join(dir, entry.Pod+"_"+entry.Container+".json")
	// A process that outlives its Pod keeps its entry when a Pod of the same name comes.
	if _, err := os.Stat(path); err == nil {
		path = filepath.Join(dir, fmt.Sprintf("%s_%s.%d.json", entry.Pod, entry.Container, entry.PID))
	}
	// Samplers read at any moment: they see the whole entry or none.
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return "", fmt.Errorf("register process: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", fmt.Errorf("register process: %w", err)
	}
	return path, nil
}
