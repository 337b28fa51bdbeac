package handover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// killTime is within which a random kill comes: from the switch of the feature to well after the usual end.
func killTime(protocol ucv1.HandoverProtocolChoice, lease time.Duration) time.Duration {
	if protocol == ucv1.LeaderMigrationProtocolChoice {
		return 30*time.Second + 4*lease
	}
	return 30 * time.Second
}

// Random are hand-overs in which someone is killed at some moment, or no one; the seed says which.
func Random(count int, seed uint64, lease time.Duration) []Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	scenarios := make([]Scenario, 0, count)
	for i := range count {
		protocol := protocols()[random.IntN(len(protocols()))]
		after := time.Duration(random.Int64N(int64(killTime(protocol, lease))))
		what, disturb := lot(random.IntN(4), after)
		scenarios = append(scenarios, Scenario{
			Name:    fmt.Sprintf("random-%03d-%s", i+1, what),
			Setup:   Setup{Protocol: protocol, KCMReplicas: int32(1 + random.IntN(3)), Lease: lease},
			Disturb: disturb, Want: HandedOver,
			Bars: Bars{NoGap: "whoever is killed makes the gap, and the hand-overs beside it take its processors"},
		})
	}
	return scenarios
}

func lot(which int, after time.Duration) (name string, disturb func(context.Context, *Play) error) {
	kill := map[string]func(context.Context, *Play) error{
		"kcm-killed":     func(_ context.Context, p *Play) error { return p.killKCMLeader() },
		"manager-killed": func(ctx context.Context, p *Play) error { return p.killManager(ctx) },
		"ccm-killed":     func(ctx context.Context, p *Play) error { return killCCMLeader(ccmName)(ctx, p) },
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
