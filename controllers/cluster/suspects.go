package cluster

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Suspects are the Clusters on whose passes the process may have died, as when one user cluster answers so much that the kernel
// kills it. A panic can be caught; this cannot, so each pass leaves a file while it lasts, and the files that are there at the
// start name those whose passes did not end. They are read last and alone, so that one of them takes no other down with it again.
//
//	others pass ─► all others passed ─► one suspect, alone ─► its pass ends: it is none any more
//	                                                      └► the process dies: it is the culprit, and waits 2^deaths minutes
//
// A nil Suspects keeps nothing and suspects no one.
type Suspects struct {
	directory string
	log       logr.Logger
	broken    sync.Once

	mu       sync.Mutex
	suspects map[client.ObjectKey]*suspect
	// passed are the others that had a pass, while there are suspects.
	passed map[client.ObjectKey]bool
	// since is when the first pass came: a manager that does not lead has none.
	since time.Time
	// running counts the passes of others; alone says that a suspect has its own. Until nextUntil no other pass begins, because a
	// suspect has waited long enough; it says so again whenever it asks.
	running   int
	alone     bool
	nextUntil time.Time
}

// suspect is a Cluster that is read alone.
type suspect struct {
	// deaths are those of the process while it made a pass of this Cluster and no other.
	deaths int
	// askedAt is since when it waits for the others to pause; zero: it does not.
	askedAt time.Time
}

// turn is whether a Cluster may have its pass now.
type turn struct {
	// wait is how long it may not; zero: its pass begins.
	wait time.Duration
	// culprit is how often the process died on it alone, when that is why it waits.
	culprit int
}

const (
	// suspectPoll is how often a suspect asks, and for how long others are put off while one is read.
	suspectPoll = time.Second
	// suspectPatience is how long passes of others may keep a suspect from its turn; then no new one begins before it.
	suspectPatience = time.Minute
	// suspectOthers is how long a suspect waits for the first passes of all others at most: one of them may never have one.
	suspectOthers = 10 * time.Minute
	// suspectLongest is the longest wait of a culprit.
	suspectLongest = time.Hour
)

// NewSuspects reads the files that an earlier process left in the directory. An empty directory keeps nothing.
func NewSuspects(directory string, log logr.Logger) *Suspects {
	if directory == "" {
		return nil
	}
	s := &Suspects{directory: directory, log: log, suspects: map[client.ObjectKey]*suspect{}, passed: map[client.ObjectKey]bool{}}
	s.failed(os.MkdirAll(directory, 0o700))
	entries, err := os.ReadDir(directory)
	s.failed(err)
	for _, entry := range entries {
		path := filepath.Join(directory, entry.Name())
		content, err := os.ReadFile(path)
		s.failed(err)
		deaths, name := 0, ""
		if _, err := fmt.Sscanf(string(content), "%d %s", &deaths, &name); err != nil {
			s.failed(os.Remove(path)) // The process died before it could say whose pass began: nothing was read yet.
			continue
		}
		namespace, name, _ := strings.Cut(name, "/")
		s.suspects[client.ObjectKey{Namespace: namespace, Name: name}] = &suspect{deaths: deaths}
		log.Info(
			"The last process did not end its pass of this Cluster; it is read last and alone",
			"namespace",
			namespace,
			"name",
			name,
			"deaths",
			deaths,
		)
	}
	return s
}

// begin a pass, or say how long to wait. Before anything of the user cluster is read, the file is there.
func (s *Suspects) begin(key client.ObjectKey, now time.Time, clusters func() []client.ObjectKey) turn {
	if s == nil {
		return turn{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = now
	}
	one := s.suspects[key]
	switch {
	case one != nil:
		if left := s.since.Add(patience(one.deaths)).Sub(now); left > 0 {
			return turn{wait: left, culprit: one.deaths}
		}
		if !s.mayBeAlone(one, now, clusters) {
			return turn{wait: suspectPoll}
		}
		s.alone, s.nextUntil = true, time.Time{}
		s.write(key, one.deaths+1) // This one counts, if it ends here.
	case s.alone || now.Before(s.nextUntil):
		return turn{wait: suspectPoll}
	default:
		s.running++
		s.write(key, 0)
	}
	return turn{}
}

// mayBeAlone: all others had their first pass, and none is being made. Others wait for a suspect only when they left it no gap
// for long.
func (s *Suspects) mayBeAlone(one *suspect, now time.Time, clusters func() []client.ObjectKey) bool {
	if now.Sub(s.since) < suspectOthers && !s.othersPassed(clusters()) {
		return false
	}
	if s.running == 0 && !s.alone {
		return true
	}
	if one.askedAt.IsZero() {
		one.askedAt = now
	}
	if now.Sub(one.askedAt) >= suspectPatience {
		s.nextUntil = now.Add(5 * suspectPoll)
	}
	return false
}

// patience with a Cluster that the process died on alone.
func patience(deaths int) time.Duration {
	if deaths <= 0 {
		return 0
	}
	return min(time.Minute<<min(deaths, 6), suspectLongest)
}

func (s *Suspects) othersPassed(clusters []client.ObjectKey) bool {
	for _, key := range clusters {
		if s.suspects[key] == nil && !s.passed[key] {
			return false
		}
	}
	return true
}

// end a pass that begin let begin. One that was not made after all, because the connection is not there yet, is none of the first
// ones.
func (s *Suspects) end(key client.ObjectKey, made bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.suspects[key]
	if made && len(s.suspects) > 0 {
		s.passed[key] = true
	}
	switch {
	case one == nil:
		s.running--
	case made:
		s.alone = false
		delete(s.suspects, key)
	default:
		s.alone = false
		s.write(key, one.deaths)
		return
	}
	s.remove(key)
}

// forget a Cluster that is gone. No pass of it is being made.
func (s *Suspects) forget(key client.ObjectKey) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspects[key] != nil {
		delete(s.suspects, key)
		s.remove(key)
	}
}

// path has no name in it: that of a Cluster may be longer than a file's.
func (s *Suspects) path(key client.ObjectKey) string {
	return filepath.Join(s.directory, fmt.Sprintf("%x", sha256.Sum256([]byte(key.String()))))
}

func (s *Suspects) write(key client.ObjectKey, deaths int) {
	s.failed(os.WriteFile(s.path(key), fmt.Appendf(nil, "%d %s\n", deaths, key), 0o600))
}

func (s *Suspects) remove(key client.ObjectKey) { s.failed(os.Remove(s.path(key))) }

// failed: without its files the process only does not know what it died on.
func (s *Suspects) failed(err error) {
	if err != nil {
		s.broken.Do(func() {
			s.log.Error(err, "The state directory cannot be used; after a crash no Cluster is suspected", "directory", s.directory)
		})
	}
}
