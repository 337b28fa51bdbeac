package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// scene is a follower whose clock is that of a synctest bubble.
type scene struct {
	follower
	out, said bytes.Buffer
	// looked at what changes with every look; fails counts down looks that fail.
	looked, began atomic.Int32
	fails         int
	watch         *watch.FakeWatcher
	// openErr is what begin says until it is fixed.
	openErr error
	fixed   atomic.Bool
}

// play follows until it is stopped; the steps are done on the way.
func play(t *testing.T, output string, change func(*scene), steps func(*scene)) *scene {
	t.Helper()
	s := &scene{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s.follower = follower{
			statusOptions: &statusOptions{
				output:        output,
				interval:      2 * time.Second,
				ScreenOptions: terminal.ScreenOptions{Colour: "never"},
			},
			notes: &s.said,
			look:  s.see,
			open:  s.begin,
		}
		if change != nil {
			change(s)
		}
		done := make(chan error)
		go func() { done <- s.follow(ctx, &s.out) }()
		synctest.Wait()
		steps(s)
		cancel()
		NewWithT(t).Expect(<-done).To(Succeed())
	})
	return s
}

func (s *scene) see(context.Context) (snapshot, error) {
	looks := s.looked.Add(1)
	if s.fails > 0 {
		s.fails--
		return nil, errors.New("not now")
	}
	return func(terminal.Screen) (string, error) { return fmt.Sprintf("look %d_\n", looks), nil }, nil
}

func (s *scene) begin(context.Context) (watch.Interface, error) {
	s.began.Add(1)
	if s.openErr != nil && !s.fixed.Load() {
		return nil, s.openErr
	}
	s.watch = watch.NewFake()
	return s.watch, nil
}

func (s *scene) looks() int  { return int(s.looked.Load()) }
func (s *scene) opened() int { return int(s.began.Load()) }

// pass lets time go by, without waiting for it.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestNothingIsAskedForWhileNothingChanges(t *testing.T) {
	s := play(t, "text", nil, func(*scene) { pass(time.Hour) })
	g := NewWithT(t)
	g.Expect(s.looks()).To(Equal(1))
	g.Expect(s.opened()).To(Equal(1))
	g.Expect(s.out.String()).To(Equal("look 1_\n"))
	g.Expect(s.watch.IsStopped()).To(BeTrue())
}

func TestAChangeIsShownAtOnceAndManyAreShownTogether(t *testing.T) {
	var atOnce, soon int
	s := play(t, "text", nil, func(s *scene) {
		pass(time.Minute + time.Second)
		s.watch.Modify(&metav1.PartialObjectMetadata{})
		synctest.Wait()
		atOnce = s.looks()
		for range 100 {
			s.watch.Modify(&metav1.PartialObjectMetadata{})
		}
		synctest.Wait()
		soon = s.looks()
		pass(time.Minute)
	})
	g := NewWithT(t)
	g.Expect(atOnce).To(Equal(2))
	g.Expect(soon).To(Equal(2), "at most once an interval")
	g.Expect(s.looks()).To(Equal(3))
	g.Expect(s.out.String()).To(Equal("look 1_\n\nlook 2_\n\nlook 3_\n"))
}

func TestWithoutTheRightToWatchItLooksAgainAndAgain(t *testing.T) {
	for name, output := range map[string]string{"people are told below it": "text", "documents stay documents": "json"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, output, func(s *scene) {
				s.openErr = apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "", nil)
			}, func(*scene) { pass(10 * time.Second) })
			g := NewWithT(t)
			g.Expect(s.looks()).To(BeNumerically("~", 6, 1))
			g.Expect(s.opened()).To(Equal(1), "it does not ask again for what is not allowed")
			const note = "Looking every 2s: watching Clusters is not allowed with these rights.\n"
			if output == "text" {
				g.Expect(s.out.String()).To(HavePrefix("look 1_\n\n" + note))
				g.Expect(s.said.String()).To(BeEmpty())
				return
			}
			g.Expect(s.out.String()).NotTo(ContainSubstring("Looking"))
			g.Expect(s.said.String()).To(Equal(note))
		})
	}
}

func TestAWatchThatEndsIsBegunAgain(t *testing.T) {
	s := play(t, "text", nil, func(s *scene) {
		pass(time.Minute + time.Second)
		s.watch.Stop()
		pass(time.Minute)
		s.watch.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})
		pass(time.Minute)
	})
	g := NewWithT(t)
	g.Expect(s.opened()).To(Equal(3))
	g.Expect(s.looks()).To(Equal(3), "what changed meanwhile is looked for")
}

func TestWithoutAWatchForAMomentItLooksMeanwhile(t *testing.T) {
	s := play(t, "text", func(s *scene) { s.openErr = errors.New("connection refused") }, func(s *scene) {
		pass(9 * time.Second)
		s.fixed.Store(true)
		pass(time.Minute)
	})
	g := NewWithT(t)
	g.Expect(s.looks()).To(BeNumerically("~", 6, 1))
	g.Expect(s.opened()).To(Equal(s.looks()), "until there is one")
	g.Expect(s.out.String()).NotTo(ContainSubstring("Looking"))
}

func TestAnErrorStandsInNoDocument(t *testing.T) {
	s := play(t, "json", func(s *scene) { s.fails = 1 }, func(*scene) { pass(10 * time.Second) })
	g := NewWithT(t)
	g.Expect(s.out.String()).To(Equal("look 2_\n"))
	g.Expect(s.said.String()).To(Equal("Error: not now\n"))
}

func TestWatchingGoesOnAfterAnError(t *testing.T) {
	s := play(t, "text", func(s *scene) { s.fails = 1 }, func(*scene) { pass(10 * time.Second) })
	g := NewWithT(t)
	g.Expect(s.out.String()).To(Equal("Error: not now\n\nlook 2_\n"))
	g.Expect(s.looks()).To(Equal(2))
}
