package observation

import (
	"reflect"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestRealDeadlines(t *testing.T) {
	g := NewWithT(t)
	deadlines := reflect.ValueOf(RealDeadlines())
	for i := range deadlines.NumField() {
		g.Expect(deadlines.Field(i).Int()).To(BeNumerically(">=", time.Second), deadlines.Type().Field(i).Name)
	}
	g.Expect(Deadlines{}.OrReal()).To(Equal(RealDeadlines()), "no wait is skipped because it was forgotten")
	shortened := RealDeadlines()
	shortened.Settle = time.Second
	g.Expect(shortened.OrReal()).To(Equal(shortened))
}

func TestOnlyWaitsInWhichNothingHappensAreShortened(t *testing.T) {
	shorter := map[string]func(*Deadlines) *time.Duration{
		"settle":          func(d *Deadlines) *time.Duration { return &d.Settle },
		"probe":           func(d *Deadlines) *time.Duration { return &d.ProbeTime },
		"addresses":       func(d *Deadlines) *time.Duration { return &d.Addresses },
		"adoption-notice": func(d *Deadlines) *time.Duration { return &d.AdoptionNotice },
	}
	for name, field := range shorter {
		t.Run(name, func(t *testing.T) {
			g, d, want := NewWithT(t), RealDeadlines(), RealDeadlines()
			*field(&want) = time.Second
			g.Expect(d.ShortenWait(name, time.Second)).To(BeTrue())
			g.Expect(d).To(Equal(want))
			g.Expect(d.ShortenWait(name, 2*time.Second)).To(BeFalse(), "longer")
			g.Expect(d.ShortenWait(name, 0)).To(BeFalse(), "none at all")
			g.Expect(d).To(Equal(want))
		})
	}
	t.Run("nothing else", func(t *testing.T) {
		g, d := NewWithT(t), RealDeadlines()
		for _, name := range []string{
			"", "kubelet-margin", "leader", "handover", "probe-deadline", "canary-removal", "probe-retry", "canary-retry", "soak",
		} {
			g.Expect(d.ShortenWait(name, time.Second)).To(BeFalse(), name)
		}
		g.Expect(d).To(Equal(RealDeadlines()))
	})
}

// Where each wait is used, a table or the simulation holds it against its real length; this pins the lengths themselves.
func TestTheRealWaitsAreAsLongAsWhatTheyWaitFor(t *testing.T) {
	d := RealDeadlines()
	for name, wait := range map[string]struct{ has, least time.Duration }{
		"a kubelet ends containers of a pod that is gone within its grace period, and reports every 10 s": {d.KubeletMargin, 30 * time.Second},
		"a kubelet ends a static pod without a manifest within 2 s":                                       {d.Settle, 10 * time.Second},
		"a kubelet writes addresses back within 10 s":                                                     {d.Addresses, time.Minute},
		"a CCM whose cloud refuses its configuration ends within seconds":                                 {d.ProbeTime, 10 * time.Second},
		"a person reads the plan of an adoption before it is carried out":                                 {d.AdoptionNotice, time.Minute},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(wait.has).To(BeNumerically(">=", wait.least)) })
	}
}
