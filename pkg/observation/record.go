package observation

import (
	"k8s.io/apimachinery/pkg/api/equality"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Record is what is kept of a migration outside of its Cluster: backups leave the status out, and a Cluster can be deleted in the
// middle. One that returns under its name goes on where it was.
type Record struct {
	// Ref is the Secret, Version its resourceVersion.
	Ref
	Version string
	// Keeper is the UID of what it is a record of: KCM's Deployment, or the kubeconfig Secret that leads to static pods.
	Keeper   string
	Provider string
	Facts    ucv1.Facts
	// Problem is a sentence when it cannot be read.
	Problem string
}

// Holds says that the Secret has this record already.
func (r Record) Holds(wanted Record) bool {
	return r.Problem == "" && r.Keeper == wanted.Keeper && r.Provider == wanted.Provider &&
		equality.Semantic.DeepEqual(r.Facts, wanted.Facts)
}
