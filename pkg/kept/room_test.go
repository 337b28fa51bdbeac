package kept

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestWhatIsKeptOfAllClustersIsBounded(t *testing.T) {
	g, now := NewWithT(t), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	total := NewTotal(3000)
	first, second := NewRoom(total), NewRoom(total)
	read := func(value *Value[string], room *Room, size int) (again bool) {
		value.Read(t.Context(), now, Mark{Watched: true, Room: room}, func() observation.Observed[string] {
			again = true
			return observation.Known(strings.Repeat("a", size))
		})
		return again
	}
	a, b := &Value[string]{}, &Value[string]{}
	g.Expect(read(a, first, 2000)).To(BeTrue())
	g.Expect(read(a, first, 2000)).To(BeFalse())
	for range 2 {
		g.Expect(read(b, second, 2000)).To(BeTrue(), "it does not fit beside the first")
	}
	a.Forget()
	g.Expect(read(b, second, 2000)).To(BeTrue())
	g.Expect(read(b, second, 2000)).To(BeFalse(), "now it does")
	second.Clear()
	g.Expect(total.held.Load()).To(BeZero())
	g.Expect(read(b, second, 2000)).To(BeTrue(), "it was forgotten")
	g.Expect(read(a, first, 500)).To(BeTrue())
	b.Put(now, Mark{Room: second}, observation.Known("b"))
	a.Put(now, Mark{Watched: true, Room: first}, observation.Unknown[string]("no"))
	g.Expect(total.held.Load()).To(BeZero(), "neither unwatched nor unseen values are kept")
}
