package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// otherManager is a cloud-controller-manager that someone else installed.
type otherManager struct {
	seen observation.ForeignCCM
	// until someone takes it away; zero: no one does by himself.
	until time.Time
}

// free says that it runs its loops whoever holds our Lease: the truth that a rule is about, told apart from the code under test.
func (m *otherManager) free() bool {
	flags := m.seen.Arguments.Flags
	return flags["leader-elect"] == "false" || flags["leader-elect-resource-name"] != ""
}

// InstallCCM installs another CCM with these flags. Without any it is elected by our CCM's Lease.
func InstallCCM(w *World, name string, flags map[string]string) { install(w, name, flags, time.Time{}) }

// InstallOurCCMAgain starts one more CCM with our CCM's identity and its Lease.
func InstallOurCCMAgain(w *World) {
	InstallCCM(w, "again", nil)
	w.ccm.others[len(w.ccm.others)-1].seen.Identity = w.leases.observeFence().Identity
}

// RemoveCCMs takes all other CCMs away again.
func RemoveCCMs(w *World) { w.ccm.others = nil }

func install(w *World, name string, flags map[string]string, until time.Time) {
	if flags == nil {
		flags = map[string]string{"v": "2"}
	}
	w.ccm.others = append(w.ccm.others, &otherManager{until: until, seen: observation.ForeignCCM{
		Ref: observation.Ref{Kind: "Deployment", Namespace: "theirs", Name: name}, KnownBy: "image cloud-controller-manager",
		Identity: "system:serviceaccount:theirs:" + name, Arguments: observation.Arguments{Flags: flags},
	}})
}

// meddle is a fault: someone installs a CCM that no Lease of ours holds, and takes it away after a while.
func meddle(w *World) {
	flags := []map[string]string{{"leader-elect": "false"}, {"leader-elect-resource-name": "theirs"}}
	name := w.id("strange-ccm")
	install(w, name, flags[w.rng.IntN(len(flags))], w.upTo(10, 60))
	w.say("fault: someone installs Deployment theirs/%s", name)
}

// meddlersLeave ends what meddle began.
func meddlersLeave(w *World) {
	w.ccm.others = slices.DeleteFunc(w.ccm.others, func(m *otherManager) bool {
		gone := !m.until.IsZero() && w.now.After(m.until)
		if gone {
			w.disturbed = w.now
			w.say("fault: %s is uninstalled", m.seen.Ref)
		}
		return gone
	})
}

func meddled(w *World) bool {
	return slices.ContainsFunc(w.ccm.others, func(m *otherManager) bool { return !m.until.IsZero() })
}

func (ccm *CCM) observeOthers() []observation.ForeignCCM {
	var seen []observation.ForeignCCM
	for _, m := range ccm.others {
		seen = append(seen, m.seen)
	}
	return seen
}

// freeManager names one that runs the cloud loops whatever we do.
func freeManager(w *World) string {
	for _, m := range w.ccm.others {
		if m.free() {
			return m.seen.String()
		}
	}
	return ""
}

// checkAlone: no one else runs the loops when they are given to our CCM, or back to KCM.
func (i *invariants) checkAlone(t truth, what string) {
	if t.free != "" {
		i.fail("rule 2: %s while %s runs the cloud loops, which no Lease of ours holds", what, t.free)
	}
}

// undoesNothing: drift, and other managers, that cannot be looked at undo nothing once the migration is completed. What binds
// those is told by the fence.
func undoesNothing(w *World, o observation.Observation, fact string) bool {
	if o.Cluster.Status.CompletedAt == nil {
		return false
	}
	return fact == "Addons" || fact == "OtherManagers" || (fact == "Fence" && len(w.ccm.others) > 0)
}
