package kept

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Total bounds what is kept of all user clusters together, in bytes. What does not fit is read again each time.
type Total struct {
	most int64
	held atomic.Int64
}

// NewTotal is a bound.
func NewTotal(most int64) *Total { return &Total{most: most} }

// Held is how much is kept now, in bytes.
func (t *Total) Held() int64 { return t.held.Load() }

func (t *Total) take(size int64) bool {
	if t.held.Add(size) > t.most {
		t.held.Add(-size)
		return false
	}
	return true
}

// Room has what is kept of one user cluster. A nil Room keeps nothing.
type Room struct {
	total *Total

	mu   sync.Mutex
	held map[forgetter]int64
}

type forgetter interface{ Forget() }

// NewRoom is a part of the total.
func NewRoom(total *Total) *Room { return &Room{total: total, held: map[forgetter]int64{}} }

// Clear forgets all of it.
func (r *Room) Clear() {
	if r == nil {
		return
	}
	for _, value := range r.values() {
		value.Forget()
	}
}

func (r *Room) values() []forgetter {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := make([]forgetter, 0, len(r.held))
	for value := range r.held {
		values = append(values, value)
	}
	return values
}

// hold says whether there is room for a value, in the place of what was there of it.
func (r *Room) hold(value forgetter, size int64) bool {
	r.drop(value)
	if !r.total.take(size) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[value] = size
	return true
}

func (r *Room) drop(value forgetter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.held.Add(-r.held[value])
	delete(r.held, value)
}

// SizeOf is about the memory of a value with all that it leads to.
func SizeOf(value reflect.Value) int64 { return int64(value.Type().Size()) + beyond(value) }

// beyond is what a value leads to. All times lead to the same zone.
func beyond(value reflect.Value) (size int64) {
	switch value.Kind() {
	case reflect.String:
		return int64(value.Len())
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			size = SizeOf(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			size += SizeOf(value.Index(i))
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			size += SizeOf(entries.Key()) + SizeOf(entries.Value())
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
