// Package status computes what a pass writes into the status of its Cluster: every condition, what was counted, what preflight
// found, and the entries of the timeline, from what the pass observed, decided and did.
//
// It may import pkg/migration and its rooms, pkg/baseline, pkg/observation, pkg/outcome and pkg/wording. It is pure: it reads and
// writes nothing, decides nothing, and never reads a condition back but to keep it. Conditions of Clusters are set here only.
package status
