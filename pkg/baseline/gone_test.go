package baseline

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func withGone(uid string, gone observation.Gone) func(*observation.Observation) {
	return func(o *observation.Observation) { o.Gone = observation.Known(map[string]observation.Gone{uid: gone}) }
}

func withoutVolume(i *observation.Inventory) { i.Volumes, i.Attachments = nil, nil }

// goneCase is an object of the baseline that is not there any more.
type goneCase struct {
	now  func(*observation.Inventory)
	when func(*observation.Observation)
	// want has all of what was explained and was not before.
	want    []Difference
	unknown string
}

func TestWhatIsGoneIsLostUnlessWhatItBelongedToWentToo(t *testing.T) {
	withoutBalancer := func(i *observation.Inventory) { i.LoadBalancers = nil }
	runGone(t, map[string]goneCase{
		"a volume whose claim is still there is lost": {
			now: withoutVolume, when: withGone("pv", observation.Gone{Left: "is gone, and its claim web/data is still there"}),
			want: []Difference{{Object: "PersistentVolume pv", What: "is gone, and its claim web/data is still there"}},
		},
		"a volume that is still attached is lost, although its claim went": {
			now: func(i *observation.Inventory) { i.Volumes = nil }, when: withGone("pv", observation.Gone{Seen: "it was gone by noon"}),
			want: []Difference{{Object: "PersistentVolume pv", What: "is gone, and is still attached to Node n1"}},
		},
		"a volume that went with its claim is worth a warning": {
			now: withoutVolume, when: withGone("pv", observation.Gone{Seen: "it was gone by noon"}),
			want: []Difference{{Object: "PersistentVolume pv", What: "is gone", Explained: "it was gone by noon", Warning: true}},
		},
		"a load balancer whose Service is still there is lost": {
			now: withoutBalancer, when: withGone("lb", observation.Gone{Left: "has type ClusterIP"}),
			want: []Difference{{Object: "Service web/front", What: "has type ClusterIP"}},
		},
		"a load balancer that went with its Service is worth a warning": {
			now: withoutBalancer, when: withGone("lb", observation.Gone{Seen: "it was gone by noon"}),
			want: []Difference{{Object: "Service web/front", What: "is gone", Explained: "it was gone by noon", Warning: true}},
		},
	})
}

func TestWhatCouldNotBeLookedAtOrIsAcceptedIsNotLost(t *testing.T) {
	accept := func(object string) func(*observation.Observation) {
		return func(o *observation.Observation) { o.Cluster.Spec.Rollout.AcceptChanges = []string{object} }
	}
	const notSeen = "PersistentVolume pv is gone, and what it belonged to could not be looked at: "
	runGone(t, map[string]goneCase{
		"a volume whose claim no one could look at is neither": {
			now: withoutVolume, when: func(o *observation.Observation) {
				o.Gone = observation.Unknown[map[string]observation.Gone]("forbidden")
			},
			unknown: notSeen + "forbidden",
		},
		"nor is one that was not looked at": {now: withoutVolume, unknown: notSeen + "it was not looked at"},
		"what went after the look is neither, until the next look": {
			now: withoutVolume, when: withGone("other", observation.Gone{}), unknown: notSeen,
		},
		"a volume that a person accepts need not be looked at": {
			now: withoutVolume, when: accept("PersistentVolume pv"),
			want: []Difference{{Object: "PersistentVolume pv", What: "is gone", Explained: "accepted in spec.rollout.acceptChanges"}},
		},
		"an accepted volume may leave its claim": {
			now: withoutVolume, when: func(o *observation.Observation) {
				accept("PersistentVolume pv")(o)
				withGone("pv", observation.Gone{Left: "is lost"})(o)
			},
			want: []Difference{{Object: "PersistentVolume pv", What: "is lost", Explained: "accepted in spec.rollout.acceptChanges"}},
		},
	})
}

func runGone(t *testing.T, cases map[string]goneCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observing(whole(), changed(test.now))
			o.Gone = observation.Observed[map[string]observation.Gone]{}
			if test.when != nil {
				test.when(&o)
			}
			seen := Compare(o)
			if test.unknown != "" {
				g.Expect(seen.IsUnknown()).To(BeTrue())
				g.Expect(seen.Why()).To(HavePrefix(test.unknown))
				return
			}
			for _, want := range test.want {
				g.Expect(seen.Value()).To(ContainElement(WithTransform(func(d Difference) Difference {
					g.Expect(messages.Unnamed(d.String(), d.about)).To(Succeed())
					d.about = nil
					return d
				}, Equal(want))))
			}
		})
	}
}

func TestMissingIsOnlyWhatWasReadAndIsNotThere(t *testing.T) {
	g := NewWithT(t)
	lacking := changed(func(i *observation.Inventory) { i.Volumes, i.LoadBalancers = nil, nil })
	missing := Missing{LoadBalancers: whole().LoadBalancers, Volumes: whole().Volumes}
	g.Expect(MissingOf(observation.Known(whole()), observation.Known(lacking))).To(Equal(missing))
	g.Expect(MissingOf(observation.Known(whole()), observation.Known(whole()))).To(Equal(Missing{}))
	g.Expect(MissingOf(observation.Known(whole()), observation.Unknown[observation.Inventory]("timeout"))).To(Equal(Missing{}))
	g.Expect(MissingOf(observation.Absent[observation.Inventory](), observation.Known(lacking))).To(Equal(Missing{}))
}
