package suite

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
)

// Stories are told side by side in the testbed of one Ordered container: its BeforeAll starts them, and each has a spec
// that waits for its end.
type Stories struct {
	all    []*Story
	ending sync.WaitGroup
}

// Story is told in a goroutine of its own. An assertion of its Scene that does not hold ends it, as it ends a test.
type Story struct {
	tell  func(context.Context, *Scene)
	texts []string
	ended chan struct{}

	mu      sync.Mutex
	lines   []string
	failure string
}

// Add adds a story, whose specs are added by its method It.
func (s *Stories) Add(tell func(context.Context, *Scene)) *Story {
	story := &Story{tell: tell, ended: make(chan struct{})}
	s.all = append(s.all, story)
	return story
}

// It adds a story with its spec.
func (s *Stories) It(text string, tell func(context.Context, *Scene), decorators ...any) *Story {
	GinkgoHelper()
	story := s.Add(tell)
	story.It(text, nil, decorators...)
	return story
}

// It adds a spec that waits for the end of the story, fails as it failed, and judges what came of it
// if judge is not nil.
func (s *Story) It(text string, judge func(*Scene), decorators ...any) {
	GinkgoHelper()
	s.texts = append(s.texts, text)
	It(text, func(ctx SpecContext) {
		s.await(ctx, func(line string) { GinkgoWriter.Println(line) }, Fail)
		if judge != nil {
			judge(ThisSpec())
		}
	}, append([]any{NodeTimeout(StoryTime)}, decorators...))
}

// IsTold says whether a spec of the story was chosen to run.
func (s *Story) IsTold() bool {
	return slices.ContainsFunc(s.texts, func(text string) bool { return willRun[text] })
}

// Start begins to tell those stories that have a spec that runs, in their order and each as soon as there is a place.
func (s *Stories) Start(ctx context.Context) { s.start(ctx, ofThisMachine(), (*Story).IsTold) }

// Wait waits until all stories that were started have ended; they do when their context has.
func (s *Stories) Wait() { s.ending.Wait() }

// start takes the places one after the other: what a story waits for is done by those before it.
func (s *Stories) start(ctx context.Context, places places, isTold func(*Story) bool) {
	s.ending.Go(func() {
		for _, story := range s.all {
			if !isTold(story) {
				continue
			}
			free, err := places.take(ctx)
			if err != nil {
				story.fail(err.Error())
				close(story.ended)
				continue
			}
			s.ending.Go(func() {
				defer free()
				story.run(ctx)
			})
		}
	})
}

func (s *Story) run(ctx context.Context) {
	defer close(s.ended)
	returned := false
	defer func() {
		// After a failed assertion there is nothing to recover from.
		if thrown := recover(); thrown != nil {
			s.fail(fmt.Sprintf("the story panicked: %v\n%s", thrown, types.PruneStack(string(debug.Stack()), 1)))
		} else if !returned {
			s.fail("the story was left in the middle")
		}
	}()
	s.tell(ctx, &Scene{Gomega: NewGomega(s.failHere), say: s.say})
	returned = true
}

// failHere is the fail handler of the story's Scene.
func (s *Story) failHere(message string, callerSkip ...int) {
	skip := 1
	if len(callerSkip) > 0 {
		skip += callerSkip[0]
	}
	at := types.NewCodeLocationWithStackTrace(skip)
	s.fail(fmt.Sprintf("%s\n\nat %s\n%s", message, at, at.FullStackTrace))
	runtime.Goexit()
}

// fail keeps the first failure: others follow from it.
func (s *Story) fail(failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == "" {
		s.failure = failure
	}
}

func (s *Story) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// await waits for the end, repeats what was told, and fails as the story failed.
func (s *Story) await(ctx context.Context, say func(string), fail func(string, ...int)) {
	GinkgoHelper()
	ended := true
	select {
	case <-s.ended:
	case <-ctx.Done():
		ended = false
	}
	s.mu.Lock()
	failure, lines := s.failure, strings.Join(s.lines, "\n")
	s.mu.Unlock()
	if message, _, _ := strings.Cut(failure, "\n\nat "); message != "" {
		say("failed: " + message) // First, for who has only the beginning of the output.
	}
	if lines != "" {
		say(lines)
	}
	switch {
	case failure != "":
		fail(failure)
	case !ended:
		fail("the story has not ended")
	}
}
