package manifest

import (
	"cmp"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// PodSecurity is a level of https://kubernetes.io/docs/concepts/security/pod-security-standards/: the value of the label
// pod-security.kubernetes.io/enforce that a namespace may have and a pod still runs in it.
type PodSecurity string

// The levels, the strictest first.
const (
	Restricted PodSecurity = "restricted"
	Baseline   PodSecurity = "baseline"
	Privileged PodSecurity = "privileged"
)

// PodSecurityAnnotation on a workload declares the level that its pods need; one without it needs the strictest only.
// test/conformance/addons evaluates the pod templates and fails when they need another one.
const PodSecurityAnnotation = "ccm-migration.k8c.io/pod-security"

// Needing are the annotations of a workload that needs a level.
func Needing(level PodSecurity) map[string]string {
	return map[string]string{PodSecurityAnnotation: string(level)}
}

// PodSecurity is what the namespace of a workload has to allow at least.
func (s Set) PodSecurity(workload observation.Ref) PodSecurity {
	for _, object := range s.Objects {
		if (observation.Ref{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}) == workload {
			return cmp.Or(PodSecurity(object.GetAnnotations()[PodSecurityAnnotation]), Restricted)
		}
	}
	return Restricted
}
