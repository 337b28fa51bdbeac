package usercluster

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// DryRun is the same way into the user cluster, on which nothing can be changed: every request that would change something, and
// every review, asks for a dry run. It watches nothing, and remembers no comparison; what preflight read it shares.
func (s *Session) DryRun() *Session {
	dry := s.parts
	dry.client, dry.watches = client.NewDryRunClient(s.client), watches.New(watches.Clients{}, func() {}, s.log)
	if s.beside.Client != nil {
		dry.beside.Client = client.NewDryRunClient(s.beside.Client)
	}
	reading := newSession(dry)
	reading.Leases.Remember(s.Leases)
	reading.Preflight.Remember(s.Preflight)
	return reading
}
