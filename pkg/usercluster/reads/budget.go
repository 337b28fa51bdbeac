package reads

import (
	"context"
	"math"
	"reflect"
	"sync/atomic"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

// MaxKept is what is kept of all lists of one pass, in bytes. 5,000 Nodes with 25 labels each, their Machines, volumes and
// attachments come to half of it, and what preflight and a plan keep beside them to less than the rest.
const MaxKept = 32 << 20

// budget is shared by the reads of one pass.
type budget struct {
	most int64
	kept atomic.Int64
	// limit is how many objects a page of the last list had.
	limit atomic.Int64
}

type budgetKey struct{}

// WithBudget bounds what the reads of one pass keep together. Without one, as in a command that a person runs, nothing is bounded
// but each page.
func WithBudget(ctx context.Context) context.Context {
	return WithBudgetOf(ctx, MaxKept)
}

// WithBudgetOf is WithBudget for reads that no pass waits for.
func WithBudgetOf(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, budgetKey{}, &budget{most: most})
}

// budgetOf a context without one is one that bounds nothing for long: it is new each time.
func budgetOf(ctx context.Context) *budget {
	if shared, found := ctx.Value(budgetKey{}).(*budget); found {
		return shared
	}
	return &budget{most: math.MaxInt64}
}

// Keep counts what stays of a page.
func Keep[T any](ctx context.Context, value T) T {
	budgetOf(ctx).kept.Add(kept.SizeOf(reflect.ValueOf(&value).Elem()))
	return value
}

// Kept is what the reads of this pass keep by now, in bytes.
func Kept(ctx context.Context) int64 { return budgetOf(ctx).kept.Load() }

// firstLimit is that of the list before, doubled: pages of an API server that answers too much begin small, and grow where they
// fit.
func (b *budget) firstLimit() int64 {
	if last := b.limit.Load(); last > 0 {
		return min(2*last, PageSize)
	}
	return PageSize
}
