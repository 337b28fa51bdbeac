package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// places are for user clusters that migrate: so many exist at once in all packages together, which run side by side. Each has
// control planes of its own, and its managers lose their Leases where the processors can't bear them. A place is a lock on a file
// in the folder, which the kernel gives back when the process ends in whatever way.
type places struct {
	dir   string
	count int
}

// ofThisMachine is sized so that the processors are busy, and no more: a cluster in the middle of its migration needs a
// third of one, and the management clusters of all packages need one. With three for each processor API servers did not
// answer in time. The story needs three.
func ofThisMachine() places {
	return places{dir: OutputDir("places"), count: max(3, 2*runtime.GOMAXPROCS(0))}
}

// TakePlaces is for user clusters without a story; DeferCleanup gives the places back.
func TakePlaces(ctx context.Context, count int) {
	GinkgoHelper()
	all := ofThisMachine()
	for range count {
		free, err := all.take(ctx)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(free)
	}
}

// take waits for a place, until the context ends.
func (p places) take(ctx context.Context) (free func(), err error) {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	for {
		for number := range p.count {
			if free, err := p.try(number); free != nil || err != nil {
				return free, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for one of the %d places of user clusters: %w", p.count, context.Cause(ctx))
		case <-time.After(PollTime):
		}
	}
}

// try returns neither of both when the place is taken.
func (p places) try(number int) (free func(), err error) {
	file, err := os.OpenFile(filepath.Join(p.dir, fmt.Sprint(number)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
