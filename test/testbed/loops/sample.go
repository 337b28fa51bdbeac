package loops

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// Sample is one sighting of a loop: it ran in this instance (a pod's name) at
// this time, or a loop that was seen there is there no longer.
type Sample struct {
	Time time.Time `json:"time"`
	// Cluster is the user cluster that the loop works for.
	Cluster   string `json:"cluster"`
	Component string `json:"component"`
	Instance  string `json:"instance"`
	Loop      string `json:"loop"`
	Running   bool   `json:"running"`
}

// InCluster says whether the loop works for the cluster.
func (s Sample) InCluster(cluster string) bool { return s.Cluster == cluster }

// CloudLoops are the loops that a hand-over moves. Managers report others too:
// cloud-node only runs in the CCM, and nodeipam stays in the KCM.
func CloudLoops() []string { return []string{"service", "route", "cloud-node-lifecycle"} }

// OfCluster keeps the samples or calls of one cluster.
func OfCluster[T interface{ InCluster(cluster string) bool }](records []T, cluster string) []T {
	return slices.DeleteFunc(slices.Clone(records), func(record T) bool { return !record.InCluster(cluster) })
}

// ReadSamples reads what a Sampler wrote.
func ReadSamples(r io.Reader) ([]Sample, error) { return readLines[Sample](r) }

// ReadReads reads what a Sampler wrote of its attempts.
func ReadReads(r io.Reader) ([]Read, error) { return readLines[Read](r) }

// ReadCalls reads the log of the simulated cloud.
func ReadCalls(r io.Reader) ([]simcloud.Call, error) { return readLines[simcloud.Call](r) }

// ReadFile reads a file of records by one of the functions above.
func ReadFile[T any](path string, parse func(io.Reader) ([]T, error)) ([]T, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { _ = file.Close() }()
	return parse(file)
}

// readLines skips a last line without an end: a killed writer, or one that is
// still writing, leaves half of it.
func readLines[T any](r io.Reader) ([]T, error) {
	var records []T
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read line %d: %w", n, err)
		}
		var record T
		if err := json.Unmarshal(line, &record); err != nil {
			return nil, fmt.Errorf("decode line %d: %w", n, err)
		}
		records = append(records, record)
	}
}
