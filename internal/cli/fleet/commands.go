package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// program is how this program is called.
const program = "ccm-migration-controller fleet "

// merge is the command that merges fields into the spec of a FleetMigration.
func merge(name, spec string) string {
	return fmt.Sprintf("kubectl patch fleetmigration %s --type=merge \\\n  -p '{\"spec\":%s}'", name, spec)
}

// resume ends a halt, and forgives the failures that a person has looked at.
func resume(name string, halt *ucv1.FleetHalt, now time.Time) string {
	since := now.Truncate(time.Second)
	if since.Before(halt.At.Time) {
		since = since.Add(time.Second)
	}
	return merge(name, fmt.Sprintf(`{"failures":{"countSince":%q}}`, since.UTC().Format(time.RFC3339)))
}

// operation of a JSON patch: https://www.rfc-editor.org/rfc/rfc6902
func operation(op, path string, value any) (string, error) {
	data, err := json.Marshal(value)
	return fmt.Sprintf("{\"op\":%q,\"path\":%q,\n    \"value\":%s}", op, path, data), err
}

// approve a wave by the digest of its report. A merge would take away approvals that someone else adds meanwhile, so that it is a
// JSON patch, which fails where the spec is another one by then.
func approve(fm *ucv1.FleetMigration, wave, digest string) (string, error) {
	approval := ucv1.ApprovedWave{Wave: wave, GateDigest: digest}
	at := slices.IndexFunc(fm.Spec.Approvals, func(a ucv1.ApprovedWave) bool { return a.Wave == wave })
	test, testErr := operation("test", "/metadata/generation", fm.Generation)
	change, err := operation("add", "/spec/approvals/-", approval)
	switch {
	case len(fm.Spec.Approvals) == 0:
		change, err = operation("add", "/spec/approvals", []ucv1.ApprovedWave{approval})
	case at >= 0:
		change, err = operation("replace", fmt.Sprint("/spec/approvals/", at), approval)
	}
	return fmt.Sprintf("kubectl patch fleetmigration %s --type=json \\\n  -p '[%s,\n   %s]'", fm.Name, test, change),
		errors.Join(testErr, err)
}
