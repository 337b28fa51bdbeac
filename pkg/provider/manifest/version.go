package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// Minor returns the minor of a Kubernetes version such as 1.25.16 or v1.25.16.
func Minor(text string) (int, error) {
	parsed, err := version.ParseSemantic(text)
	if err != nil || parsed.Major() != 1 || parsed.Minor() > 1000 {
		return 0, fmt.Errorf("%q is not a version of Kubernetes: write it like 1.30.14", text)
	}
	return int(parsed.Minor()), nil
}
