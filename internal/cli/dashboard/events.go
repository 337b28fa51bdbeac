package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// mostStreams is how many pages may be told of changes at once.
	mostStreams = 16
	// debounce collects changes: a status is often written several times in a row.
	debounce = 500 * time.Millisecond
	// atLeastEvery is how often pages are told although nothing changed: ages do, and windows open.
	atLeastEvery = 30 * time.Second
	// writeTimeout is for one event.
	writeTimeout = 10 * time.Second
)

// bell tells open pages that something changed.
type bell struct {
	places chan struct{}

	mu   sync.Mutex
	next chan struct{}
}

func newBell() *bell {
	return &bell{places: make(chan struct{}, mostStreams), next: make(chan struct{})}
}

// run until the context ends, and ring for changes.
func (b *bell) run(ctx context.Context, changed <-chan struct{}) {
	ticker := time.NewTicker(atLeastEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-changed:
			select {
			case <-ctx.Done():
				return
			case <-time.After(debounce):
			}
		}
		b.ring()
	}
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}

// rung is closed when it rings next.
func (b *bell) rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

// ServeHTTP is the stream of events of one page: https://html.spec.whatwg.org/multipage/server-sent-events.html
func (b *bell) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	default:
		http.Error(w, "too many pages of the dashboard are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	for event := ": the stream begins\n\n"; ; event = "event: changed\ndata:\n\n" {
		rung := b.rung()
		_ = stream.SetWriteDeadline(time.Now().Add(writeTimeout)) // A writer without deadlines is one of a test.
		if _, err := fmt.Fprint(w, event); err != nil {
			return
		}
		if err := stream.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-rung:
		}
	}
}
