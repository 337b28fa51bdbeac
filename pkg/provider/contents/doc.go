// Package contents reads what the catalogue has for a provider over all its minors: images, workloads with their flags, and the
// programs of its CCM. What people write about one of them is good in every minor, or not at all, so it is judged by these.
//
// It imports pkg/provider/manifest, render and versions, pkg/observation and the API types. It never imports a client, a
// context, a clock or a logger, knows no provider by its name, and keeps nothing.
package contents
