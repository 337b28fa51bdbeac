// Package leases is about the elections of managers in a user cluster: the Leases of KCM, of the CCM and of the
// migration lock, who may write them, and which processes may hold them. The timestamps in a Lease come from clocks
// that no one vouches for; when one changed is remembered on our own clock.
//
// It may import pkg/migration, pkg/controlplane, pkg/provider/{manifest,render} and pkg/usercluster/{reads,watches}. It never
// decides whether a Lease may be taken, and never writes one that was written since it was seen.
package leases
