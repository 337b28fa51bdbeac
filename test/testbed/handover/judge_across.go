package handover

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

// ran is a process of a control plane or of the CCM, with the release of its image, by which the kubelets choose the program.
type ran struct {
	kubelet.Entry
	component, release string
}

func (r ran) beside(other ran) bool {
	return (other.EndedAt.IsZero() || r.StartedAt.Before(other.EndedAt)) && (r.EndedAt.IsZero() || other.StartedAt.Before(r.EndedAt))
}

// isCalled says whether a leader of that name is this process. It is the host name of its pod, which is that of the Node for a
// static pod.
func (r ran) isCalled(leader string) bool {
	return r.Pod == leader || r.Pod == r.component+"-"+leader
}

// processes of a component and a release.
func (j *judgement) processes(component, release string) []ran {
	var found []ran
	for _, entry := range j.records.Processes {
		name, tag, _ := strings.Cut(path.Base(entry.Image), ":")
		if name == component && strings.TrimPrefix(tag, "v") == release {
			found = append(found, ran{Entry: entry, component: name, release: release})
		}
	}
	return found
}

// across are the rules of a hand-over across minors.
func (j *judgement) across() {
	older := j.scenario.Setup.Across
	if older == "" {
		return
	}
	newer := bed.KubernetesVersion
	j.newCCMs(older, newer)
	j.lockHolders(older, newer)
	j.newKCMs(newer)
}

// newCCMs: no CCM is newer than any API server that may answer it. An API server answers for as long as its process lives,
// which is longer than its Pod is ready.
func (j *judgement) newCCMs(older, newer string) {
	ccms, former := j.processes(ccmName, newer), j.processes(apiServerName, older)
	j.expect(len(ccms) > 0, "no CCM of %s ran", newer)
	j.expect(len(former) > 0, "no API server of %s ran", older)
	j.expect(len(j.processes(apiServerName, newer)) > 0, "no API server of %s ran", newer)
	for _, ccm := range ccms {
		for _, server := range former {
			j.expect(!ccm.beside(server), "%s of %s ran while %s of %s did", ccm.Pod, newer, server.Pod, older)
		}
	}
}

// lockHolders: the migration lock was KCM's of the older release, and then only the CCM's of the newer one.
func (j *judgement) lockHolders(older, newer string) {
	former, latter := j.processes(kcmName, older), j.processes(ccmName, newer)
	moved, held := false, false
	for _, event := range j.records.Events {
		identity, isLock := strings.CutPrefix(event.Name, handover.LockName+" ")
		if event.Event != LeaseHolder || !isLock || identity == "" {
			continue
		}
		isHeld := func(process ran) bool { return process.isCalled(holder(identity)) }
		switch {
		case slices.ContainsFunc(latter, isHeld):
			moved = true
		case slices.ContainsFunc(former, isHeld):
			held = true
			j.expect(!moved, "KCM %s took the migration lock back from the CCM", holder(identity))
		default:
			j.expect(false, "%s held the migration lock, which is no KCM of %s and no CCM of %s", identity, older, newer)
		}
	}
	j.expect(held, "no KCM of %s held the migration lock", older)
	j.expect(moved, "no CCM of %s held the migration lock", newer)
}

// newKCMs: KCM is upgraded last, when the loops are handed over, and leads then.
func (j *judgement) newKCMs(newer string) {
	finished, upgraded := j.finished(), j.processes(kcmName, newer)
	for _, kcm := range upgraded {
		j.expect(!finished.IsZero() && kcm.StartedAt.After(finished), "%s of %s ran before the hand-over was finished", kcm.Pod, newer)
	}
	if j.scenario.After == nil {
		return
	}
	last, at := "", time.Time{}
	for _, event := range j.records.Events {
		if identity, isKCMs := strings.CutPrefix(event.Name, kcmName+" "); event.Event == LeaseHolder && isKCMs && identity != "" {
			last, at = holder(identity), event.Time
		}
	}
	leads := slices.ContainsFunc(upgraded, func(kcm ran) bool {
		return kcm.isCalled(last) && !kcm.StartedAt.After(at) && (kcm.EndedAt.IsZero() || kcm.EndedAt.After(at))
	})
	j.expect(leads, "KCM is led by %s since %s, which is not of %s", last, at.UTC().Format(time.TimeOnly), newer)
}
