package reads

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Concurrency is how many requests go to a user cluster side by side: a set has dozens of objects, and every one takes
// three round trips.
const Concurrency = 8

// Concurrently calls work for each index below count, some of them side by side, and returns the first error. A panic of one
// of them is one of the caller, in whose goroutine it can be recovered: elsewhere it would end the manager, for all clusters.
func Concurrently(ctx context.Context, count int, work func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Concurrency)
	for i := range count {
		group.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = &panicError{cause}
				}
			}()
			return work(ctx, i)
		})
	}
	err := group.Wait()
	if panicked, ok := errors.AsType[*panicError](err); ok {
		panic(panicked.cause)
	}
	return err
}

type panicError struct{ cause any }

// Error says nothing of the cause, which may quote what was read.
func (e *panicError) Error() string { return fmt.Sprintf("panic with a %T", e.cause) }
