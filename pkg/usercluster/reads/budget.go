package reads

import (
	"context"
	"math"
	"reflect"
	"sync/atomic"
	"time"
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
	budgetOf(ctx).kept.Add(sizeOf(reflect.ValueOf(&value).Elem()))
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

// sizeOf is about the memory of a value with all that it leads to.
func sizeOf(value reflect.Value) int64 {
	return int64(value.Type().Size()) + beyond(value)
}

// beyond is what a value leads to. All times lead to the same zone.
func beyond(value reflect.Value) (size int64) {
	switch value.Kind() {
	case reflect.String:
		return int64(value.Len())
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			size = sizeOf(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			size += sizeOf(value.Index(i))
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			size += sizeOf(entries.Key()) + sizeOf(entries.Value())
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			return 0
		}
		for _, field := range value.Fields() {
			size += beyond(field)
		}
	default:
	}
	return size
}
