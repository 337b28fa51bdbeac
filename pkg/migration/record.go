package migration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// The keys of the Secret with the record. Each is plain, so that a person can read it, and say by RecordKeeperKey that another
// object is the same control plane.
const (
	RecordKeeperKey   = "controlPlaneUID"
	RecordProviderKey = "provider"
	RecordFactsKey    = "facts.json"
)

// mostRecord bounds what a Secret that someone changed can make of our memory; the facts of a large cluster have 20 KiB.
const mostRecord = 256 << 10

// RecordName of the Secret beside the Cluster.
func RecordName(cluster *ucv1.Cluster) string { return cluster.Name + "-ccm-migration-record" }

// RecordOf is what is to be kept; nil before there is anything that the world could not say again. A cluster of origin External
// has one, too: it tells the Cluster that returns under its name whose volumes are its own (ClusterUID), and since when its CCM
// leads. With the feature off it holds nothing up, because no migration began.
func RecordOf(cluster *ucv1.Cluster, keeper string, facts ucv1.Facts) *observation.Record {
	if !resolved(facts.Origin) {
		return nil
	}
	return &observation.Record{Keeper: keeper, Provider: cluster.Spec.Cloud.ProviderName, Facts: withoutOutput(facts)}
}

func resolved(origin ucv1.Origin) bool {
	return origin == ucv1.OriginMigrating || origin == ucv1.OriginExternal
}

// withoutOutput leaves out what nothing reads back. When a cluster is looked at is no fact of it, and changes with each look.
func withoutOutput(facts ucv1.Facts) ucv1.Facts {
	kept := *facts.DeepCopy()
	kept.LookAhead = nil
	if kept.Handover != nil {
		kept.Handover.Stage, kept.Handover.Proof, kept.Handover.PointOfNoReturn = "", nil, nil
	}
	return kept
}

// EncodeRecord of the Secret.
func EncodeRecord(r observation.Record) (map[string][]byte, error) {
	facts, err := json.Marshal(r.Facts)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	return map[string][]byte{RecordKeeperKey: []byte(r.Keeper), RecordProviderKey: []byte(r.Provider), RecordFactsKey: facts}, nil
}

// DecodeRecord reads the data of the Secret. What it does not know may be a fact of a newer version: nothing is left out. A
// problem quotes nothing of it.
func DecodeRecord(data map[string][]byte) observation.Record {
	record := observation.Record{Keeper: string(data[RecordKeeperKey]), Provider: string(data[RecordProviderKey])}
	record.Facts, record.Problem = decodeFacts(data[RecordFactsKey])
	if record.Keeper == "" || record.Provider == "" {
		record.Problem = cmp.Or(record.Problem, "key "+RecordKeeperKey+" or "+RecordProviderKey+" is empty")
	}
	return record
}

func decodeFacts(encoded []byte) (facts ucv1.Facts, problem string) {
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&facts); {
	case len(encoded) == 0, len(encoded) > mostRecord:
		problem = fmt.Sprintf("key %s has %d bytes", RecordFactsKey, len(encoded))
	case err != nil, decoder.More():
		problem = "key " + RecordFactsKey + " does not hold the facts of a migration as this version writes them"
	case !resolved(facts.Origin):
		problem = "key " + RecordFactsKey + " does not say where the cluster came from"
	default:
		return facts, ""
	}
	return ucv1.Facts{}, problem
}

// ClusterUID tells the volumes of clusters apart that have the same name. A Cluster that returned keeps that of the first.
func ClusterUID(cluster *ucv1.Cluster) string {
	if inherited := cluster.Status.Inherited; inherited != nil && inherited.ClusterUID != "" {
		return inherited.ClusterUID
	}
	return string(cluster.UID)
}

// recall takes up what an earlier Cluster of this name had recorded, when the status knows nothing of a migration. A record that
// is not certainly of this control plane is refused: its processes, flags and originals would be those of another one.
func recall(in pass.Input) (Decision, bool) {
	if resolved(in.Facts.Origin) || in.Record.IsAbsent() {
		return Decision{}, false
	}
	feature := in.Cluster.ExternalCloudProvider()
	record, known := in.Record.Get()
	switch refused := refusal(in, record); {
	case !known && !feature:
		return Decision{}, false
	case !known:
		return stopAt(in, ucv1.StepAdmitted, outcome.CannotLook("the record of an earlier migration", in.Record.Why())), true
	case !feature && (refused != nil || record.Facts.StartedAt == nil):
		return Decision{}, false
	case !feature:
		return Decision{
			Step: ucv1.StepInTree,
			Failure: outcome.Fails(ucv1.MigrationRecordedReason, "The feature externalCloudProvider is off, but ", record,
				" says that a migration of this control plane began. Set spec.features.externalCloudProvider to true: it goes on where it "+
					"was, or, with "+
					"spec.handover.rollback, back.").Failure,
		}, true
	case refused != nil:
		return stopAt(in, ucv1.StepAdmitted, *refused), true
	}
	in = in.From(&record.Facts)
	out := outcome.Records("Going on where an earlier Cluster of this name was, by " + record.String() + ".")
	out.Facts = &record.Facts
	decision := stopAt(in, Table(in.Facts.Origin)[0].Step, out)
	decision.recalled = true
	return decision, true
}

// refusal of a record; nil when it can be used.
func refusal(in pass.Input, record observation.Record) *outcome.Outcome {
	keeper, known := in.Keeper.Get()
	discard := ", or, only when no migration of this cluster ever began, delete the Secret."
	var out outcome.Outcome
	switch provider := in.Cluster.Spec.Cloud.ProviderName; {
	case record.Problem != "":
		out = outcome.Fails(
			ucv1.RecordUnusableReason,
			record, " with the record of an earlier migration cannot be read: "+record.Problem+
				". Restore it from a backup, go back to the version of the controller that wrote it"+discard,
		)
	case in.Keeper.IsAbsent():
		out = outcome.Fails(ucv1.RecordUnusableReason, record, " has the record of an earlier migration, and its control "+
			"plane is not there. Restore that"+discard)
	case !known:
		out = outcome.CannotLook(observation.Say("whose record ", record, " is"), in.Keeper.Why())
	case record.Keeper != keeper.UID:
		out = outcome.Fails(ucv1.RecordUnusableReason, record, " has the record of an earlier migration of an object with "+
			"UID "+record.Keeper+", and ", keeper,
			" has UID "+keeper.UID+". If that is the same control plane, restored, write its UID into key "+RecordKeeperKey+discard)
	case record.Provider != provider:
		out = outcome.Fails(
			ucv1.RecordUnusableReason,
			record, " has the record of an earlier migration with provider "+record.Provider+
				", and spec.cloud.providerName is "+provider+". Create the Cluster with the provider of before"+discard,
		)
	default:
		return nil
	}
	return &out
}
