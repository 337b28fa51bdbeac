package rollout

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func poolOf(name string, replicas int32, state State) Pool {
	return Pool{Name: name, Replicas: replicas, State: state}
}

func disrupted(p Pool) Pool {
	p.Disrupted = true
	return p
}

func three() []Pool {
	return []Pool{poolOf("a", 3, Outdated), poolOf("b", 1, Outdated), poolOf("c", 2, Outdated)}
}

type planTest struct {
	pools  []Pool
	budget *intstr.IntOrString
	order  ucv1.RolloutOrder
	canary bool
	want   []string
	held   string
}

func runPlans(t *testing.T, tests map[string]planTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			intents, held := Plan(test.pools, test.budget, test.order, !test.canary)
			var names []string
			for _, intent := range intents {
				g.Expect(intent.Why).NotTo(BeEmpty())
				names = append(names, intent.Name)
			}
			g.Expect(names).To(Equal(test.want))
			g.Expect(held).To(ContainSubstring(test.held))
			if test.held == "" {
				g.Expect(held).To(BeEmpty())
			}
		})
	}
}

func TestPlanReadsTheBudget(t *testing.T) {
	runPlans(t, map[string]planTest{
		"nothing to roll holds nothing up": {pools: []Pool{poolOf("a", 1, Done), poolOf("b", 1, Blocked)}},
		"no pools hold nothing up":         {},
		"by default one is rolled, the smallest first": {
			pools: three(), want: []string{"b"},
		},
		"the smallest of the same size is the first by name": {
			pools: []Pool{poolOf("z", 1, Outdated), poolOf("y", 1, Outdated)}, want: []string{"y"},
		},
		"in alphabetical order size does not matter": {
			pools: three(), order: ucv1.Alphabetical, want: []string{"a"},
		},
		"a number allows as many": {
			pools: three(), budget: new(intstr.FromInt32(2)), want: []string{"b", "c"},
		},
		"a number larger than all allows all": {
			pools: three(), budget: new(intstr.FromInt32(9)), want: []string{"b", "c", "a"},
		},
		"a percentage is rounded down": {
			pools: three(), budget: new(intstr.FromString("99%")), want: []string{"b", "c"},
		},
		"a small percentage allows one": {
			pools: three(), budget: new(intstr.FromString("1%")), want: []string{"b"},
		},
		"0% allows nothing": {
			pools: three(), budget: new(intstr.FromString("0%")), held: "spec.rollout.maxConcurrent allows 0 at once, and 0 of 3 are " +
				"rolling or not serving in full.",
		},
		"0 allows nothing": {
			pools: three(), budget: new(intstr.FromInt32(0)), held: "allows 0 at once",
		},
		"a negative number allows nothing": {
			pools: three(), budget: new(intstr.FromInt32(-1)), held: "spec.rollout.maxConcurrent allows nothing: -1 is negative.",
		},
		"a value that cannot be read allows nothing": {
			pools: three(), budget: new(intstr.FromString("half")), held: "spec.rollout.maxConcurrent allows nothing",
		},
		"a number in quotes is no percentage": {
			pools: three(), budget: new(intstr.FromString("2")), held: "allows nothing",
		},
	})
}

func TestPlanCountsDisruptions(t *testing.T) {
	runPlans(t, map[string]planTest{
		"one that rolls uses the budget up": {
			pools: []Pool{poolOf("a", 1, Rolling), poolOf("b", 1, Outdated)}, held: "1 of 2 are rolling or not serving in full: a.",
		},
		"one that is done but disrupted uses the budget up, whoever disrupted it": {
			pools: []Pool{disrupted(poolOf("a", 1, Done)), poolOf("b", 1, Outdated)}, held: "not serving in full: a.",
		},
		"one that is blocked and disrupted uses the budget up, too": {
			pools: []Pool{disrupted(poolOf("a", 1, Blocked)), poolOf("b", 1, Outdated)}, held: "not serving in full: a.",
		},
		"until a canary is proven one is rolled alone, whatever the budget": {
			pools: three(), budget: new(intstr.FromInt32(2)), canary: true, want: []string{"b"},
		},
		"a budget of 0 does not even allow a canary": {
			pools: three(), budget: new(intstr.FromInt32(0)), canary: true, held: "allows 0 at once",
		},
		"one that is rolling and disrupted counts once": {
			pools: []Pool{
				disrupted(poolOf("a", 1, Rolling)),
				poolOf("b", 1, Outdated),
			},
			budget: new(intstr.FromInt32(2)),
			want:   []string{"b"},
		},
		"one that does not serve in full is not rolled even if the budget has room": {
			pools: []Pool{
				disrupted(poolOf("a", 1, Outdated)),
				poolOf("b", 2, Outdated),
			},
			budget: new(intstr.FromInt32(2)),
			want:   []string{"b"},
		},
		"what rolls leaves only the rest of the budget": {
			pools:  []Pool{poolOf("a", 1, Rolling), poolOf("b", 1, Outdated), poolOf("c", 1, Outdated)},
			budget: new(intstr.FromInt32(2)), want: []string{"b"},
		},
		"only one that does not serve in full is left: it waits, with its name": {
			pools: []Pool{disrupted(poolOf("a", 1, Outdated))}, budget: new(intstr.FromInt32(2)), held: "not serving in full: a.",
		},
		"the message names five at most": {
			pools: []Pool{
				poolOf(
					"a",
					1,
					Rolling,
				),
				poolOf("b", 1, Rolling),
				poolOf("c", 1, Rolling),
				poolOf("d", 1, Rolling),
				poolOf("e", 1, Rolling),
				poolOf("f", 1, Rolling),
				poolOf("g", 1, Outdated),
			},
			held: ": a, b, c, d, e and others.",
		},
	})
}

func turning(p Pool) Pool {
	p.Turning = true
	return disrupted(p)
}

func TestPlanTurnsRound(t *testing.T) {
	runPlans(t, map[string]planTest{
		"one that does not serve in full goes before those that do": {
			pools: []Pool{poolOf("a", 1, Outdated), turning(poolOf("b", 3, Outdated))}, want: []string{"b"},
		},
		"one after the other": {
			pools: []Pool{turning(poolOf("a", 1, Outdated)), turning(poolOf("b", 3, Outdated))}, want: []string{"a"},
		},
		"one alone until a canary is proven": {
			pools: []Pool{
				turning(poolOf("a", 1, Outdated)),
				turning(poolOf("b", 3, Outdated)),
			},
			budget: new(intstr.FromInt32(2)),
			canary: true,
			want:   []string{"a"},
		},
		"as many as the budget allows": {
			pools: []Pool{
				turning(poolOf("a", 1, Outdated)),
				turning(poolOf("b", 3, Outdated)),
				poolOf("c", 1, Outdated),
			},
			budget: new(intstr.FromInt32(2)),
			want:   []string{"a", "b"},
		},
		"what rolls back already uses the budget up": {
			pools:  []Pool{turning(poolOf("a", 1, Outdated)), turning(poolOf("b", 2, Outdated)), poolOf("c", 1, Rolling)},
			budget: new(intstr.FromInt32(2)), want: []string{"a"},
		},
		"what rolls back already counts": {
			pools: []Pool{turning(poolOf("a", 1, Outdated)), poolOf("b", 1, Rolling)}, held: "allows 1 at once",
		},
	})
}
