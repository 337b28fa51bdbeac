//go:build volumes

package volumes_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// place is a volume of a cluster.
type place struct{ cluster, volume string }

// moves are what the cloud's log says of volumes.
type moves struct {
	// places are the instances of each volume, one after the other.
	places map[place][]string
	// twice says which were attached while they were attached elsewhere.
	twice []string
	// now is where each is.
	now map[place]string
}

// follow reads the log in its order: the cloud writes a line before it answers, and who moves a volume waits for the answer.
func follow(calls []simcloud.Call) *moves {
	m := &moves{places: map[place][]string{}, now: map[place]string{}}
	for _, call := range calls {
		volume := place{cluster: call.Cluster, volume: call.Object}
		switch {
		case call.Error != "":
		case call.Method == simcloud.AttachVolume:
			m.attach(volume, call.Target)
		case call.Method == simcloud.DetachVolume && m.now[volume] == call.Target:
			delete(m.now, volume)
		case call.Method == "DeleteInstance":
			maps.DeleteFunc(m.now, func(other place, at string) bool { return other.cluster == call.Cluster && at == call.Object })
		}
	}
	return m
}

func (m *moves) attach(volume place, instance string) {
	before := m.now[volume]
	if before == instance {
		return
	}
	if before != "" {
		m.twice = append(m.twice, fmt.Sprintf("%v: %s while at %s", volume, instance, before))
	}
	m.now[volume] = instance
	m.places[volume] = append(m.places[volume], instance)
}

// madeIn are the volumes that the cloud made in a cluster.
func madeIn(calls []simcloud.Call, cluster string) []string {
	var names []string
	for _, call := range calls {
		if call.InCluster(cluster) && call.Method == "CreateVolume" && call.Error == "" {
			names = append(names, call.Object)
		}
	}
	return names
}

func TestFollow(t *testing.T) {
	attach := func(instance string) simcloud.Call {
		return simcloud.Call{Cluster: "a", Method: simcloud.AttachVolume, Object: "v", Target: instance}
	}
	detach := func(instance string) simcloud.Call {
		return simcloud.Call{Cluster: "a", Method: simcloud.DetachVolume, Object: "v", Target: instance}
	}
	refused := func(call simcloud.Call) simcloud.Call { call.Error = "refused"; return call }
	tests := map[string]struct {
		calls  []simcloud.Call
		places []string
		twice  int
	}{
		"one after the other":              {[]simcloud.Call{attach("1"), detach("1"), attach("2")}, []string{"1", "2"}, 0},
		"attached again":                   {[]simcloud.Call{attach("1"), attach("1")}, []string{"1"}, 0},
		"the cloud refused":                {[]simcloud.Call{attach("1"), refused(attach("2"))}, []string{"1"}, 0},
		"with its instance":                {[]simcloud.Call{attach("1"), {Cluster: "a", Method: "DeleteInstance", Object: "1"}, attach("2")}, []string{"1", "2"}, 0},
		"two at once":                      {[]simcloud.Call{attach("1"), attach("2")}, []string{"1", "2"}, 1},
		"detached where it was not":        {[]simcloud.Call{attach("1"), detach("2"), attach("2")}, []string{"1", "2"}, 1},
		"the instance of another cluster":  {[]simcloud.Call{attach("1"), {Cluster: "b", Method: "DeleteInstance", Object: "1"}, attach("2")}, []string{"1", "2"}, 1},
		"a detachment that failed":         {[]simcloud.Call{attach("1"), refused(detach("1")), attach("2")}, []string{"1", "2"}, 1},
		"another volume is something else": {[]simcloud.Call{attach("1"), {Cluster: "a", Method: simcloud.AttachVolume, Object: "w", Target: "2"}}, []string{"1"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := follow(test.calls)
			g.Expect(slices.Equal(got.places[place{"a", "v"}], test.places)).To(BeTrue(), "%v", got.places)
			g.Expect(got.twice).To(HaveLen(test.twice))
		})
	}
}
