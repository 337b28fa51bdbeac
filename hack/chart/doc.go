// Command chart writes what the Helm chart has in common with config/: a template for each kind of thing that config/ installs.
//
//	chart CONFIG_DIR CHART_DIR
//
// The templates of the Deployment, its PodDisruptionBudget and the notes are written by hand. It may import the standard library,
// kustomize and YAML. It never changes what an object says, but for what a value of the chart decides: test/helm compares both.
package main
