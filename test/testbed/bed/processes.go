package bed

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

// ReadProcess reads an entry of the registry of processes.
func ReadProcess(path string) (kubelet.Entry, error) {
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return kubelet.Entry{}, err
	}
	entry := kubelet.Entry{}
	return entry, json.Unmarshal(content, &entry)
}

// Processes are the running process pods of a cluster whose names begin so.
func (b *Bed) Processes(cluster, pod string) ([]kubelet.Entry, error) {
	paths, err := filepath.Glob(b.File("processes", cluster, pod+"*.json"))
	if err != nil {
		return nil, err
	}
	var entries []kubelet.Entry
	for _, path := range paths {
		// One that ended in between is none.
		if entry, err := ReadProcess(path); err == nil {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}
