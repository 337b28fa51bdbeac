package observation

import (
	"strconv"
	"strings"
)

// MinorOf returns the minor of a version such as 1.25.16 or v1.25.16, or 0 when it cannot be read.
func MinorOf(version string) int {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 {
		return 0
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil || minor < 0 {
		return 0
	}
	return minor
}
