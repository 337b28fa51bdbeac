package watches

import (
	"context"
	"time"
)

// mostFirstLists bounds how long a pass waits for them: a watch that is forbidden never lists.
const mostFirstLists = 2 * time.Second

// firstLists are those that the watches of a migration begin with. Watches guards it.
type firstLists struct {
	missing int
	awaited bool
	// came is closed when none is missing, and nil from then on.
	came chan struct{}
}

func newFirstLists() *firstLists { return &firstLists{came: make(chan struct{})} }

func (f *firstLists) listed() {
	f.missing--
	if f.missing == 0 && f.came != nil {
		close(f.came)
		f.came = nil
	}
}

// await is nil when there is nothing to wait for.
func (f *firstLists) await() <-chan struct{} {
	if f == nil || f.awaited || f.missing == 0 {
		return nil
	}
	f.awaited = true
	return f.came
}

// AwaitLists waits, once, until the watches of a migration that were begun have listed: what was read before is not kept, and
// would be read a second time.
func (w *Watches) AwaitLists(ctx context.Context) {
	if w.room == nil {
		return
	}
	w.mu.Lock()
	came := w.first.await()
	w.mu.Unlock()
	if came == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mostFirstLists)
	defer cancel()
	select {
	case <-came:
	case <-ctx.Done():
	}
}
