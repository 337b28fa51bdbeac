package simulation

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// keeper is what the record belongs to.
func (w *World) keeper() observation.Ref {
	if w.ControlPlane.KCM() == nil {
		return observation.Ref{}
	}
	return w.ControlPlane.observe(w.ControlPlane.KCM()).Ref
}

// needs of a pass, by the status that it finds.
func (w *World) needs() migration.Needs { return w.NeedsOf(w.Cluster.Status.Facts) }

// NeedsOf a pass that finds these facts.
func (w *World) NeedsOf(facts ucv1.Facts) migration.Needs {
	cluster := *w.Cluster
	cluster.Status.Facts = facts
	return migration.NeedsOf(&cluster, w.Provider(), w.Now)
}

// Facts that a Cluster of this name has recorded: they are not lost with its status.
func (w *World) Facts() ucv1.Facts {
	if w.Cluster.Status.Origin == "" && w.Record != nil {
		return w.Record.Facts
	}
	return w.Cluster.Status.Facts
}

// Keep the record, as comes before every write of the status and before the Cluster goes.
func (w *World) Keep(facts ucv1.Facts) {
	if record := migration.RecordOf(w.Cluster, w.keeper().UID, facts); record != nil {
		w.Record = record
	}
}

func (w *World) observeRecord() observation.Observed[observation.Record] {
	if w.Record == nil {
		return observation.Absent[observation.Record]()
	}
	record := *w.Record
	record.Ref = observation.Ref{Kind: "Secret", Namespace: w.Cluster.Namespace, Name: migration.RecordName(w.Cluster)}
	return observation.Known(record)
}
