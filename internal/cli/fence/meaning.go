package fence

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// silentSince is when KCM was proven silent at the latest, and the fact of status.handover that says so. By the migration
// lock the fence is opened before that.
func silentSince(cluster *ucv1.Cluster) (since *metav1.Time, fact string) {
	handover := cluster.Status.Handover
	switch {
	case handover == nil:
		return nil, "fenceOpenedAt"
	case handover.Protocol == ucv1.LeaderMigrationProtocol:
		return handover.LockTakenAt, "lockTakenAt"
	}
	return handover.FenceOpenedAt, "fenceOpenedAt"
}

// silenceDoubt says why the status of the Cluster is no leave to open the fence; empty when it is one.
func silenceDoubt(cluster *ucv1.Cluster) string {
	if cluster.Status.Rollback != nil {
		return "the migration is being rolled back, or is rolled back already: KCM has its cloud loops, or gets them back"
	}
	if since, fact := silentSince(cluster); since == nil {
		return "its status does not say that KCM was proven silent: status.handover." + fact + " is not set"
	}
	condition := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.HandoverCompletedCondition)
	if condition != nil && (condition.Reason == ucv1.CloudLoopsContendedReason || condition.Reason == ucv1.ProvingSilenceReason) {
		return "KCM was proven silent once, but not any longer: " + strings.TrimSuffix(condition.Message, ".")
	}
	return ""
}

// meaning is one sentence on what all of it comes to.
func (r *fenceReport) meaning() string {
	allowed, denied := r.verbs(true), r.verbs(false)
	switch r.Fence {
	case fenceUnknown:
		return "It is not known whether the fence is open or closed: conclude nothing from this."
	case fenceOpen:
		return "The fence is open, and " + r.leader()
	case fenceClosed:
		return "The fence is closed, and " + r.leader()
	}
	if r.bothThere() {
		return fmt.Sprintf("The fence should be open, but the API server of the user cluster says that %s may not %s Leases: look "+
			"again in a "+
			"few seconds; if it stays, open it again, and look for an authorizer that denies it.", r.Identity, denied)
	}
	return fmt.Sprintf("The fence does not hold: %s may %s Leases although our Role and RoleBinding are not as they are for an "+
		"open fence; "+
		"find the rule in the user cluster with %s and remove it.", r.Identity, allowed, r.canList())
}

func (r *fenceReport) bothThere() bool {
	there := 0
	for _, object := range r.Objects {
		if object.There {
			there++
		}
	}
	return there == 2 && r.verbs(false) != ""
}

// leader says what the CCM does, as far as its Lease and the fence tell.
func (r *fenceReport) leader() string {
	held := r.CCMLease.Holder
	switch {
	case r.CCMLease.Exists == nil:
		return "it is not known whether the CCM leads."
	case r.CCMLease.Renewed && r.Fence == fenceClosed:
		return held + " still renews the CCM's Lease: it ends at its renew deadline, or it is no CCM that this fence binds."
	case r.CCMLease.Renewed:
		return "the CCM leads: " + held + " runs the cloud loops."
	case r.Fence == fenceClosed:
		return "no CCM was seen to lead: it runs no cloud loop."
	}
	return "no CCM was seen to lead, so none runs the cloud loops: look at the logs of the CCM's pods in the user cluster" +
		cmp.Or(r.deploymentHint(), "; there is no Deployment of it") + "."
}

func (r *fenceReport) deploymentHint() string {
	names := make([]string, 0, len(r.Deployments))
	for _, found := range r.Deployments {
		names = append(names, found.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " (Deployment " + strings.Join(names, ", ") + ")"
}

func (r *fenceReport) verbs(allowed bool) string {
	var verbs []string
	for _, answer := range r.Access {
		if answer.Allowed == allowed {
			verbs = append(verbs, answer.Verb)
		}
	}
	return strings.Join(verbs, ", ")
}

func (r *fenceReport) canList() string {
	namespace, _, _ := strings.Cut(r.Lease, "/")
	return fmt.Sprintf("'kubectl auth can-i --list -n %s --as=%s'", namespace, r.Identity)
}

// text prints the report for people.
func (r *fenceReport) text(now time.Time) func(io.Writer) error {
	return func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		row := func(columns ...string) { fmt.Fprintln(w, strings.Join(columns, "\t")) }
		row("Cluster", r.Cluster+map[bool]string{true: " (paused)"}[r.Paused])
		row("Identity of the CCM", r.Identity)
		row("KCM's silence", r.silence())
		row("Fence", r.Fence)
		for _, object := range r.Objects {
			row("  "+object.Object, map[bool]string{true: "there", false: "missing"}[object.There])
		}
		for _, answer := range r.Access {
			row("  CCM may "+answer.Verb+" its Lease", map[bool]string{true: "allowed", false: "denied"}[answer.Allowed])
		}
		row("Lease of the CCM", r.CCMLease.text(now))
		row("Lease of KCM", r.KCMLease.text(now))
		if len(r.Deployments) == 0 {
			row("Deployment of the CCM", "none found")
		}
		for _, found := range r.Deployments {
			available := map[bool]string{true: "Available", false: "not Available"}[found.Available]
			row("Deployment of the CCM", fmt.Sprintf("%s: %s, %d of %d ready", found.Name, available, found.Ready, found.Replicas))
		}
		for _, problem := range r.Problems {
			row("Could not look", problem)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "\n%s\n", r.Meaning)
		return err
	}
}

func (r *fenceReport) silence() string {
	switch {
	case r.Doubt == "":
		return "proven by " + terminal.At(r.SilenceProvenAt)
	case r.SilenceProvenAt == nil:
		return "not proven: " + r.Doubt
	}
	return r.Doubt
}

func (l leaseReport) text(now time.Time) string {
	switch {
	case l.Exists == nil:
		return l.Lease + ": could not look"
	case !*l.Exists:
		return l.Lease + ": does not exist"
	case l.Holder == "":
		return l.Lease + ": no one holds it"
	}
	text := l.Lease + ": held by " + l.Holder
	if l.Renewed {
		return text + ", renewed while this looked"
	}
	text += ", not renewed while this looked"
	if l.LastRenewed != nil {
		text += fmt.Sprintf("; last renewed %s (%s ago by its own clock)", l.LastRenewed.UTC().Format(time.RFC3339),
			duration.HumanDuration(now.Sub(l.LastRenewed.Time)))
	}
	return text
}
