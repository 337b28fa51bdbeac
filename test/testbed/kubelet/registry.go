package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Entry is a running process as the registry of processes has it, in the file
// <run dir>/processes/<cluster>/<pod>_<container>.json. It is moved to EndedFile
// when the process ended, whatever became of its Pod.
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
	// EndedAt is zero while the process runs.
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// EndedFile in the run dir has a line for each process that ended.
const EndedFile = "ended.jsonl"

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

// deregister moves an entry to those that ended: a reader may see it in both
// places, and never in none.
func deregister(runDir, path string, entry Entry) error {
	content, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("deregister process: %w", err)
	}
	// The kubelets of all clusters append to it, each line with one write.
	file, err := os.OpenFile(filepath.Join(runDir, EndedFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("deregister process: %w", err)
	}
	_, err = file.Write(append(content, '\n'))
	if err := errors.Join(err, file.Close(), os.Remove(path)); err != nil {
		return fmt.Errorf("deregister process: %w", err)
	}
	return nil
}
