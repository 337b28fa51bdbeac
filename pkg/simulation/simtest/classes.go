package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// makeClasses of the scenario, and that of the driver, which is there while its set is applied.
func makeClasses(w *World) {
	w.Storage.Classes = []*simulation.Class{{Name: simulation.CSIClass, Provisioner: simulation.CSIDriver}}
	for _, class := range w.scenario.Classes {
		w.Storage.Classes = append(w.Storage.Classes, &class)
	}
}

// classifying checks one change of a default.
func (i *invariants) classifying(w *World, class *simulation.Class, becomes bool) {
	facts := w.Facts()
	switch {
	case class.Provisioner != simulation.InTreePlugin && class.Provisioner != simulation.CSIDriver:
		i.fail("rule 7: StorageClass %s, which is someone else's, is changed", class.Name)
	case facts.DefaultStorageClass != nil:
		i.fail("rule 7: the default StorageClass is changed although it was judged")
	case facts.Origin == ucv1.OriginMigrating && facts.CompletedAt == nil:
		i.fail("rule 7: the default StorageClass is changed before the point of no return")
	case !becomes:
		return
	}
	for _, name := range w.Storage.Defaults() {
		if name != class.Name {
			i.fail("rule 7: StorageClass %s becomes the default beside %s", class.Name, name)
		}
	}
}

// judged: what was recorded of the default is what was so at the moment of looking, and never is there none.
func (i *invariants) judged(p pass, after ucv1.Facts) {
	if after.DefaultStorageClass == nil {
		return
	}
	if !slices.Contains(p.truth.defaults, after.DefaultStorageClass.Name) {
		i.fail(
			"rule 7: the default StorageClass counts as judged to be %q, and is %v",
			after.DefaultStorageClass.Name,
			p.truth.defaults,
		)
	}
	if slices.Contains(p.truth.defaults, simulation.CSIClass) && len(p.truth.inTreeDefaults) > 0 {
		i.fail("rule 7: the default StorageClass counts as judged, and %v are the default, too", p.truth.inTreeDefaults)
	}
}

// MakeDefault has a person make a class of another driver the default, in place of all others.
func MakeDefault(w *World, name string) { choose(w, name, "csi.elsewhere") }

// MakeInTreeDefault has a person make a class of the in-tree plugin the default again, in place of all others.
func MakeInTreeDefault(w *World, name string) { choose(w, name, simulation.InTreePlugin) }

func choose(w *World, name, provisioner string) {
	for _, class := range w.Storage.Classes {
		class.Default = false
	}
	same := func(class *simulation.Class) bool { return class.Name == name }
	w.Storage.Classes = append(slices.DeleteFunc(w.Storage.Classes, same),
		&simulation.Class{Name: name, Provisioner: provisioner, Default: true})
}
