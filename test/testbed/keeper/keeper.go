package keeper

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

// Files of a volume.
const (
	DataFile     = "data"
	ChecksumFile = "data.sha256"
	// VisitsFile has two lines of each process, when it has its data and when it ends: the Node, and what it did.
	VisitsFile = "visits"
)

// What a process did.
const (
	Wrote = "wrote"
	Found = "found"
	Left  = "left"
)

// dataSize is more than one block of any file system.
const dataSize = 1 << 20

// Visit is a line of VisitsFile.
type Visit struct{ Node, Did string }

type options struct{ dir, node, health string }

// Command is the program data-keeper.
func Command() *cobra.Command {
	return program.Command("data-keeper", "A workload that knows whether its data are still the same.", setup)
}

func setup(flags *flag.FlagSet) program.Run {
	o := &options{}
	flags.StringVar(&o.dir, "dir", "/data", "folder of the volume")
	flags.StringVar(&o.node, "node-name", "", "Node that it runs on")
	flags.StringVar(&o.health, "health-address", ":9808", "address of /healthz and /readyz")
	return o.run
}

func (o *options) run(ctx context.Context) error {
	visit, err := keep(o.dir, o.node)
	if err != nil {
		return err
	}
	ctrl.Log.Info("data-keeper has its data", "node", visit.Node, "did", visit.Did)
	err = program.ServeHealth(ctx, o.health, func() bool { return true })
	// Who comes next, on whatever Node, sees whether this process was still there.
	return errors.Join(err, note(o.dir, Visit{Node: o.node, Did: Left}))
}

// keep writes the data or compares them.
func keep(dir, node string) (Visit, error) {
	visit := Visit{Node: node, Did: Found}
	err := Check(dir)
	if empty, unread := isEmpty(dir); unread == nil && empty {
		visit.Did, err = Wrote, write(dir)
	}
	if err != nil {
		return visit, err
	}
	return visit, note(dir, visit)
}

func note(dir string, visit Visit) error {
	visits, err := os.OpenFile(filepath.Join(dir, VisitsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("note the visit: %w", err)
	}
	_, err = fmt.Fprintln(visits, visit.Node, visit.Did)
	if err := errors.Join(err, visits.Sync(), visits.Close()); err != nil {
		return fmt.Errorf("note the visit: %w", err)
	}
	return nil
}

func isEmpty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	return len(entries) == 0, err
}

func write(dir string) error {
	data := make([]byte, dataSize)
	// It never returns an error.
	_, _ = rand.Read(data)
	sum := fmt.Sprintf("%x\n", sha256.Sum256(data))
	for name, content := range map[string][]byte{DataFile: data, ChecksumFile: []byte(sum)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write the data: %w", err)
		}
	}
	return nil
}

// Check compares the data with their checksum.
func Check(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, DataFile))
	if err != nil {
		return fmt.Errorf("read the data: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, ChecksumFile))
	if err != nil {
		return fmt.Errorf("read the checksum: %w", err)
	}
	if is := fmt.Sprintf("%x\n", sha256.Sum256(data)); is != string(sum) {
		return fmt.Errorf("the data of %s have checksum %s in place of %s", dir, strings.TrimSpace(is), strings.TrimSpace(string(sum)))
	}
	return nil
}

// Visits of a volume, the first one first.
func Visits(dir string) ([]Visit, error) {
	text, err := os.ReadFile(filepath.Join(dir, VisitsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the visits: %w", err)
	}
	var visits []Visit
	for line := range strings.Lines(string(text)) {
		node, did, _ := strings.Cut(strings.TrimSpace(line), " ")
		visits = append(visits, Visit{Node: node, Did: did})
	}
	return visits, nil
}
