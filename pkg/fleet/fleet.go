package fleet

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// Fleet is all that a decision reads.
type Fleet struct {
	// Migrations in any order.
	Migrations []Migration
	// Members are all Clusters, selected or not: each that migrates counts in every budget.
	Members []Member
}

// Member is what of a Cluster the decision needs. It is small, so that a fleet of thousands can be kept.
type Member struct {
	Namespace, Name, UID string
	// Provider as the Cluster spells it, whether the catalogue knows it or not.
	Provider string
	// Labels of the Cluster, and of its namespace.
	Labels, NamespaceLabels labels.Set
	// NamespaceUnknown says that the labels of its namespace are not known: no one can say what selects it.
	NamespaceUnknown bool
	Deleting         bool
	// OutOfScope is the reason why there is nothing to migrate; empty where there is.
	OutOfScope string
	// Requested says that its feature is on, and HeldOff that someone wrote out that it is off.
	Requested, HeldOff bool
	// Immediate says that it starts without a FleetMigration (spec.admission).
	Immediate bool
	// Nodes of it, as they were last counted.
	Nodes observation.Observed[int32]
	// Blocking says whether its last look, which was at LookedAt, found something that blocks a migration.
	Blocking observation.Observed[bool]
	LookedAt time.Time
	// Unreachable is the reason why its API server cannot be asked; empty where it can.
	Unreachable string
	// Admission is nil until a FleetMigration claims it.
	Admission *ucv1.AdmissionStatus
	// StartedAt and CompletedAt of its migration; zero until then.
	StartedAt, CompletedAt time.Time
	// RolledOut says that all its Machines are replaced.
	RolledOut bool
	// RollingBack says that it is being rolled back, and RolledBack that it was.
	RollingBack, RolledBack bool
	// Paused by a person now, and PausedFor how long it was paused, or its roll held, altogether since it started.
	Paused    bool
	PausedFor time.Duration
	// AwaitsPlan says that its own plan has to be approved by a person first.
	AwaitsPlan bool
	// Stalled is why a person is needed, and since when; an empty reason where none is.
	Stalled Trouble
	// Troubles are all reasons of its conditions that are not True, with since when.
	Troubles []Trouble
	// HealthySince is since when one that is done has been Ready; zero while it is not.
	HealthySince time.Time
	// Verdict about its service level objectives, and since when; empty until there is one.
	Verdict   slo.Verdict
	VerdictAt time.Time
	// BeforeNoReturn says that it is known to be before its point of no return.
	BeforeNoReturn bool
	// Windows of its owner; nil where there are none.
	Windows *window.Calendar
	// WindowsUnreadable says that they cannot be read: it is never let go.
	WindowsUnreadable bool
	// places is what FleetMigrations and waves select it: see Placer.
	places []place
}

// Trouble is a reason and since when it has been there.
type Trouble struct {
	Reason string
	Since  time.Time
}

// String is namespace/name.
func (m *Member) String() string { return m.Namespace + "/" + m.Name }

// admitted says that a FleetMigration let it start.
func (m *Member) admitted() bool {
	return m.Admission != nil && m.Admission.State == ucv1.AdmissionAdmitted
}

// waitsAgain says that it was let go and is rolled back: if it is to migrate again, it waits for its turn as any other.
func (m *Member) waitsAgain() bool { return m.RolledBack && m.admitted() }

// begun is when it was admitted, or started without that; zero until then.
func (m *Member) begun() time.Time {
	if m.admitted() && m.Admission.AdmittedAt != nil {
		return m.Admission.AdmittedAt.Time
	}
	return m.StartedAt
}

// migrates says that it was let go and is not done: it may disrupt, whether it fails or not, and also while it is deleted or
// rolled back.
func (m *Member) migrates() bool {
	on := m.admitted() || !m.StartedAt.IsZero() || m.Immediate && m.Requested
	return on && m.CompletedAt.IsZero() && m.OutOfScope == "" && !m.RolledBack
}
