package simulation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// keeper is what the record belongs to.
func (w *World) keeper() observation.Ref {
	if w.controlPlane.kcm() == nil {
		return observation.Ref{}
	}
	return w.controlPlane.observe(w.controlPlane.kcm()).Ref
}

// needs of a pass, by the status that it finds.
func (w *World) needs() migration.Needs { return w.needsOf(w.cluster.Status.Facts) }

func (w *World) needsOf(facts ucv1.Facts) migration.Needs {
	cluster := *w.cluster
	cluster.Status.Facts = facts
	return migration.NeedsOf(&cluster, w.provider(), w.now)
}

// facts that a Cluster of this name has recorded: they are not lost with its status.
func (w *World) facts() ucv1.Facts {
	if w.cluster.Status.Origin == "" && w.record != nil {
		return w.record.Facts
	}
	return w.cluster.Status.Facts
}

// keep the record, as comes before every write of the status and before the Cluster goes.
func (w *World) keep(facts ucv1.Facts) {
	if record := migration.RecordOf(w.cluster, w.keeper().UID, facts); record != nil {
		w.record = record
	}
}

func (w *World) observeRecord() observation.Observed[observation.Record] {
	if w.record == nil {
		return observation.Absent[observation.Record]()
	}
	record := *w.record
	record.Ref = observation.Ref{Kind: "Secret", Namespace: w.cluster.Namespace, Name: migration.RecordName(w.cluster)}
	return observation.Known(record)
}

// Abandon the Cluster: it goes at once when it is deleted.
func Abandon(w *World) {
	metav1.SetMetaDataAnnotation(&w.cluster.ObjectMeta, ucv1.AbandonAnnotation, "true")
}

// Return applies the Cluster again that is gone, from the same file: it has the feature from its first generation.
func Return(w *World) {
	if !w.released {
		return
	}
	DropStatus(w)
	w.cluster.DeletionTimestamp, w.released = nil, false
}

// DropStatus is a backup that is restored: another object, of the same name, with the same spec and without a status.
func DropStatus(w *World) {
	w.cluster = &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.cluster.Name, Namespace: w.cluster.Namespace, UID: types.UID(w.id("cluster")), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.now), DeletionTimestamp: w.cluster.DeletionTimestamp,
		},
		Spec: *w.cluster.Spec.DeepCopy(),
	}
}

// Gone is for interventions that come when the deleted Cluster is gone.
func Gone(w *World) bool { return w.released }
