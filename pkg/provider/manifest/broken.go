package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// BrokenRelease says which releases of an image do not work, with any minor of Kubernetes.
type BrokenRelease struct {
	// Image is its name in the catalogue, without a tag.
	Image string
	// Before is the first that works; empty: only Tags do not.
	Before string
	// Tags that do not work beside those before.
	Tags []string
	// Reason is a sentence.
	Reason string
	// Link to the upstream fact.
	Link string
}

// Has says whether an image's tag is one of them. A tag that is no version is someone's own, and not known to be broken.
func (b BrokenRelease) Has(image, tag string) bool {
	if image != b.Image {
		return false
	}
	if slices.Contains(b.Tags, tag) {
		return true
	}
	first, err := version.ParseGeneric(b.Before)
	if err != nil {
		return false
	}
	asked, err := version.ParseGeneric(tag)
	return err == nil && asked.LessThan(first)
}
