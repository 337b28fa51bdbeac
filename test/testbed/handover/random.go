package handover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// killTime is within which a random kill comes: from the switch of the feature to well after the usual end.
const killTime = 40 * time.Second

// Random are hand-overs in which somebody is killed at some moment, or nobody; the seed says which.
func Random(count int, seed uint64) []Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	scenarios := make([]Scenario, 0, count)
	for i := range count {
		protocol := protocols()[random.IntN(2)]
		after := time.Duration(random.Int64N(int64(killTime)))
		what, disturb := lot(random.IntN(4), after)
		scenarios = append(scenarios, Scenario{
			Name:    fmt.Sprintf("random-%03d-%s", i+1, what),
			Setup:   Setup{Protocol: protocol, KCMReplicas: int32(1 + random.IntN(3)), Lease: usualLease},
			Disturb: disturb, Want: HandedOver,
		})
	}
	return scenarios
}

func lot(which int, after time.Duration) (name string, disturb func(context.Context, *Play) error) {
	kill := map[string]func(context.Context, *Play) error{
		"kcm-killed":     func(_ context.Context, p *Play) error { return p.killKCMLeader() },
		"manager-killed": func(ctx context.Context, p *Play) error { return p.killManager(ctx) },
		"ccm-killed":     func(ctx context.Context, p *Play) error { return killCCMLeader(ctx, p) },
	}
	name = []string{"undisturbed", "kcm-killed", "manager-killed", "ccm-killed"}[which]
	if kill[name] == nil {
		return name, nil
	}
	return name, func(ctx context.Context, p *Play) error {
		if err := p.elapse(ctx, after); err != nil {
			return err
		}
		return kill[name](ctx, p)
	}
}
