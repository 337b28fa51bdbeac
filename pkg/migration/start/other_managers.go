package start

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// OtherManagersRun names one that may run the loops under another Lease. One that elects by the CCM's Lease runs none while that
// has no holder who renews it.
func OtherManagersRun(in pass.Input) observation.Text {
	for _, m := range in.ForeignCCMs.Value() {
		led := in.CCMLease.IsUnknown() || !bound(in, m, ByLease)
		if led && !m.Harmless() && m.MayRun() && !slices.Contains(in.Cluster.Spec.Handover.AcceptOtherManagers, m.String()) {
			return observation.Say(m)
		}
	}
	return observation.Text{}
}

// held is what another manager must be held by for it not to count.
type held int

const (
	// ByFence says that it must not lead at all, because KCM may run loops. Only our CCM's identity is behind our fence.
	ByFence held = iota
	// ByLease says that it must not lead beside our CCM, which its Lease sees to.
	ByLease
)

// bound says that it runs no loop beside KCM, or beside our CCM. With the migration lock that is not so: one without it may
// get the Lease that our CCM has by then, and runs the loops beside a KCM that holds the lock.
func bound(in pass.Input, m observation.ForeignCCM, by held) bool {
	fence := in.Fence.Value()
	if fence.Lease == "" || !m.Elects() || m.Lease() != fence.Lease || locks(in) {
		return false
	}
	opened := in.Facts.Handover != nil && in.Facts.Handover.FenceOpenedAt != nil
	return by == ByLease || (m.Identity == fence.Identity && (len(fence.Allowed) == 0 || opened && fence.Open))
}

// locks says that the CCM has the migration lock, or is going to have it.
func locks(in pass.Input) bool {
	undecided := in.Facts.Handover == nil && in.Cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice
	return undecided || WantsLock(in.Facts)
}

// strangers are the other managers that nothing holds and no one vouched for.
func strangers(in pass.Input, by held, counts func(observation.ForeignCCM) bool) []observation.ForeignCCM {
	return slices.DeleteFunc(slices.Clone(in.ForeignCCMs.Value()), func(m observation.ForeignCCM) bool {
		return m.Harmless() || !counts(m) || bound(in, m, by) ||
			slices.Contains(in.Cluster.Spec.Handover.AcceptOtherManagers, m.String())
	})
}

const foreignCCMs = "other cloud-controller-managers of the user cluster"

// unseenManagers says why nothing can be said of them; empty when it can. What binds one is told by the fence.
func unseenManagers(in pass.Input) string {
	switch {
	case in.ForeignCCMs.IsUnknown():
		return in.ForeignCCMs.Why()
	case len(in.ForeignCCMs.Value()) > 0 && in.Fence.IsUnknown():
		return "the fence: " + in.Fence.Why()
	}
	return ""
}

// checkOtherManagers is the finding before anything is touched: everyone counts, also one that initializes Nodes only. One
// that an adoption is about to replace by ours does not.
func checkOtherManagers(in pass.Input) (*observation.Finding, string) {
	switch {
	case !in.Connection.Reachable:
		return nil, ""
	case unseenManagers(in) != "":
		return nil, foreignCCMs + ": " + unseenManagers(in)
	}
	found := strangers(in, ByFence, func(m observation.ForeignCCM) bool { return !adopts(in, m) })
	if len(found) == 0 {
		return nil, ""
	}
	return blocking(FindingOtherCCM, ucv1.ForeignObjectsReason, tell(in, found, ByFence)), ""
}

func adopts(in pass.Input, m observation.ForeignCCM) bool {
	return m.SameName && in.Cluster.Spec.Addons.Adoption == ucv1.Adopt && comesEarly(in)
}

// comesEarly says that the CCM's workload is applied before KCM is touched. Where it comes later, theirs would go on.
func comesEarly(in pass.Input) bool {
	return protocol(in) != ucv1.SerializedProtocol && !handover.AcrossMinors(in.Cluster)
}

func protocol(in pass.Input) ucv1.HandoverProtocol {
	if in.Facts.Handover != nil {
		return in.Facts.Handover.Protocol
	}
	choice, _, _ := chooseProtocol(in)
	return choice.protocol
}

// NoOtherManager asks whether anybody else may run the cloud loops: before KCM is touched, before our CCM may lead, and before an
// rollback gives the loops back.
func NoOtherManager(in pass.Input, by held) outcome.Outcome {
	if why := unseenManagers(in); why != "" {
		return outcome.CannotLook(foreignCCMs, why)
	}
	if found := strangers(in, by, observation.ForeignCCM.MayRun); len(found) > 0 {
		return outcome.Fails(ucv1.ForeignObjectsReason, tell(in, found, by))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// AloneStill is the part of the guard that is about other managers. Once the migration is completed, it holds also when
// nothing can be looked at.
func AloneStill(in pass.Input, guard outcome.Outcome) outcome.Outcome {
	out := NoOtherManager(in, ByLease)
	switch {
	case !guard.Holds || out.Holds:
		return guard
	case out.Failure != nil:
		return outcome.Fails(ucv1.CloudLoopsContendedReason, out.Text().Also("nothing is rolled until then"))
	case in.Facts.CompletedAt != nil:
		return guard
	}
	return out
}

func tell(in pass.Input, found []observation.ForeignCCM, by held) observation.Text {
	slices.SortFunc(found, func(a, b observation.ForeignCCM) int { return strings.Compare(a.String(), b.String()) })
	var told []observation.Text
	for _, m := range found {
		told = append(told, describe(in, m, by))
	}
	return observation.FirstOf(told, "manager", "managers")
}

// describe says what it is, what keeps it from running beside KCM and our CCM, and what to do.
func describe(in pass.Input, m observation.ForeignCCM, by held) observation.Text {
	text := observation.Say(m)
	if m.Owner != "" {
		text.Words += " (" + m.Owner + ")"
	}
	text = observation.Say(text, " is a cloud-controller-manager that is not ours, known by its "+m.KnownBy+"; ",
		describeLoops(in, m, by), " Stop it, or uninstall it")
	if !m.NodesOnly {
		text = observation.Say(text, ", and wait until its pods are gone")
	}
	if !m.NodesOnly && m.Elects() {
		text = observation.Say(text, " and ", leaseRef(m.Lease()), " has run out")
	}
	if m.SameName && comesEarly(in) {
		text.Words += "; or set spec.addons.adoption to Adopt: it has the name of ours, and becomes ours"
	}
	return observation.Say(text, "; if it serves another cluster, name it in spec.handover.acceptOtherManagers, like \"", m, "\".")
}

func describeLoops(in pass.Input, m observation.ForeignCCM, by held) observation.Text {
	const beside = "neither our fence nor a Lease keeps it from running them beside KCM and our CCM."
	fence := in.Fence.Value()
	runs, lease := "it runs "+wording.Names(m.Loops()), leaseRef(m.Lease())
	switch {
	case m.NodesOnly:
		return observation.Say(runs + ".")
	case !m.Arguments.Understood():
		return observation.Say("its arguments cannot be read, so it may run every cloud loop: " + m.Arguments.Problem + ".")
	case !m.Elects():
		return observation.Say(runs + " with --leader-elect=false: " + beside)
	case m.Lease() != fence.Lease:
		return observation.Say(runs+" with ", lease, ", and ours with "+fence.Lease+": "+beside)
	case locks(in):
		return observation.Say(runs+" with our CCM's ", lease, ", and without the migration lock: it may run them beside KCM.")
	case by == ByFence:
		return observation.Say(runs+" with our CCM's ", lease, ", as "+m.Identity+
			", which our fence does not bind: it may run them beside KCM.")
	}
	return observation.Say(runs + ".")
}

// idleManagers names those that are there and have no pods; empty when there are none.
func idleManagers(in pass.Input) string {
	var names []string
	for _, m := range in.ForeignCCMs.Value() {
		if m.Idle {
			names = append(names, m.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " These other cloud-controller-managers have no pods: " + wording.Names(names) + "."
}
