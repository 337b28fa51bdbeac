package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// MaxMessage bounds a condition's message; the API allows 32768 characters, a person reads fewer.
const MaxMessage = 1024

// Pass is what a status is computed from: a Cluster as a pass found it, and what that pass observed, decided and did.
type Pass struct {
	Cluster  *ucv1.Cluster
	Now      time.Time
	Observed observation.Observation
	// PreflightAt is when preflight read what its findings rest on.
	PreflightAt time.Time
	// Credentials are what is found about ours after the start; unknown when the user cluster cannot be reached.
	Credentials observation.Observed[[]observation.Finding]
	// Acceptances of the spec, with who vouches for them. PausedBy is who set spec.paused as it is.
	Acceptances []ucv1.AcceptanceStatus
	PausedBy    string

	// Decision, and what is shown beside it.
	Decision migration.Decision
	Shown    migration.Shown

	// ActErr is why the action of the decision was not done.
	ActErr error
	// Unkept says that the proofs of kubelets could not be kept, so that nothing was done.
	Unkept bool

	// Pending are actions of earlier passes whose status could not be written.
	Pending []ucv1.TimelineEntry
}

// statusWriter collects the conditions of one pass. Those that are not set in a pass are gone after it.
type statusWriter struct {
	before []metav1.Condition
	after  []metav1.Condition
	now    time.Time
	gen    int64
	// about are the objects that the message of condition Ready named, and names now.
	aboutBefore, about []ucv1.ObjectName
}

// ready sets the summary, with what its message names.
func (w *statusWriter) ready(status metav1.ConditionStatus, reason string, message ...any) {
	said := observation.Say(message...)
	w.set(ucv1.ReadyCondition, status, reason, said.Words)
	w.about = observation.NamesOf(said.Objects)
}

func (w *statusWriter) set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	condition := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: wording.Bounded(message, MaxMessage),
		ObservedGeneration: w.gen, LastTransitionTime: metav1.NewTime(w.now),
	}
	// What is not known while a control plane sleeps is Unknown, too. How long it may not be known after that counts from when it
	// woke.
	old := meta.FindStatusCondition(w.before, conditionType)
	if old != nil && old.Status == status && (old.Reason != ucv1.HibernatedReason || reason == old.Reason) {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	w.after = append(w.after, condition)
}

func (w *statusWriter) keep(conditionType string) bool {
	old := meta.FindStatusCondition(w.before, conditionType)
	if old == nil {
		return false
	}
	w.set(conditionType, old.Status, old.Reason, old.Message)
	return true
}

// Compute is the whole intent of a pass: every condition that applies to the cluster's origin, every time.
func Compute(p *Pass) ucv1.ClusterStatus {
	status := *p.Cluster.Status.DeepCopy()
	if p.Decision.Facts != nil && p.factsHold() {
		status.Facts = *p.Decision.Facts.DeepCopy()
	}
	if p.Decision.Facts != nil {
		status.UnattendedSince = p.Decision.Facts.UnattendedSince // It is so whether an action failed or not.
	}
	setProof(&status, p.Decision.Proof)
	setPointOfNoReturn(&status, p.Decision.PointOfNoReturn)
	setPreflight(&status, p)
	setPlan(&status, p)
	status.ObservedGeneration = p.Cluster.Generation
	status.Step = p.Decision.Step
	if p.Decision.Wait == nil || !p.Decision.Wait.Unknown {
		status.Instructions = p.Decision.Instructions
	}
	if p.Cluster.ExternalCloudProvider() {
		setCounts(&status, p)
		setInventory(&status, p)
	} else if seen := p.Shown.Progress; seen != nil {
		status.Nodes = &ucv1.NodeCount{Total: seen.Nodes.Total, Initialized: seen.Nodes.Initialized} // Budgets of fleets count them.
	}
	w := &statusWriter{before: p.Cluster.Status.Conditions, aboutBefore: status.About, now: p.Now, gen: p.Cluster.Generation}
	setReady(w, p, status.Facts)
	setPaused(w, p.Cluster, p.Decision.RollsOn)
	setReadiness(w, p.Decision.Readiness)
	if p.Cluster.ExternalCloudProvider() {
		setAttended(w, p.Decision.Attendance)
		if !p.Decision.Unreached {
			setReachable(w, p.Observed.Connection)
		}
		setSteps(w, p)
	}
	status.Conditions, status.About = w.after, w.about
	status.Acceptances = p.Acceptances
	neutral(&status)
	status.Timeline = extendTimeline(p, status)
	return status
}

// setProof shows the items as they were last seen.
func setProof(status *ucv1.ClusterStatus, proof []ucv1.ProofItem) {
	if status.Handover == nil || len(proof) == 0 {
		return
	}
	status.Handover.Proof = slices.Clone(proof)
	for i := range status.Handover.Proof {
		status.Handover.Proof[i].Message = wording.Bounded(status.Handover.Proof[i].Message, MaxMessage)
	}
}

// setPointOfNoReturn shows it as it was last seen.
func setPointOfNoReturn(status *ucv1.ClusterStatus, seen *ucv1.PointOfNoReturnStatus) {
	if status.Handover == nil || seen == nil {
		return
	}
	seen.Reason, seen.Next = wording.Bounded(seen.Reason, MaxMessage), wording.Bounded(seen.Next, MaxMessage)
	status.Handover.PointOfNoReturn = seen
}

// setPlan keeps the plan as it was last seen: after the start, the one that it started with.
func setPlan(status *ucv1.ClusterStatus, p *Pass) {
	seen, known := p.Observed.Plan.Get()
	if !known {
		return
	}
	madeAt := new(metav1.NewTime(p.Now))
	if status.Plan != nil && status.Plan.Digest == seen.Digest {
		madeAt = cmp.Or(status.Plan.MadeAt, madeAt)
	}
	status.Plan = &ucv1.PlanStatus{Digest: seen.Digest, Summary: wording.Bounded(seen.Summary, MaxMessage), MadeAt: madeAt}
}

// factsHold: what an action that failed was to bring about is not so. Neither the annotations nor a Lease that is freed are what
// facts rest on: were they refused for good, the ends of processes would be forgotten in every pass.
func (p *Pass) factsHold() bool {
	if p.ActErr == nil {
		return true
	}
	return !p.Unkept &&
		(p.Decision.Next().Kind == outcome.ActionRestoreAnnotations || p.Decision.Next().Kind == outcome.ActionFreeLease)
}

func setPaused(w *statusWriter, cluster *ucv1.Cluster, rollsOn string) {
	if cluster.Spec.Paused {
		w.set(ucv1.PausedCondition, metav1.ConditionTrue, ucv1.PausedReason, pausedMessage(cluster, rollsOn))
		return
	}
	w.set(ucv1.PausedCondition, metav1.ConditionFalse, ucv1.NotPausedReason, "spec.paused is not true.")
}

// pausedMessage also says what a pause does not stop, and what would: a person who pauses in the middle of a roll counts on both.
func pausedMessage(cluster *ucv1.Cluster, rollsOn string) string {
	message := "spec.paused is true: the controller changes nothing."
	if !cluster.DeletionTimestamp.IsZero() {
		message = "spec.paused is true: the controller changes nothing, and this Cluster, which is being deleted, stays until that " +
			"is taken back."
	}
	switch {
	case rollsOn == "":
	case cluster.Status.Rollback != nil:
		message += " The machine-controller goes on with what it was told to roll back: " + rollsOn +
			"; to stop one, set its spec.paused."
	default:
		message += " No further step is granted to " + rollsOn +
			", but the machine-controller still replaces what maxSurge and maxUnavailable allow, and goes on deleting the Machines " +
			"that are going; its own Deployment at 0 replicas stops that, spec.paused of a MachineDeployment does not."
	}
	return message
}

func setReachable(w *statusWriter, connection observation.Connection) {
	status := metav1.ConditionUnknown
	switch {
	case connection.Reachable && connection.Reason == ucv1.ReachableReason:
		status = metav1.ConditionTrue
	case connection.Refused:
		status = metav1.ConditionFalse
	}
	w.set(ucv1.UserClusterReachableCondition, status, connection.Reason, strings.TrimSuffix(connection.Message, ".")+".")
}

// setSteps sets the condition of every row, and the two of row Addons.
func setSteps(w *statusWriter, p *Pass) {
	for _, row := range p.Decision.Rows {
		switch row.Step {
		case ucv1.StepAddons:
			setRow(w, ucv1.CSIReadyCondition, *p.Shown.CSI)
			setRow(w, ucv1.CloudControllerManagerReadyCondition, *p.Shown.CCM)
		case ucv1.StepComplete:
			setCompleted(w, p, row)
		default:
			for _, condition := range migration.RowOf(p.Cluster.Status.Origin, row.Step).Conditions {
				setRow(w, condition, row)
			}
		}
	}
}

func setRow(w *statusWriter, conditionType string, row migration.RowState) {
	status := metav1.ConditionFalse
	switch {
	case row.Holds:
		status = metav1.ConditionTrue
	case row.Unknown:
		status = metav1.ConditionUnknown
	}
	reason, message := row.Reason, row.Message
	if message == "" {
		message = "The step's post-condition holds."
	}
	w.set(conditionType, status, reason, message)
}

// setCompleted keeps the promise of the manual: two reasons, and nothing else.
func setCompleted(w *statusWriter, p *Pass, row migration.RowState) {
	completed := p.Cluster.Status.CompletedAt != nil ||
		(p.Decision.Facts != nil && p.Decision.Facts.CompletedAt != nil && p.ActErr == nil)
	if row.Holds || completed {
		w.set(
			ucv1.CSIKubeletMigrationCompletedCondition,
			metav1.ConditionTrue,
			ucv1.CSIKubeletMigrationSuccessReason,
			"The migration to the external CCM and CSI driver is completed.",
		)
		return
	}
	if row.Reason == ucv1.RollbackInProgressReason || row.Reason == ucv1.RolledBackReason {
		w.set(ucv1.CSIKubeletMigrationCompletedCondition, metav1.ConditionFalse, ucv1.CSIKubeletMigrationInProgressReason, row.Message)
		return
	}
	w.set(ucv1.CSIKubeletMigrationCompletedCondition, metav1.ConditionFalse, ucv1.CSIKubeletMigrationInProgressReason,
		fmt.Sprintf("Migrating to the external CCM and CSI driver; the current step is %s.", p.Decision.Step))
}
