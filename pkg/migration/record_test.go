package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// returned is a stage as it was left, and a new Cluster of the name that knows nothing of it. It looks as if it had been created
// with the feature.
func returned(stage func() Observation) func() Observation {
	return func() Observation {
		o := stage()
		record := *RecordOf(o.Cluster, "kcm", o.Cluster.Status.Facts)
		record.Ref = observation.Ref{Kind: "Secret", Namespace: "user-alpha", Name: RecordName(o.Cluster)}
		o.Record = observation.Known(record)
		o.Cluster.UID, o.Cluster.Generation, o.Cluster.Annotations = "another", 1, nil
		o.Cluster.Status, o.Processes = ucv1.ClusterStatus{}, nil
		return o
	}
}

func keptAs(change func(*observation.Record)) func(*Observation) {
	return func(o *Observation) { edit(&o.Record, change) }
}

// featureOff is a cluster whose KCM runs the cloud loops, as far as its arguments tell.
func featureOff(o *Observation) {
	o.Cluster.Spec.Features.ExternalCloudProvider = nil
	o.InTree = observation.Known(observation.Component{Ref: kcmRef(), Arguments: inTree(), Replicas: 1})
}

func kcmRef() observation.Ref {
	return observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: "kcm"}
}

// same facts as the stage had.
func same(stage func() Observation) func(Gomega, ucv1.Facts) {
	return func(g Gomega, f ucv1.Facts) {
		f.UnattendedSince = nil // It is judged by what is seen.
		g.Expect(f).To(Equal(withoutOutput(stage().Cluster.Status.Facts)))
	}
}

// completedExternal was created with the feature, and its CCM led.
func completedExternal() Observation {
	o := external()
	o.Cluster.Status.Facts = ucv1.Facts{
		Origin: ucv1.OriginExternal, CompletedAt: stampAgo(time.Hour), Inherited: &ucv1.InheritedConfiguration{
			ClusterName: "prod", ClusterUID: "the first",
		},
	}
	return o
}

func none(g Gomega, f ucv1.Facts) {
	f.UnattendedSince, f.LookAhead = nil, nil
	g.Expect(f).To(Equal(ucv1.Facts{}))
}

func TestAClusterThatReturnsGoesOn(t *testing.T) {
	t.Parallel()
	runDecisions(t, map[string]decision{
		"before its start":            {given: returned(fresh), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(fresh), says: []string{"Going on where an earlier Cluster"}},
		"before the hand-over":        {given: returned(starting), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(starting)},
		"with the loops off":          {given: returned(fenced), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(fenced)},
		"in the roll":                 {given: returned(proving), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(proving)},
		"in the middle of a rollback": {given: returned(loopsBack), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(loopsBack)},
		"when it is finished":         {given: returned(finished), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(finished)},
		"one of origin External":      {given: returned(completedExternal), step: ucv1.StepAddons, action: outcome.ActionRecord, facts: same(completedExternal)},
		"while it is paused":          {given: returned(fenced), when: func(o *Observation) { o.Cluster.Spec.Paused = true }, step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(fenced)},
		"while it is deleted already": {given: deleted(returned(fenced)), step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: same(fenced)},
		"after it was seen in-tree": {
			given: returned(fenced), when: func(o *Observation) { o.Cluster.Status.Origin = ucv1.OriginInTree }, step: ucv1.StepAdmitted,
			action: outcome.ActionRecord, facts: same(fenced),
		},
		"but not when its status knows more": {
			given: finished, when: func(o *Observation) { o.Record = observation.Known(observation.Record{Problem: "it is not read"}) },
			step: ucv1.StepFinished,
		},
		"and one without a record is judged by what it is": {
			given: returned(fenced), when: func(o *Observation) { o.Record = observation.Absent[observation.Record]() },
			step: ucv1.StepAddons, action: outcome.ActionRecord, facts: origin(ucv1.OriginExternal),
		},
	})
}

func TestARecordIsNeverGuessed(t *testing.T) {
	t.Parallel()
	refused := func(when func(*Observation), says ...string) decision {
		return decision{
			given: returned(fenced), when: when, step: ucv1.StepAdmitted, fails: ucv1.RecordUnusableReason, says: says, facts: none,
		}
	}
	blind := func(when func(*Observation)) decision {
		return decision{given: returned(fenced), when: when, step: ucv1.StepAdmitted, wait: ucv1.CouldNotLookReason, facts: none}
	}
	runDecisions(t, map[string]decision{
		"one that cannot be read is refused":         refused(keptAs(func(r *observation.Record) { r.Problem = "key facts.json has 0 bytes" }), "cannot be read: key facts.json has 0 bytes. Restore it"),
		"one of another KCM is refused":              refused(keptAs(func(r *observation.Record) { r.Keeper = "earlier" }), "UID earlier", "has UID kcm", "controlPlaneUID"),
		"one of another provider is refused":         refused(keptAs(func(r *observation.Record) { r.Provider = "aws" }), "with provider aws"),
		"one whose control plane is gone is refused": refused(func(o *Observation) { o.Keeper = observation.Absent[observation.Ref]() }, "its control plane is not there"),
		"one that cannot be looked at is waited for": blind(func(o *Observation) { o.Record = observation.Unknown[observation.Record]("timeout") }),
		"one is not used while no one knows whose":   blind(func(o *Observation) { o.Keeper = observation.Unknown[observation.Ref]("timeout") }),
		"with the feature off, what began calls a person": {
			given: returned(fenced), when: featureOff, step: ucv1.StepInTree, fails: ucv1.MigrationRecordedReason,
			says: []string{"Set spec.features.externalCloudProvider to true"}, facts: none,
		},
		"with the feature off, one of origin External says nothing: KCM's arguments do": {
			given: returned(completedExternal), when: func(o *Observation) {
				featureOff(o)
				edit(&o.InTree, func(kcm *observation.Component) { kcm.Arguments = o.ControlPlane.Value().KCM.Arguments })
			}, step: ucv1.StepInTree, fails: ucv1.LoopsOffAlreadyReason, facts: origin(ucv1.OriginInTree),
		},
		"with the feature off, what never began is in-tree": {
			given: returned(fresh), when: featureOff, step: ucv1.StepInTree, facts: origin(ucv1.OriginInTree),
		},
	})
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	o := finished()
	o.Cluster.Status.Handover.Stage, o.Cluster.Status.Handover.Proof = "FenceOpen", []ucv1.ProofItem{{Name: "Nodes"}}
	record := *RecordOf(o.Cluster, "kcm", o.Cluster.Status.Facts)
	data, err := EncodeRecord(record)
	g.Expect(err).NotTo(HaveOccurred())
	read := DecodeRecord(data)
	g.Expect(read.Problem).To(BeEmpty())
	g.Expect(read.Holds(record)).To(BeTrue())
	g.Expect(read.Facts.Handover.Stage).To(BeEmpty(), "nothing reads it back")
	g.Expect(RecordOf(o.Cluster, "kcm", ucv1.Facts{Origin: ucv1.OriginInTree})).To(BeNil())

	for name, spoil := range map[string]func(map[string][]byte){
		"no facts":                    func(d map[string][]byte) { delete(d, RecordFactsKey) },
		"facts that are no JSON":      func(d map[string][]byte) { d[RecordFactsKey] = []byte("startedAt: noon") },
		"facts of a newer version":    func(d map[string][]byte) { d[RecordFactsKey] = []byte(`{"origin":"Migrating","later":1}`) },
		"facts without an origin":     func(d map[string][]byte) { d[RecordFactsKey] = []byte(`{"startedAt":"2026-01-01T12:00:00Z"}`) },
		"facts and something more":    func(d map[string][]byte) { d[RecordFactsKey] = append(d[RecordFactsKey], "{}"...) },
		"more than facts can be":      func(d map[string][]byte) { d[RecordFactsKey] = append(d[RecordFactsKey], make([]byte, mostRecord)...) },
		"no one whose record it is":   func(d map[string][]byte) { delete(d, RecordKeeperKey) },
		"no provider":                 func(d map[string][]byte) { d[RecordProviderKey] = nil },
		"nothing at all":              func(d map[string][]byte) { clear(d) },
		"a time that is not a time":   func(d map[string][]byte) { d[RecordFactsKey] = []byte(`{"origin":"Migrating","startedAt":"noon"}`) },
		"an origin no one would keep": func(d map[string][]byte) { d[RecordFactsKey] = []byte(`{"origin":"InTree"}`) },
	} {
		data, err := EncodeRecord(record)
		g.Expect(err).NotTo(HaveOccurred())
		spoil(data)
		read := DecodeRecord(data)
		g.Expect(read.Problem).NotTo(BeEmpty(), name)
		g.Expect(read.Problem).NotTo(ContainSubstring("noon"), "it quotes nothing")
		g.Expect(read.Holds(record)).To(BeFalse(), name)
	}
}

func TestWhatLetsADeletedClusterGoAtOnce(t *testing.T) {
	t.Parallel()
	abandoned := func(o *Observation) { o.Cluster.Annotations[ucv1.AbandonAnnotation] = "true" }
	runDecisions(t, map[string]decision{
		"annotation abandon, with the loops off": {given: deleted(fenced), when: abandoned, step: ucv1.StepHandover, action: outcome.ActionRelease, says: []string{"annotation usercluster.k8c.io/abandon says so"}},
		"annotation abandon, in the roll":        {given: deleted(proving), when: abandoned, step: ucv1.StepRoll, action: outcome.ActionRelease},
		"annotation abandon, in a rollback":      {given: deleted(loopsBack), when: abandoned, step: ucv1.StepRolledBack, action: outcome.ActionRelease},
		"annotation abandon, although it is paused": {
			given: deleted(fenced), when: func(o *Observation) { abandoned(o); o.Cluster.Spec.Paused = true }, step: ucv1.StepHandover,
			action: outcome.ActionRelease,
		},
		"annotation abandon, when nothing can be looked at": {
			given: deleted(fenced), when: func(o *Observation) { abandoned(o); *o = Observation{Cluster: o.Cluster} },
			step: ucv1.StepAddons, action: outcome.ActionRelease,
		},
		"annotation abandon does nothing to one that stays": {given: fenced, when: abandoned, step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence},
		"another value of the annotation is none": {
			given: deleted(fenced), when: func(o *Observation) { o.Cluster.Annotations[ucv1.AbandonAnnotation] = "false" },
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"a namespace that goes": {
			given: deleted(fenced), when: func(o *Observation) { o.NamespaceTerminating = observation.Known(true) },
			step: ucv1.StepHandover, action: outcome.ActionRelease, says: []string{"its namespace is being deleted"},
		},
		"a namespace that stays is no reason": {
			given: deleted(fenced), when: func(o *Observation) { o.NamespaceTerminating = observation.Known(false) },
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"a namespace that cannot be looked at is no reason": {
			given: deleted(fenced), when: func(o *Observation) { o.NamespaceTerminating = observation.Unknown[bool]("timeout") },
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"a control plane that is gone, in a rollback": {
			given: deleted(loopsBack), when: func(o *Observation) { o.ControlPlane = observation.Absent[observation.ControlPlane]() },
			step: ucv1.StepRolledBack, action: outcome.ActionRelease, says: []string{"its control plane is gone"},
		},
		"a control plane that cannot be looked at is no reason": {
			given: deleted(fenced), when: func(o *Observation) {
				o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout")
			}, step: ucv1.StepAddons, wait: ucv1.CouldNotLookReason,
		},
	})
	d := Decide(deleted(fenced)(), noon())
	NewWithT(t).Expect(d.Leaving).To(Equal("The Cluster is being deleted; it goes when the hand-over is complete, so that the " +
		"cloud loops do not stay off, or at once with annotation usercluster.k8c.io/abandon=true."))
}
