package bed

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// History are all processes that pods have had until now, of a user cluster and of its control plane.
func (u *UserCluster) History() ([]kubelet.Entry, error) {
	// What ends in between is in both.
	running, err := u.bed.Processes("*", "")
	if err != nil {
		return nil, err
	}
	all, err := u.bed.ended()
	if err != nil {
		return nil, err
	}
	for _, entry := range running {
		known := slices.ContainsFunc(all, func(other kubelet.Entry) bool {
			return other.PID == entry.PID && other.StartedAt.Equal(entry.StartedAt)
		})
		if !known {
			all = append(all, entry)
		}
	}
	return slices.DeleteFunc(all, func(entry kubelet.Entry) bool {
		return entry.Cluster != u.Options.Name && (entry.Cluster != ManagementName || entry.Namespace != u.Namespace)
	}), nil
}

// ended are the processes that ended, of all clusters.
func (b *Bed) ended() ([]kubelet.Entry, error) {
	file, err := os.Open(b.File(kubelet.EndedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var entries []kubelet.Entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		entry := kubelet.Entry{}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, lines.Err()
}
