package loops

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// at is a moment, in seconds since the test's begin.
func at(seconds float64) time.Time {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

// script makes samples of loop service of cluster alpha: each line is an
// instance (of the KCM, or of the CCM when it begins with c) and the seconds
// at which it ran, or with a minus sign did not.
func script(lines map[string][]float64) []Sample {
	var samples []Sample
	for _, instance := range slices.Backward(slices.Sorted(maps.Keys(lines))) {
		component := kubeControllerManager
		if strings.HasPrefix(instance, "c") {
			component = cloudControllerManager
		}
		for _, second := range lines[instance] {
			samples = append(samples, Sample{
				Time: at(max(second, -second)), Cluster: "alpha", Component: component, Instance: instance,
				Loop: "service", Running: second >= 0,
			})
		}
	}
	return samples
}

// overlap is one of kcm-0, which began first, with another instance.
func overlap(second string, from, to float64) Overlap {
	runner := func(instance string) Runner {
		return Runner{script(map[string][]float64{instance: {0}})[0].Component, instance}
	}
	return Overlap{Cluster: "alpha", Loop: "service", First: runner("kcm-0"), Second: runner(second), From: at(from), To: at(to)}
}

func TestOverlapsAndGaps(t *testing.T) {
	tests := map[string]struct {
		samples  []Sample
		from, to time.Time
		overlaps []Overlap
		gap      time.Duration
	}{
		"one runner after the other overlaps nowhere and leaves a gap": {
			samples: script(map[string][]float64{"kcm-0": {1, 2, 3, -3.2}, "ccm-0": {4, 5, 6}}),
			gap:     time.Second,
		},
		"two runners at a time overlap until the first is last seen": {
			samples:  script(map[string][]float64{"kcm-0": {1, 2, 3, 4, -5}, "ccm-0": {3.5, 4.5}}),
			overlaps: []Overlap{overlap("ccm-0", 3.5, 4)},
		},
		"two runners that were seen at the same moment overlap": {
			samples:  script(map[string][]float64{"kcm-0": {1, -2}, "ccm-0": {1}}),
			overlaps: []Overlap{overlap("ccm-0", 1, 1)},
		},
		"a runner that could not be read for a while counts as running": {
			samples:  script(map[string][]float64{"kcm-0": {1, 9}, "ccm-0": {4, 5, -6}}),
			overlaps: []Overlap{overlap("ccm-0", 4, 5)},
		},
		"a runner that stopped and ran again overlaps only while it runs": {
			samples: script(map[string][]float64{"kcm-0": {1, 2, -2.5, 9, 10}, "ccm-0": {4, 5, -6}}),
			gap:     4 * time.Second,
		},
		"two instances of one component overlap as well": {
			samples:  script(map[string][]float64{"kcm-0": {1, 3}, "kcm-1": {2, 4}}),
			overlaps: []Overlap{overlap("kcm-1", 2, 3)},
		},
		"a gap is none while a longer span covers it": {
			samples:  script(map[string][]float64{"kcm-0": {1, 9}, "kcm-1": {2, -3}, "ccm-0": {9.5, 10}}),
			overlaps: []Overlap{overlap("kcm-1", 2, 2)},
			gap:      500 * time.Millisecond,
		},
		"only the part of a gap that lies in the window counts": {
			samples: script(map[string][]float64{"kcm-0": {1, -1.5}, "kcm-1": {8, -9}, "ccm-0": {20}}),
			from:    at(7), to: at(15), gap: 7 * time.Second,
		},
		"a gap outside of the window does not count": {
			samples: script(map[string][]float64{"kcm-0": {1, -1.5}, "ccm-0": {20}}),
			from:    at(30),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(Overlaps(tc.samples)).To(Equal(tc.overlaps))
			g.Expect(Gaps(tc.samples, tc.from, tc.to)).To(Equal(map[string]time.Duration{"service": tc.gap}))
		})
	}
}

func TestClustersAndLoopsAreApart(t *testing.T) {
	g := NewWithT(t)
	samples := script(map[string][]float64{"kcm-0": {1, 5}})
	for _, other := range script(map[string][]float64{"ccm-0": {2, 6}}) {
		other.Loop = "route"
		samples = append(samples, other)
		other.Loop, other.Cluster = "service", "beta"
		samples = append(samples, other)
	}
	g.Expect(Overlaps(samples)).To(BeEmpty())
	g.Expect(OfCluster(samples, "beta")).To(HaveLen(2))
	g.Expect(samples).To(HaveLen(6), "the samples stay as they are")
	g.Expect(Gaps(nil, time.Time{}, time.Time{})).To(BeEmpty())
}

func call(second float64, component, loop, method, object, err string) simcloud.Call {
	return simcloud.Call{
		Time: at(second), Cluster: "alpha", Component: component, Instance: component + "-0",
		Loop: loop, Method: method, Object: object, Error: err,
	}
}

func TestCallOverlaps(t *testing.T) {
	const kcm, ccm = kubeControllerManager, cloudControllerManager
	tests := map[string]struct {
		calls []simcloud.Call
		want  []Overlap
	}{
		"a component that calls no more once the other began is no overlap": {
			calls: []simcloud.Call{
				call(1, kcm, "service", "", "", ""),
				call(2, kcm, "service", "", "", ""),
				call(3, ccm, "service", "", "", ""),
			},
		},
		"a component that calls after the other began is one, in whatever order the log has them": {
			calls: []simcloud.Call{
				call(4, kcm, "service", "", "", ""), call(1, kcm, "service", "", "", ""),
				call(3, ccm, "service", "", "", ""), call(6, ccm, "service", "", "", ""),
			},
			want: []Overlap{{
				Cluster: "alpha", Loop: "service", First: Runner{kcm, kcm + "-0"}, Second: Runner{ccm, ccm + "-0"}, From: at(3), To: at(4),
			}},
		},
		"calls for different loops are no overlap": {
			calls: []simcloud.Call{
				call(1, kcm, "route", "", "", ""),
				call(2, ccm, "service", "", "", ""),
				call(3, kcm, "route", "", "", ""),
			},
		},
		"loops that are not handed over are left out": {
			calls: []simcloud.Call{
				call(1, kcm, "volume", "", "", ""),
				call(2, "csi", "volume", "", "", ""),
				call(3, kcm, "volume", "", "", ""),
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(CallOverlaps(tc.calls)).To(Equal(tc.want))
		})
	}
}

func TestLoadBalancers(t *testing.T) {
	create := func(second float64, name, err string) simcloud.Call {
		return call(second, "kcm", "service", simcloud.CreateLoadBalancer, name, err)
	}
	remove := func(second float64, name, err string) simcloud.Call {
		return call(second, "ccm", "service", simcloud.EnsureLoadBalancerDeleted, name, err)
	}
	tests := map[string]struct {
		calls []simcloud.Call
		want  LoadBalancerSummary
	}{
		"those that are only updated are kept": {
			calls: []simcloud.Call{
				create(1, "a", ""),
				create(2, "b", ""),
				call(20, "ccm", "service", simcloud.UpdateLoadBalancer, "a", ""),
			},
			want: LoadBalancerSummary{Before: 2, Kept: 2},
		},
		"one that was deleted before the start is not counted": {
			calls: []simcloud.Call{create(1, "a", ""), remove(2, "a", "")},
		},
		"one that is deleted and made again is not kept": {
			calls: []simcloud.Call{create(1, "a", ""), remove(11, "a", ""), create(12, "a", "")},
			want:  LoadBalancerSummary{Before: 1, Created: 1, Deleted: 1},
		},
		"one that is both made and deleted after the start leaves the others alone": {
			calls: []simcloud.Call{create(1, "a", ""), create(11, "b", ""), remove(12, "b", "")},
			want:  LoadBalancerSummary{Before: 1, Kept: 1, Created: 1, Deleted: 1},
		},
		"calls that failed did nothing": {
			calls: []simcloud.Call{create(1, "a", ""), create(11, "b", "status 500"), remove(12, "c", "not found")},
			want:  LoadBalancerSummary{Before: 1, Kept: 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(LoadBalancers(tc.calls, at(10))).To(Equal(tc.want))
		})
	}
}

func TestReadLines(t *testing.T) {
	tests := map[string]struct {
		text    string
		want    int
		wantErr string
	}{
		"an empty file has no sample":                {},
		"a last line that is half written is no use": {text: `{"loop":"service","running":true}` + "\n" + `{"loop":"rou`, want: 1},
		"any other line that is damaged is an error": {text: "{\"loop\n{}\n", wantErr: "decode line 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			samples, err := ReadSamples(strings.NewReader(tc.text))
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(samples).To(HaveLen(tc.want))
		})
	}
}
