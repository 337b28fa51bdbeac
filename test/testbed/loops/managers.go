package loops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Manager is a process of a controller manager. EndedAt is zero while it runs.
type Manager struct {
	Cluster   string
	Component string
	Instance  string
	PID       int
	// Excluded are the cloud loops that its arguments keep it from.
	Excluded  []string
	StartedAt time.Time
	EndedAt   time.Time
}

// InCluster says whether it works for the cluster.
func (m Manager) InCluster(cluster string) bool { return m.Cluster == cluster }

// until is its end, or now.
func (m Manager) until(now time.Time) time.Time {
	if m.EndedAt.IsZero() {
		return now
	}
	return m.EndedAt
}

// ReadManagers returns all that the kubelets of a testbed ever started, from
// their registry in runDir and from what they wrote of processes that ended.
func ReadManagers(runDir, managementCluster string) ([]Manager, error) {
	// What ends in between is in both.
	running, err := readProcesses(filepath.Join(runDir, "processes"))
	if err != nil {
		return nil, err
	}
	all, err := ReadFile(filepath.Join(runDir, "ended.jsonl"), readLines[process])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for file, p := range running {
		if p == nil {
			return nil, fmt.Errorf("%s cannot be read", file)
		}
		ended := slices.ContainsFunc(all, func(other process) bool { return other.PID == p.PID && other.StartedAt.Equal(p.StartedAt) })
		if !ended {
			all = append(all, *p)
		}
	}
	var managers []Manager
	for _, p := range all {
		if p.component() != "" {
			managers = append(managers, Manager{
				Cluster: p.worksFor(managementCluster), Component: p.component(), Instance: p.Pod, PID: p.PID,
				Excluded: p.excluded(), StartedAt: p.StartedAt, EndedAt: p.EndedAt,
			})
		}
	}
	return managers, nil
}
