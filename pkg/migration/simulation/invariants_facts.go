package simulation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// persisting checks what is written into the status: facts that the world cannot say again are never lost.
func (i *invariants) persisting(w *World, p pass) {
	before, after := w.cluster.Status.Facts, *p.decision.Facts
	kept := lasting(after)
	for name, value := range lasting(before) {
		if value != "" && value != kept[name] {
			i.fail("fact %s was %q and becomes %q", name, value, kept[name])
		}
	}
	if after.Baseline != nil && w.baseline == nil {
		i.fail("fact baseline is persisted, but the baseline is not stored")
	}
	migrated := before.CompletedAt == nil && after.CompletedAt != nil && after.Origin == ucv1.OriginMigrating
	if migrated && len(p.truth.unproven) > 0 {
		i.fail("completed, but not proven: %v", p.truth.unproven)
	}
}

// lasting are the facts that never change once they are set, as text.
func lasting(f ucv1.Facts) map[string]string {
	facts := map[string]string{
		"startedAt": moment(f.StartedAt), "completedAt": moment(f.CompletedAt), "rollGeneration": f.RollGeneration,
	}
	if f.Origin != ucv1.OriginInTree {
		facts["origin"] = string(f.Origin)
	}
	if f.Inherited != nil {
		facts["inherited"] = f.Inherited.ClusterName
	}
	if f.Baseline != nil {
		facts["baseline"] = f.Baseline.Digest
	}
	return facts
}

func moment(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
