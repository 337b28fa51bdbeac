#!/usr/bin/env bash
# Fails when go.mod or go.sum of one of the modules is not tidy. hack/tools/release has so many that it takes minutes: make
# release-twice looks at it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
untidy=0
for module in . hack/tools hack/tools/helm test/kubernetes test/kubernetes/next test/kubernetes/aws test/kubernetes/csi test/ocm test/gitops test/prometheus test/kubestatemetrics test/dashboard; do
	(cd "$module" && go mod tidy -diff) || { echo "$module/go.mod is not tidy: run go mod tidy there" >&2; untidy=1; }
done
exit "$untidy"
