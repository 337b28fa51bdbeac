package kept

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// MostAge bounds how old a read may be when nothing said that it changed. A client notices a dead connection after 45 seconds:
// https://github.com/kubernetes/apimachinery/blob/v0.36.1/pkg/util/net/http.go (configureHTTP2Transport)
const MostAge = 30 * time.Second

// Mark says how far the changes of something have come. What was read at a mark is so while the mark is the same.
type Mark struct {
	// Changes are those that were seen, and those that we made.
	Changes uint64
	// Watched says that a change would be seen: else nothing is kept.
	Watched bool
	// Most is how old a read may be; zero: MostAge.
	Most time.Duration
	// Room is where it is kept; nil: it is small.
	Room *Room
}

// And is a mark of both.
func (m Mark) And(other Mark) Mark {
	return Mark{Changes: m.Changes + other.Changes, Watched: m.Watched && other.Watched, Room: cmp.Or(m.Room, other.Room)}
}

// Value is what was read last. The zero value has nothing. Who gets a value must not change it.
type Value[T any] struct {
	mu   sync.Mutex
	read observation.Observed[T]
	mark Mark
	at   time.Time
}

// Read gives what was read at this mark, which is taken before; else it reads.
func (v *Value[T]) Read(
	ctx context.Context, now time.Time, mark Mark, read func() observation.Observed[T],
) observation.Observed[T] {
	if kept, holds := v.holds(ctx, now, mark); holds {
		return kept
	}
	fresh := read()
	v.Put(now, mark, fresh)
	return fresh
}

// Put keeps what was read beside something else at this mark, if it may be kept and there is room for it.
func (v *Value[T]) Put(now time.Time, mark Mark, read observation.Observed[T]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forgetLocked()
	if !mark.Watched || read.IsUnknown() || mark.Room != nil && !mark.Room.hold(v, SizeOf(reflect.ValueOf(read))) {
		return
	}
	v.read, v.mark, v.at = read, mark, now
}

// Forget what was read: we are changing it.
func (v *Value[T]) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forgetLocked()
}

func (v *Value[T]) forgetLocked() {
	if v.mark.Room != nil {
		v.mark.Room.drop(v)
	}
	v.read, v.mark, v.at = observation.Observed[T]{}, Mark{}, time.Time{}
}

func (v *Value[T]) holds(ctx context.Context, now time.Time, mark Mark) (observation.Observed[T], bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	young := !v.at.IsZero() && !now.Before(v.at) && now.Sub(v.at) < cmp.Or(mark.Most, MostAge)
	return v.read, young && mark == v.mark && IsFresh(ctx, v.at)
}

type liveKey struct{}

// Live is for reads that are made now, whatever was kept.
func Live(ctx context.Context) context.Context { return context.WithValue(ctx, liveKey{}, time.Time{}) }

// LiveSince is for reads that a proof rests on: what was read since the pass began need not be read a second time.
func LiveSince(ctx context.Context, began time.Time) context.Context {
	return context.WithValue(ctx, liveKey{}, began)
}

// IsFresh says that a read of this moment is new enough for what rests on it.
func IsFresh(ctx context.Context, at time.Time) bool {
	since, live := ctx.Value(liveKey{}).(time.Time)
	return !live || !since.IsZero() && !at.Before(since)
}
