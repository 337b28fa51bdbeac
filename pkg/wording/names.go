package wording

import (
	"slices"
	"strconv"
	"strings"
)

// Names joins names for a message: sorted, and bounded so that a large cluster does not make a large status.
func Names(names []string) string {
	const most = 5
	names = slices.Sorted(slices.Values(names))
	names = slices.Compact(names)
	if len(names) > most {
		rest := len(names) - most
		return strings.Join(names[:most], ", ") + " and " + Count(rest, "more", "more")
	}
	return strings.Join(names, ", ")
}

// Count is a number with its noun, such as "1 Machine" and "2 Machines".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
