package suite

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

func TestStoryFailsItsSpec(t *testing.T) {
	for name, tc := range map[string]struct {
		tell func(context.Context, *Scene)
		// want are regular expressions.
		want []string
		said string
	}{
		"one that comes to its end does not": {func(_ context.Context, s *Scene) { s.Expect(1).To(Equal(1)) }, nil, ""},
		"one whose assertion does not hold, with the message and the place": {
			func(_ context.Context, s *Scene) {
				s.Logf("before %s", "it")
				s.Expect(1).To(Equal(2), "what is counted")
				panic("it goes on")
			},
			[]string{"what is counted", "to equal", `(?m)^at .*suite/stories_test.go:\d+$`}, "before it",
		},
		"one whose assertion does not hold in a goroutine of its own": {
			func(_ context.Context, s *Scene) {
				group := sync.WaitGroup{}
				group.Go(func() { s.Expect(1).To(Equal(2), "what is counted") })
				group.Wait()
			},
			[]string{"what is counted", `(?m)^at .*suite/stories_test.go:\d+$`}, "",
		},
		"one that panics, with what it panicked for and the place": {
			func(context.Context, *Scene) { panic("no such cluster") },
			[]string{"the story panicked: no such cluster", `suite/stories_test.go:\d+`}, "",
		},
		"one that is left": {
			func(context.Context, *Scene) { runtime.Goexit() }, []string{"the story was left in the middle"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, stories := NewWithT(t), &Stories{}
			story := stories.Add(tc.tell)
			stories.start(t.Context(), places{t.TempDir(), 1}, func(*Story) bool { return true })
			said, failures := await(t.Context(), story)
			g.Expect(failures).To(HaveLen(min(len(tc.want), 1)))
			for _, want := range tc.want {
				g.Expect(failures[0]).To(MatchRegexp(want))
			}
			g.Expect(strings.HasSuffix(said, tc.said)).To(BeTrue(), "it said %q", said)
			stories.Wait()
		})
	}
}

func await(ctx context.Context, story *Story) (said string, failures []string) {
	story.await(ctx, func(lines string) { said = lines }, func(failure string, _ ...int) {
		failures = append(failures, failure)
	})
	return said, failures
}

func TestStoryThatDoesNotEnd(t *testing.T) {
	g, stories := NewWithT(t), &Stories{}
	ctx, cancel := context.WithCancel(t.Context())
	story := stories.Add(func(ctx context.Context, s *Scene) {
		s.Logf("it begins")
		<-ctx.Done()
	})
	stories.start(ctx, places{t.TempDir(), 1}, func(*Story) bool { return true })
	g.Eventually(func() int {
		story.mu.Lock()
		defer story.mu.Unlock()
		return len(story.lines)
	}).Should(Equal(1))

	timeout, expire := context.WithCancel(t.Context())
	expire()
	said, failures := await(timeout, story)
	g.Expect(failures).To(Equal([]string{"the story has not ended"}))
	g.Expect(said).To(HaveSuffix("it begins"))
	cancel()
	stories.Wait()
	_, failures = await(t.Context(), story)
	g.Expect(failures).To(BeEmpty())
}

func TestStoriesAreToldInTheirPlaces(t *testing.T) {
	g, stories := NewWithT(t), &Stories{}
	told := make(chan string, 4)
	goOn := make(chan struct{})
	tell := func(name string) func(context.Context, *Scene) {
		return func(context.Context, *Scene) {
			told <- name
			<-goOn
		}
	}
	first, left, second := stories.Add(tell("first")), stories.Add(tell("left out")), stories.Add(tell("second"))
	third := stories.Add(tell("third"))
	stories.start(t.Context(), places{t.TempDir(), 2}, func(story *Story) bool { return story != left })

	g.Expect([]string{<-told, <-told}).To(ConsistOf("first", "second"))
	g.Consistently(told, "50ms").ShouldNot(Receive())
	goOn <- struct{}{}
	g.Expect(<-told).To(Equal("third"), "it takes the place of one that ended")
	close(goOn)
	stories.Wait()
	for _, story := range []*Story{first, second, third} {
		g.Expect(story.ended).To(BeClosed())
	}
	g.Expect(left.ended).NotTo(BeClosed())
}
