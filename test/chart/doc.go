// Package chart holds the Helm chart against config/: what it renders, what an API server says of that, and what installing,
// upgrading and uninstalling it does. Helm and kubectl are the real programs. It may import the standard library, the API types,
// kustomize, and test/testbed. It never renders the chart by anything but Helm, and never lists its objects by hand.
package chart
