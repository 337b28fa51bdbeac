package usercluster

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// excessHolds is for how long an answer that was too large is told of: longer than from one pass to the next, which asks again.
const excessHolds = 2 * time.Minute

// told is the connection as it is reported: an API server that is reached and answers too much is no healthy one.
func (e *entry) told() observation.Connection {
	if e.session == nil || e.session.network == nil || !e.connection.Reachable {
		return e.connection
	}
	bounds := e.session.network.bounds
	last := bounds.excess.Load()
	if last == nil || bounds.clock.Since(last.at) > excessHolds {
		return e.connection
	}
	return observation.Connection{
		Reachable: true,
		Reason:    ucv1.ResponseTooLargeReason,
		Message: "The API server of the user cluster " +
			reads.ErrTooLarge.Error() + " to " + last.path + ": make the object smaller, and check the server in " + e.source.String(),
	}
}
