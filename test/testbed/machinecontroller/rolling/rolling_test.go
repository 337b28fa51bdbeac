package rolling_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/rolling"
)

func set(name string, age, replicas, available int32) rolling.Set {
	return rolling.Set{Name: name, Replicas: replicas, Available: available, Created: time.Unix(int64(1000-age), 0)}
}

func TestResolve(t *testing.T) {
	tests := map[string]struct {
		replicas           int32
		surge, unavailable intstr.IntOrString
		want               rolling.Limits
	}{
		"numbers are taken as they are":             {3, intstr.FromInt32(1), intstr.FromInt32(0), rolling.Limits{Replicas: 3, MaxSurge: 1}},
		"surge rounds up and unavailable down":      {3, intstr.FromString("25%"), intstr.FromString("25%"), rolling.Limits{Replicas: 3, MaxSurge: 1}},
		"both resolving to zero let one be missing": {3, intstr.FromInt32(0), intstr.FromString("10%"), rolling.Limits{Replicas: 3, MaxUnavailable: 1}},
		"no more can be unavailable than there are": {2, intstr.FromInt32(0), intstr.FromInt32(5), rolling.Limits{Replicas: 2, MaxUnavailable: 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := rolling.Resolve(test.replicas, new(test.surge), new(test.unavailable))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
		})
	}
	_, err := rolling.Resolve(1, new(intstr.FromString("many")), new(intstr.FromInt32(0)))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("maxSurge")))
}

func TestNewReplicas(t *testing.T) {
	surgeOne := rolling.Limits{Replicas: 3, MaxSurge: 1}
	tests := map[string]struct {
		limits rolling.Limits
		newest rolling.Set
		old    []rolling.Set
		want   int32
	}{
		"a first MachineSet gets all at once":      {surgeOne, set("new", 0, 0, 0), nil, 3},
		"a rollout starts with the surge":          {surgeOne, set("new", 0, 0, 0), []rolling.Set{set("old", 9, 3, 3)}, 1},
		"nothing is added while the surge is used": {surgeOne, set("new", 0, 1, 0), []rolling.Set{set("old", 9, 3, 3)}, 1},
		"every old one given up makes room":        {surgeOne, set("new", 0, 1, 1), []rolling.Set{set("old", 9, 2, 2)}, 2},
		"a scale-down reaches the newest set too":  {rolling.Limits{Replicas: 1, MaxSurge: 1}, set("new", 0, 3, 3), nil, 1},
		"all old sets together count as old":       {surgeOne, set("new", 0, 0, 0), []rolling.Set{set("a", 9, 2, 2), set("b", 8, 2, 2)}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(rolling.NewReplicas(test.limits, test.newest, test.old)).To(Equal(test.want))
		})
	}
}

func TestOldReplicas(t *testing.T) {
	surgeOne := rolling.Limits{Replicas: 3, MaxSurge: 1}
	tests := map[string]struct {
		limits rolling.Limits
		newest rolling.Set
		old    []rolling.Set
		want   map[string]int32
	}{
		"nothing goes while the new one is not available":       {surgeOne, set("new", 0, 1, 0), []rolling.Set{set("old", 9, 3, 3)}, map[string]int32{}},
		"one goes for each new available one":                   {surgeOne, set("new", 0, 1, 1), []rolling.Set{set("old", 9, 3, 3)}, map[string]int32{"old": 2}},
		"the last one goes when all new are available":          {surgeOne, set("new", 0, 3, 3), []rolling.Set{set("old", 9, 1, 1)}, map[string]int32{"old": 0}},
		"a stale status does not give up one more":              {surgeOne, set("new", 0, 1, 1), []rolling.Set{set("old", 9, 2, 3)}, map[string]int32{}},
		"an unhealthy old one goes before healthy ones":         {surgeOne, set("new", 0, 1, 1), []rolling.Set{set("a", 9, 1, 1), set("b", 8, 2, 1)}, map[string]int32{"b": 1}},
		"an unhealthy old one stays while a new one is missing": {surgeOne, set("new", 0, 1, 0), []rolling.Set{set("old", 9, 3, 2)}, map[string]int32{}},
		"the oldest set shrinks first": {
			rolling.Limits{Replicas: 3, MaxUnavailable: 1}, set("new", 0, 0, 0),
			[]rolling.Set{set("b", 8, 2, 2), set("a", 9, 1, 1)}, map[string]int32{"a": 0},
		},
		"unavailable is allowed as far as the limit": {rolling.Limits{Replicas: 3, MaxUnavailable: 2}, set("new", 0, 0, 0), []rolling.Set{set("old", 9, 3, 3)}, map[string]int32{"old": 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(rolling.OldReplicas(test.limits, test.newest, test.old)).To(Equal(test.want))
		})
	}
}

func TestPaused(t *testing.T) {
	// of is a MachineSet that was last scaled when its MachineDeployment had three replicas and one of surge.
	of := func(name string, age, replicas, available int32) rolling.Set {
		s := set(name, age, replicas, available)
		s.Desired, s.Most = 3, 4
		return s
	}
	tests := map[string]struct {
		replicas int32
		newest   *rolling.Set
		old      []rolling.Set
		want     map[string]int32
	}{
		"no set means nothing to do":                             {3, nil, nil, map[string]int32{}},
		"an unchanged count moves nothing":                       {3, nil, []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{}},
		"a scale-up grows the old set":                           {5, nil, []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{"old": 5}},
		"a scale-down shrinks the old set":                       {1, nil, []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{"old": 1}},
		"an empty newer set stays empty":                         {4, new(of("new", 1, 0, 0)), []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{"old": 4}},
		"half way, nothing moves":                                {3, new(of("new", 1, 1, 1)), []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{}},
		"a newest set that is saturated lets all old ones go":    {3, new(of("new", 1, 3, 3)), []rolling.Set{of("old", 9, 3, 3)}, map[string]int32{"old": 0}},
		"one that is not available does not":                     {3, new(of("new", 1, 3, 2)), []rolling.Set{of("old", 9, 1, 1)}, map[string]int32{}},
		"an old set that was lowered half way is raised again":   {3, new(of("new", 1, 1, 0)), []rolling.Set{of("old", 9, 2, 2)}, map[string]int32{"old": 3}},
		"a newest set that was only just changed counts as none": {3, nil, []rolling.Set{of("old", 9, 1, 1)}, map[string]int32{"old": 3}},
		"from zero the newest set grows":                         {2, new(of("new", 1, 0, 0)), []rolling.Set{of("old", 9, 0, 0)}, map[string]int32{"new": 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := rolling.Paused(rolling.Limits{Replicas: test.replicas, MaxSurge: 1}, test.newest, test.old)
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}
