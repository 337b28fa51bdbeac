package simulation

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	csiClass = "simcloud-csi"
	// InTreePlugin is the provisioner of the classes that the driver's is the successor of.
	InTreePlugin = "kubernetes.io/simcloud"
)

// Storage is what volumes are made by.
type Storage struct {
	w *World

	phase       string
	made        []observation.Volume
	attachments []observation.Attachment
	classes     []*Class
	// ourClass is the one that is there while the CSI driver's objects are.
	ourClass string
	// passedOver is how much of the time in which the CSI driver registers volumes was not gone through.
	passedOver time.Duration
}

// Class is a StorageClass that is there before the migration.
type Class struct {
	Name        string
	Provisioner string
	Default     bool
}

// makeClasses of the scenario, and that of the driver, which is there while its set is applied.
func makeClasses(w *World) {
	w.storage.classes = []*Class{{Name: csiClass, Provisioner: csiDriver}}
	for _, class := range w.scenario.Classes {
		w.storage.classes = append(w.storage.classes, &class)
	}
}

func (st *Storage) class(name string) *Class {
	at := slices.IndexFunc(st.classes, func(class *Class) bool { return class.Name == name })
	if at < 0 || name == st.ourClass && !st.w.addons.csi.has("CSIDriver") {
		return nil
	}
	return st.classes[at]
}

func (st *Storage) observeClasses() []observation.StorageClass {
	seen := []observation.StorageClass{}
	for _, class := range st.classes {
		if st.class(class.Name) != nil {
			seen = append(seen, observation.StorageClass{
				Ref: observation.Ref{Kind: "StorageClass", Name: class.Name, UID: "uid-" +
					class.Name}, Provisioner: class.Provisioner, Default: class.Default,
			})
		}
	}
	return seen
}

// defaults are the names of the classes that are the default.
func (st *Storage) defaults() []string {
	var names []string
	for _, class := range st.classes {
		if class.Default && st.class(class.Name) != nil {
			names = append(names, class.Name)
		}
	}
	return names
}

// switchDefaultClass looks again, and changes one class after the other; one that is gone is a conflict.
func (c *Controller) switchDefaultClass(p Pass) bool {
	w, action := c.world, p.decision.Action
	for _, name := range w.storage.defaults() {
		if !slices.ContainsFunc(action.Objects, func(object observation.Ref) bool { return object.Name == name }) {
			return false
		}
	}
	for _, object := range action.Objects {
		class := w.storage.class(object.Name)
		if class == nil {
			return false
		}
		w.hooks.Classifies(class, object.Name == action.DefaultClass)
		class.Default = object.Name == action.DefaultClass
		if w.hooks.Killed(p.decision) {
			return false
		}
	}
	return true
}

// classifying checks one change of a default.
func (i *invariants) classifying(w *World, class *Class, becomes bool) {
	facts := w.facts()
	switch {
	case class.Provisioner != InTreePlugin && class.Provisioner != csiDriver:
		i.fail("rule 7: StorageClass %s, which is someone else's, is changed", class.Name)
	case facts.DefaultStorageClass != nil:
		i.fail("rule 7: the default StorageClass is changed although it was judged")
	case facts.Origin == ucv1.OriginMigrating && facts.CompletedAt == nil:
		i.fail("rule 7: the default StorageClass is changed before the point of no return")
	case !becomes:
		return
	}
	for _, name := range w.storage.defaults() {
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
	if slices.Contains(p.truth.defaults, csiClass) && len(p.truth.inTreeDefaults) > 0 {
		i.fail("rule 7: the default StorageClass counts as judged, and %v are the default, too", p.truth.inTreeDefaults)
	}
}

// MakeDefault has a person make a class of another driver the default, in place of all others.
func MakeDefault(w *World, name string) { choose(w, name, "csi.elsewhere") }

// MakeInTreeDefault has a person make a class of the in-tree plugin the default again, in place of all others.
func MakeInTreeDefault(w *World, name string) { choose(w, name, InTreePlugin) }

func choose(w *World, name, provisioner string) {
	for _, class := range w.storage.classes {
		class.Default = false
	}
	w.storage.classes = append(slices.DeleteFunc(w.storage.classes, func(class *Class) bool { return class.Name == name }),
		&Class{Name: name, Provisioner: provisioner, Default: true})
}
