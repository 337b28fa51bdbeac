package reads

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAPanicBesideOthersIsOneOfTheCaller(t *testing.T) {
	g := NewWithT(t)
	g.Expect(func() {
		_ = Concurrently(t.Context(), 3, func(_ context.Context, i int) error {
			if i == 1 {
				panic("no")
			}
			return nil
		})
	}).To(PanicWith("no"))
	failed := errors.New("failed")
	g.Expect(Concurrently(t.Context(), 3, func(_ context.Context, i int) error {
		if i == 1 {
			return failed
		}
		return nil
	})).To(MatchError(failed))
	g.Expect(Concurrently(t.Context(), 0, nil)).To(Succeed())
}
