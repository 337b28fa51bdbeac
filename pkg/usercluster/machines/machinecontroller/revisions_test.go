package machinecontroller

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestSinceWhenARevisionIsTheNewest(t *testing.T) {
	g := NewWithT(t)
	memory := &revisionMemory{}
	set := func(uid, revision string, current bool) observation.MachineSet {
		return observation.MachineSet{Ref: observation.Ref{UID: uid}, Deployment: "md", Revision: revision, Current: current}
	}
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	look := func(minute int, sets ...observation.MachineSet) (since time.Time) {
		memory.date(sets, at(minute))
		for _, seen := range sets {
			if seen.Current {
				since = seen.CurrentSince
			} else {
				g.Expect(seen.CurrentSince).To(BeZero())
			}
		}
		return since
	}
	g.Expect(look(0, set("a", "1", true))).To(BeZero(), "no one saw it come")
	g.Expect(look(1, set("a", "1", true))).To(BeZero())
	g.Expect(look(2, set("a", "1", false), set("b", "2", true))).To(Equal(at(2)))
	look(3, set("a", "1", false), set("b", "2", false))
	g.Expect(look(4, set("a", "3", true), set("b", "2", false))).To(Equal(at(4)), "the template went back")
	g.Expect(look(5, set("a", "3", true), set("b", "2", false))).To(Equal(at(4)))
	g.Expect(look(6, set("a", "5", true), set("b", "4", false))).To(Equal(at(6)), "and back once more, between two looks")
	look(7)
	g.Expect(look(8, set("a", "5", true))).To(BeZero(), "one that is gone is forgotten")
}
