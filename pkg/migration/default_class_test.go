package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const cinder, cinderCSI = "kubernetes.io/cinder", "cinder.csi.openstack.org"

func storageClass(name, provisioner string, isDefault bool) observation.StorageClass {
	return observation.StorageClass{
		Ref: observation.Ref{Kind: "StorageClass", Name: name, UID: "uid-" + name}, Provisioner: provisioner, Default: isDefault,
	}
}

// judging is completed, but for the default StorageClass.
func judging() Observation {
	o := finished()
	edit(&o.Provider, func(p *observation.Provider) {
		p.DefaultClass = observation.DefaultClass{Name: "cinder", Plugin: cinder}
	})
	o.StorageClasses = observation.Known(
		[]observation.StorageClass{storageClass("cinder", cinderCSI, false), storageClass("standard", cinder, true)},
	)
	return o
}

// judgedDefault is the fact that the default StorageClass was judged, and which one is it.
func judgedDefault(name string) func(Gomega, ucv1.Facts) {
	return func(g Gomega, f ucv1.Facts) {
		g.Expect(f.DefaultStorageClass.Name).To(Equal(name))
		g.Expect(f.DefaultStorageClass.JudgedAt.Time).To(Equal(noon()))
	}
}

func TestDefaultStorageClassIsJudgedOnce(t *testing.T) {
	classes := func(classes ...observation.StorageClass) func(*Observation) {
		return func(o *Observation) { o.StorageClasses = observation.Known(classes) }
	}
	ours := storageClass("cinder", cinderCSI, false)
	runDecisions(t, map[string]decision{
		"ours takes the place of that of the in-tree plugin": {
			given: judging, step: ucv1.StepFinalize, action: outcome.ActionSwitchDefaultClass,
			says: []string{"StorageClass cinder", "in place of StorageClass standard"},
		},
		"ours is it where there is none": {
			given: judging, when: classes(ours, storageClass("standard", cinder, false)),
			step: ucv1.StepFinalize, action: outcome.ActionSwitchDefaultClass, says: []string{"Making StorageClass cinder the default."},
		},
		"that of another driver is left alone": {
			given: judging, when: classes(ours, storageClass("files", "csi.example.com", true)), step: ucv1.StepFinalize,
			action: outcome.ActionRecord, facts: judgedDefault("files"),
		},
		"ours that is it already is recorded": {
			given: judging, when: classes(storageClass("cinder", cinderCSI, true)), step: ucv1.StepFinalize, action: outcome.ActionRecord,
			facts: judgedDefault("cinder"),
		},
		"that of the in-tree plugin goes where ours is it already": {
			given: judging, when: classes(storageClass("cinder", cinderCSI, true), storageClass("standard", cinder, true)),
			step: ucv1.StepFinalize, action: outcome.ActionSwitchDefaultClass, says: []string{"in place of StorageClass standard"},
		},
		"one of ours that the owner made is another one": {
			given: judging, when: classes(ours, storageClass("retained", cinderCSI, true)), step: ucv1.StepFinalize,
			action: outcome.ActionRecord, facts: judgedDefault("retained"),
		},
		"ours that is not there yet is waited for": {
			given: judging, when: classes(storageClass("standard", cinder, true)), step: ucv1.StepFinalize, wait: ucv1.RollingOutReason,
			says: []string{"StorageClass cinder"},
		},
		"a class of our name with another provisioner is not ours": {
			given: judging, when: classes(storageClass("cinder", "csi.example.com", false)), step: ucv1.StepFinalize,
			wait: ucv1.RollingOutReason,
		},
		"where the driver is someone else's, the default is, too": {
			given: judging, when: func(o *Observation) {
				classes(storageClass("standard", cinder, true))(o)
				edit(&o.Addons, func(a *observation.Addons) { a.CSI.SatisfiedBy = "CSIDriver of Helm" })
			}, step: ucv1.StepFinalize, action: outcome.ActionRecord, facts: judgedDefault(""),
		},
		"classes that cannot be looked at are not none": {
			given: judging, when: func(o *Observation) { o.StorageClasses = observation.Unknown[[]observation.StorageClass]("timeout") },
			step: ucv1.StepFinalize, wait: ucv1.CouldNotLookReason, says: []string{"the StorageClasses: timeout"},
		},
		"what was judged is not looked at again": {
			given: judging, when: func(o *Observation) {
				o.Cluster.Status.DefaultStorageClass = &ucv1.DefaultStorageClassStatus{Name: "cinder", JudgedAt: stampAgo(time.Minute)}
			}, step: ucv1.StepFinished,
		},
		"flags that can be removed go first": {
			given: judging, when: func(o *Observation) {
				setKCM(o, silentArguments())
				o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
			}, step: ucv1.StepFinalize, action: outcome.ActionChangeArguments,
		},
	})
}

func TestTheFormerDefaultGoesFirst(t *testing.T) {
	g := NewWithT(t)
	o := judging()
	o.StorageClasses = observation.Known([]observation.StorageClass{
		storageClass("cinder", cinderCSI, false), storageClass("fast", cinder, true), storageClass("slow", cinder, false),
		storageClass("standard", cinder, true),
	})
	action := Decide(o, noon()).Next()
	g.Expect(observation.RefNames(action.Objects)).To(
		Equal([]string{"StorageClass fast", "StorageClass standard", "StorageClass cinder"}),
	)
	g.Expect(action.Objects[0].UID).To(Equal("uid-fast"))
	g.Expect(action.DefaultClass).To(Equal("cinder"))
}
