package simtest

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// InstallCCM installs another CCM with these flags. Without any it is elected by our CCM's Lease.
func InstallCCM(w *World, name string, flags map[string]string) { install(w, name, flags, time.Time{}) }

// InstallOurCCMAgain starts one more CCM with our CCM's identity and its Lease.
func InstallOurCCMAgain(w *World) {
	InstallCCM(w, "again", nil)
	w.CCM.Others[len(w.CCM.Others)-1].Seen.Identity = w.Leases.ObserveFence().Identity
}

// RemoveCCMs takes all other CCMs away again.
func RemoveCCMs(w *World) { w.CCM.Others = nil }

func install(w *World, name string, flags map[string]string, until time.Time) {
	if flags == nil {
		flags = map[string]string{"v": "2"}
	}
	w.CCM.Others = append(w.CCM.Others, &simulation.OtherManager{Until: until, Seen: observation.ForeignCCM{
		Ref: observation.Ref{Kind: "Deployment", Namespace: "theirs", Name: name}, KnownBy: "image cloud-controller-manager",
		Identity: "system:serviceaccount:theirs:" + name, Arguments: observation.Arguments{Flags: flags},
	}})
}

// meddle is a fault: someone installs a CCM that no Lease of ours holds, and takes it away after a while.
func meddle(w *World) {
	flags := []map[string]string{{"leader-elect": "false"}, {"leader-elect-resource-name": "theirs"}}
	name := w.ID("strange-ccm")
	install(w, name, flags[w.Rng.IntN(len(flags))], w.upTo(10, 60))
	w.Say("fault: someone installs Deployment theirs/%s", name)
}

// meddlersLeave ends what meddle began.
func meddlersLeave(w *World) {
	w.CCM.Others = slices.DeleteFunc(w.CCM.Others, func(m *simulation.OtherManager) bool {
		gone := !m.Until.IsZero() && w.Now.After(m.Until)
		if gone {
			w.disturbed = w.Now
			w.Say("fault: %s is uninstalled", m.Seen.Ref)
		}
		return gone
	})
}

func meddled(w *World) bool {
	return slices.ContainsFunc(w.CCM.Others, func(m *simulation.OtherManager) bool { return !m.Until.IsZero() })
}

// freeManager names one that runs the cloud loops whatever we do.
func freeManager(w *World) string {
	for _, m := range w.CCM.Others {
		if m.Free() {
			return m.Seen.String()
		}
	}
	return ""
}

// checkAlone: no one else runs the loops when they are given to our CCM, or back to KCM.
func checkAlone(i *invariants, t truth, what string) {
	if t.free != "" {
		i.fail("rule 2: %s while %s runs the cloud loops, which no Lease of ours holds", what, t.free)
	}
}

// rollsNothingBack: drift, and other managers, that cannot be looked at roll nothing back once the migration is completed. What
// binds those is told by the fence.
func rollsNothingBack(w *World, o observation.Observation, fact string) bool {
	if o.Cluster.Status.CompletedAt == nil {
		return false
	}
	return fact == "Addons" || fact == "OtherManagers" || (fact == "Fence" && len(w.CCM.Others) > 0)
}
