package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	// CSIClass is the class of the CSI driver.
	CSIClass = "simcloud-csi"
	// InTreePlugin is the provisioner of the classes that the driver's is the successor of.
	InTreePlugin = "kubernetes.io/simcloud"
)

// Storage is what volumes are made by.
type Storage struct {
	w *World

	Phase       string
	Made        []observation.Volume
	Attachments []observation.Attachment
	Classes     []*Class
	// OurClass is the one that is there while the CSI driver's objects are.
	OurClass string
	// passedOver is how much of the time in which the CSI driver registers volumes was not gone through.
	passedOver time.Duration
}

// Class is a StorageClass that is there before the migration.
type Class struct {
	Name        string
	Provisioner string
	Default     bool
}

// Class is nil where there is none of that name.
func (st *Storage) Class(name string) *Class {
	at := slices.IndexFunc(st.Classes, func(class *Class) bool { return class.Name == name })
	if at < 0 || name == st.OurClass && !st.w.Addons.CSI.has("CSIDriver") {
		return nil
	}
	return st.Classes[at]
}

func (st *Storage) observeClasses() []observation.StorageClass {
	seen := []observation.StorageClass{}
	for _, class := range st.Classes {
		if st.Class(class.Name) != nil {
			seen = append(seen, observation.StorageClass{
				Ref: observation.Ref{Kind: "StorageClass", Name: class.Name, UID: "uid-" +
					class.Name}, Provisioner: class.Provisioner, Default: class.Default,
			})
		}
	}
	return seen
}

// Defaults are the names of the classes that are the default.
func (st *Storage) Defaults() []string {
	var names []string
	for _, class := range st.Classes {
		if class.Default && st.Class(class.Name) != nil {
			names = append(names, class.Name)
		}
	}
	return names
}

// switchDefaultClass looks again, and changes one class after the other; one that is gone is a conflict.
func (c *Controller) switchDefaultClass(p Pass) bool {
	w, action := c.world, p.Decision.Next()
	for _, name := range w.Storage.Defaults() {
		if !slices.ContainsFunc(action.Objects, func(object observation.Ref) bool { return object.Name == name }) {
			return false
		}
	}
	for _, object := range action.Objects {
		class := w.Storage.Class(object.Name)
		if class == nil {
			return false
		}
		w.Hooks.Witness.Classifies(class, object.Name == action.DefaultClass)
		class.Default = object.Name == action.DefaultClass
		if w.Hooks.Fate.Killed(p.Decision) {
			return false
		}
	}
	return true
}
