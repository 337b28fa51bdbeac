package webhook

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestAnAnswerOfTheCloudIsKeptForFiveMinutes(t *testing.T) {
	g := NewWithT(t)
	now, refusal := clocktesting.NewFakePassiveClock(time.Unix(0, 0)), errors.New("simcloud answered 500")
	var says error
	kept := &answers{ask: func(context.Context, string) error { return says }, keep: 5 * time.Minute, clock: now}
	says = context.DeadlineExceeded
	g.Expect(kept.of(t.Context(), "a")).To(MatchError(context.DeadlineExceeded), "which is not kept")
	says = refusal
	g.Expect(kept.of(t.Context(), "a")).To(MatchError(refusal))
	says = nil
	g.Expect(kept.of(t.Context(), "b")).To(Succeed(), "another spec is asked about")
	now.SetTime(now.Now().Add(299 * time.Second))
	g.Expect(kept.of(t.Context(), "a")).To(MatchError(refusal), "the outage is over")
	now.SetTime(now.Now().Add(time.Second))
	g.Expect(kept.of(t.Context(), "a")).To(Succeed())
}
