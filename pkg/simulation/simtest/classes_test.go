package simtest

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

func class(name, provisioner string, standard bool) simulation.Class {
	return simulation.Class{Name: name, Provisioner: provisioner, Default: standard}
}

func inTreeClass(name string, standard bool) simulation.Class {
	return class(name, simulation.InTreePlugin, standard)
}

func TestDefaultStorageClass(t *testing.T) {
	t.Parallel()
	classes := func(classes ...simulation.Class) func(*Scenario) { return func(s *Scenario) { s.Classes = classes } }
	created := func(s *Scenario) { s.CreatedWithFeature, s.KCMExternal = true, true }
	for name, tc := range map[string]struct {
		with []func(*Scenario)
		// want are the defaults at the end, says a line of the story.
		want []string
		says string
	}{
		"that of the driver, where there is none": {want: []string{simulation.CSIClass}, says: "Finalize: SwitchDefaultClass: Making " +
			"StorageClass simcloud-csi the default."},
		"that of the driver, in place of those of the in-tree plugin": {
			with: []func(*Scenario){classes(inTreeClass("standard", true), inTreeClass("fast", true), inTreeClass("slow", false))},
			want: []string{simulation.CSIClass}, says: "in place of StorageClass fast, StorageClass standard",
		},
		"that of another driver is left alone": {
			with: []func(*Scenario){classes(class("files", "csi.elsewhere", true), class("standard", simulation.InTreePlugin, false))},
			want: []string{"files"}, says: "the default is StorageClass files: it is left alone",
		},
		"two, of which one is of another driver, are left alone": {
			with: []func(*Scenario){classes(class("standard", simulation.InTreePlugin, true), class("files", "csi.elsewhere", true))},
			want: []string{"standard", "files"}, says: "the default is StorageClass files: it is left alone",
		},
		"that of the driver in a cluster that was created with the feature": {
			with: []func(*Scenario){created}, want: []string{simulation.CSIClass}, says: "Handover: SwitchDefaultClass",
		},
		"what a person makes of it later stays": {
			with: []func(*Scenario){classes(class("standard", simulation.InTreePlugin, true)), func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "makes it the default again", When: Finished, Do: func(w *World) { MakeInTreeDefault(w, "standard") }},
				}
			}},
			want: []string{"standard"}, says: "person: makes it the default again",
		},
		"what a person makes of it before is left alone": {
			with: []func(*Scenario){classes(class("standard", simulation.InTreePlugin, true)), func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "chooses another", When: AtStep(ucv1.StepRoll), Do: func(w *World) { MakeDefault(w, "chosen") }},
				}
			}},
			want: []string{"chosen"}, says: "the default is StorageClass chosen: it is left alone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(20) {
				s := plain()
				for _, change := range tc.with {
					change(&s)
				}
				var world *World
				s.Interventions = append(s.Interventions, Intervention{Name: "looks", When: Finished, Do: func(w *World) { world = w }})
				transcript, err := Run(seed, s)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
				g.Expect(world.Storage.Defaults()).To(Equal(tc.want), transcript.String())
				g.Expect(transcript.Says(tc.says)).To(BeTrue(), transcript.String())
			}
		})
	}
}
