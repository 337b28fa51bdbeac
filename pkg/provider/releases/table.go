package releases

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Table has a row for each minor of Kubernetes from First on.
type Table[T any] struct {
	// CCM is what the cloud-controller-manager is called in a sentence, such as AWS.
	CCM   string
	First int
	Rows  []T
	// Empty are the minors in between for which there is nothing, whatever their rows have.
	Empty []int
	// Why is the reason that a minor has no row, where there is more to say than what the catalogue covers; else it is empty.
	Why func(minor int) string
}

// Last minor that has a row.
func (t Table[T]) Last() int { return t.First + len(t.Rows) - 1 }

// For is the row for a version of Kubernetes, and its minor; without a row both are zero.
func (t Table[T]) For(version string) (row T, minor int, err error) {
	minor, err = manifest.Minor(version)
	if err != nil {
		return row, 0, err
	}
	if minor < t.First || minor > t.Last() || slices.Contains(t.Empty, minor) {
		return row, 0, t.missing(minor)
	}
	return t.Rows[minor-t.First], minor, nil
}

// Problem is why a version of Kubernetes has no row; it is empty where it has one.
func (t Table[T]) Problem(version string) string {
	if _, _, err := t.For(version); err != nil {
		return err.Error()
	}
	return ""
}

func (t Table[T]) missing(minor int) error {
	if t.Why != nil {
		if why := t.Why(minor); why != "" {
			return errors.New(why)
		}
	}
	return fmt.Errorf("there is no %s cloud-controller-manager for Kubernetes 1.%d in the catalogue, which covers 1.%d to 1.%d: "+
		"change the cluster's version, or update the controller", t.CCM, minor, t.First, t.Last())
}
