#!/usr/bin/env bash
# Runs all tests and writes their events, as JSON, for gotestsum:
#   test.sh [FLAG...]
# The end-to-end tests come last and alone: they measure time, and nothing else may compete for the machine.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Packages without tests are left out: go test would build them, again and with the race detector.
packages() {
	go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...
}

# One run of the simulation is one goroutine, and thousands of runs take minutes: it goes without the race detector.
unraced=()
for flag in "$@"; do
	[[ $flag == -race ]] || unraced+=("$flag")
done

e2e=()
simulations=()
others=()
while IFS= read -r package; do
	case $package in
	*/test/e2e | */test/e2e/*) e2e+=("$package") ;;
	*/pkg/migration/simulation) simulations+=("$package") ;;
	*) others+=("$package") ;;
	esac
done < <(packages)

status=0
go test -json "$@" -timeout=30m "${others[@]}" || status=1
go test -json "${unraced[@]}" -timeout=30m "${simulations[@]}" || status=1
(cd test/kubernetes && packages | xargs --no-run-if-empty go test -json "$@" -timeout=30m) || status=1
if ((${#e2e[@]})); then
	# Their clusters mostly wait.
	go test -json "$@" -timeout=50m -p=1 -parallel=4 "${e2e[@]}" || status=1
fi
exit "$status"
