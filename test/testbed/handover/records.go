package handover

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// Event is a line of events.jsonl: what was done to the user cluster, noted before it is done, or what a watch saw there.
type Event struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	Name  string    `json:"name,omitempty"`
}

// The events. The first ones are done by us, those behind NodeGone are seen.
const (
	Flipped        = "Flipped"
	ServiceCreated = "ServiceCreated"
	ServiceDeleted = "ServiceDeleted"
	NodeAdded      = "NodeAdded"
	NodeRemoved    = "NodeRemoved"
	NodeKilled     = "NodeKilled"
	Disturbed      = "Disturbed"
	// Upgraded: the owner gives a component of the control plane, or spec.version, the next release.
	Upgraded     = "Upgraded"
	PersonBegins = "PersonBegins"
	PersonEnds   = "PersonEnds"
	// KCMDiffers says in what KCM's Deployment is not as it was before a migration that is rolled back.
	KCMDiffers = "KCMDiffers"

	NodeGone    = "NodeGone"
	LeaseHolder = "LeaseHolder"
	FenceOpened = "FenceOpened"
	FenceClosed = "FenceClosed"
)

// Seen is a line of cluster.jsonl: a version of the Cluster's status.
type Seen struct {
	Time   time.Time          `json:"time"`
	Status ucv1.ClusterStatus `json:"status"`
}

// State is state.json: what there was when the load had ended.
type State struct {
	Services []string `json:"services"`
	// Nodes and their pod CIDRs.
	Nodes map[string]string `json:"nodes"`
	Cloud simcloud.Snapshot `json:"cloud"`
	// Excluded are the Nodes that load balancers do not lead to.
	Excluded []string `json:"excluded,omitempty"`
	// KCMChanges counts the changes of KCM's Deployment since the Cluster object was made.
	KCMChanges int64 `json:"kcmChanges"`
	// Routes says whether there should be some.
	Routes bool `json:"routes"`
}

// Records are the raw records of one scenario.
type Records struct {
	Events   []Event
	Clusters []Seen
	Calls    []simcloud.Call
	Samples  []loops.Sample
	// Processes that pods of the user cluster and of its control plane have had.
	Processes []kubelet.Entry
	State     State
}

// The files in a scenario's folder.
const (
	eventsFile  = "events.jsonl"
	clusterFile = "cluster.jsonl"
	callsFile   = "simcloud.jsonl"
	samplesFile = "loops.jsonl"
	historyFile = "processes.jsonl"
	stateFile   = "state.json"
)

// ReadRecords reads the folder of a scenario. With an error come those that there are: a scenario may break off.
func ReadRecords(dir string) (Records, error) {
	records, failed := Records{}, error(nil)
	for _, read := range []func() error{
		func() (err error) { records.Events, err = readLines[Event](filepath.Join(dir, eventsFile)); return err },
		func() (err error) {
			records.Clusters, err = readLines[Seen](filepath.Join(dir, clusterFile))
			return err
		},
		func() (err error) {
			records.Calls, err = readLines[simcloud.Call](filepath.Join(dir, callsFile))
			return err
		},
		func() (err error) {
			records.Samples, err = readLines[loops.Sample](filepath.Join(dir, samplesFile))
			return err
		},
		func() (err error) {
			records.Processes, err = readLines[kubelet.Entry](filepath.Join(dir, historyFile))
			return err
		},
		func() error {
			content, err := os.ReadFile(filepath.Join(dir, stateFile))
			if err != nil {
				return err
			}
			return json.Unmarshal(content, &records.State)
		},
	} {
		failed = errors.Join(failed, read())
	}
	return records, failed
}

func readLines[T any](path string) ([]T, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var records []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record T
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(records)+1, err)
		}
		records = append(records, record)
	}
	return records, lines.Err()
}

// writer writes lines of JSON; it may be used from several goroutines.
type writer struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

func newWriter(path string) (*writer, error) {
	file, err := os.Create(filepath.Clean(path))
	return &writer{file: file}, err
}

func (w *writer) write(record any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := json.NewEncoder(w.file).Encode(record); err != nil && w.err == nil {
		w.err = err
	}
}

// close says whether anything was lost.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}

func writeLines[T any](path string, records []T) error {
	w, err := newWriter(path)
	if err != nil {
		return err
	}
	for _, record := range records {
		w.write(record)
	}
	return w.close()
}
