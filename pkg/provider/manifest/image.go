package manifest

import (
	// Digests of these algorithms are part of the grammar only in a program that has them.
	_ "crypto/sha256"
	_ "crypto/sha512"
	"fmt"
	"path"

	"github.com/distribution/reference"
)

// Image is a reference to a container image, in parts. Its registry may be missing, as in "nginx".
type Image struct{ Repository, Tag, Digest string }

// ParseImage takes a reference apart by the grammar that kubelets follow, too: for what it refuses they report
// InvalidImageName and start nothing (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/util/parsers/parsers.go#L31).
// The error does not quote the reference, which may come from a user cluster.
func ParseImage(image string) (Image, error) {
	parsed, err := reference.Parse(image)
	if err != nil {
		return Image{}, fmt.Errorf("parse the reference to an image: %w", err)
	}
	var parts Image
	if named, ok := parsed.(reference.Named); ok {
		parts.Repository = named.Name()
	}
	if tagged, ok := parsed.(reference.Tagged); ok {
		parts.Tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		parts.Digest = digested.Digest().String()
	}
	return parts, nil
}

// ImageName is the last element of an image's repository, which mirrors keep; empty where no kubelet can pull it.
func ImageName(image string) string {
	parsed, err := ParseImage(image)
	if err != nil || parsed.Repository == "" {
		return ""
	}
	return path.Base(parsed.Repository)
}

// ImageOf is an image with its tag.
func ImageOf(name, tag string) string { return fmt.Sprintf("%s:%s", name, tag) }
