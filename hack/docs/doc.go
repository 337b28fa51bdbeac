// Command docs writes the tables of the documentation from the Go code.
//
//	docs OUTPUT_ROOT
//
// Pages that people write have tables between marks (pages.go): README.md has the providers, docs/preflight.md the checks,
// docs/handover.md the lines of each protocol, docs/metrics.md the metrics, and so on. Two documents have more from the code:
// conditions.md is made of the constants of the API and their comments, and each page of providers/ begins with what the
// catalogue knows of it.
//
// It runs in the root of the repository and may import the standard library, the API types, pkg/migration, pkg/leadermigration,
// pkg/provider, docs/runbooks, internal/cli for its commands, and, for their metrics, the controllers and controller-runtime. It
// never writes or checks a sentence of a page; its tests check the links, and that docs/api.md, which crd-ref-docs writes, has
// every field of the CRDs.
package main
