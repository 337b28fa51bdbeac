#!/usr/bin/env bash
# Generates the deepcopy code, the CRDs, the RBAC role and the webhook configuration from the markers in the Go code, and
# docs/api.md, the tables of docs/, the rights for the objects of each provider and the dashboards from the code itself, and the
# chart from config/:
#   generate.sh [OUTPUT_ROOT]
# OUTPUT_ROOT is the repository unless another directory is named, which gets the same layout.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-.}

go tool -modfile=hack/tools/go.mod controller-gen \
	object crd paths=./api/... \
	output:object:dir="$out/api/v1alpha1" \
	output:crd:dir="$out/config/crd/bases"

go tool -modfile=hack/tools/go.mod controller-gen \
	rbac:roleName=ccm-migration-controller-manager webhook \
	paths=./controllers/... paths=./webhooks/... \
	output:rbac:dir="$out/config/rbac" \
	output:webhook:dir="$out/config/webhook"

go run ./hack/docs "$out"
go tool -modfile=hack/tools/go.mod crd-ref-docs --log-level=ERROR --renderer=markdown \
	--source-path=api/v1alpha1 --config=hack/apireference/config.yaml --templates-dir=hack/apireference --output-path="$out/docs/api.md"
go run ./hack/rights "$out/config/usercluster-rbac"
go run ./hack/dashboards "$out"
go run ./hack/chart config "$out/charts/ccm-migration-controller"
