package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// answers of the cloud are kept, refusals, too, by the providerSpec that was asked about: one outlives the outage that it is of.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/validationwrapper.go#L47-L71
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/cache/cloudprovidercache.go#L36
type answers struct {
	ask   asker
	keep  time.Duration
	clock clock.PassiveClock

	lock sync.Mutex
	kept map[string]answer
}

type answer struct {
	err error
	at  time.Time
}

func (a *answers) of(ctx context.Context, providerSpec string) error {
	a.lock.Lock()
	kept, found := a.kept[providerSpec]
	a.lock.Unlock()
	if found && a.clock.Since(kept.at) < a.keep {
		return kept.err
	}
	err := a.ask(ctx, providerSpec)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.kept == nil {
		a.kept = map[string]answer{}
	}
	a.kept[providerSpec] = answer{err: err, at: a.clock.Now()}
	return err
}
