package main

import (
	"context"
	"fmt"
	"strings"
)

// notes are the subjects of the commits since the last release.
func (r *release) notes(ctx context.Context) error {
	since := []string{"HEAD"}
	last, err := output(ctx, nil, "git", "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^")
	if err == nil {
		since = []string{strings.TrimSpace(last) + "..HEAD"}
	}
	subjects, err := output(ctx, nil, "git", append([]string{"log", "--no-merges", "--format=* %s (%h)", "--abbrev=8"}, since...)...)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("# %s\n\nImage: `%s:%s`. Checksums of all files are in checksums.txt.\n\n## Changes\n\n%s",
		r.version, r.image, r.version, subjects)
	return r.write("release-notes.md", []byte(text))
}
