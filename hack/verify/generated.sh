#!/usr/bin/env bash
# Fails when what is generated from the Go code is not up to date. It generates into a directory of its own: the work
# tree stays as it is, and what is not committed yet is no difference.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

hack/generate.sh "$fresh"

outdated=0
while IFS= read -r file; do
	diff -u "$file" "$fresh/$file" || outdated=1
done < <(cd "$fresh" && find . -type f | sort)
# A kind that is gone leaves its CRD behind.
for file in config/crd/bases/*; do
	[[ -e "$fresh/$file" ]] || { echo "$file is not generated any more: remove it" >&2; outdated=1; }
done
if ((outdated)); then
	echo "generated files are out of date: run make generate" >&2
	exit 1
fi
