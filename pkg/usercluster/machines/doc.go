// Package machines is about what the Nodes of a user cluster run on. API is all that the rest of the controller knows
// of whoever makes Machines: each of them has an adapter below, which alone knows its kinds, fields and annotations,
// and in which cluster they are. Canary is the workload that proves one extra Machine before any other is replaced.
//
// It may import pkg/migration, pkg/observation and pkg/usercluster/reads. It never decides which Machine is replaced
// next, and never waits for one.
package machines
