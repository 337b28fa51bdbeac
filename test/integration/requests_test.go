package integration_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// requests stands between the controller and the management cluster: it counts what is written, and lets a test do
// something at the very moment of a request.
type requests struct {
	next http.RoundTripper

	mu     sync.Mutex
	writes []string
	// paths of all requests, reads included.
	paths map[string]bool
	// counts of them by method and path, once someone counts.
	counts map[string]int
	match  string
	do     func()
}

// RoundTrip implements http.RoundTripper.
func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	line := request.Method + " " + request.URL.Path
	r.mu.Lock()
	if r.paths == nil {
		r.paths = map[string]bool{}
	}
	r.paths[request.URL.Path] = true
	if r.counts != nil {
		r.counts[line]++
	}
	if request.Method != http.MethodGet && request.URL.Query().Get("dryRun") == "" {
		r.writes = append(r.writes, line)
	}
	var do func()
	if r.do != nil && strings.HasSuffix(line, r.match) {
		do, r.do = r.do, nil
	}
	r.mu.Unlock()
	if do != nil {
		do()
	}
	return r.next.RoundTrip(request)
}

// reached are the paths of all requests so far.
func (r *requests) reached() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.paths))
}

// once does something right before the next request whose method and path end so.
func (r *requests) once(match string, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.match, r.do = match, do
}

// waiting says that what once was given is not done yet.
func (r *requests) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.do != nil
}

// count returns how many requests there were of each method and path since the last call.
func (r *requests) count() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	r.counts = map[string]int{}
	return counts
}

// take returns the writes since the last call.
func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	writes := r.writes
	r.writes = nil
	return writes
}
