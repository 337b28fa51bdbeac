#!/usr/bin/env bash
# Tries 10,000 inputs in each fuzz test of the packages that are drawn, on all processors:
#   fuzz.sh [FRACTION SEED]
# One package in FRACTION is drawn; its folder and SEED alone say whether it is. Without arguments all are. The corpus of
# each test is what all tiers run as a table; what is found is written into testdata/fuzz beside the test, where it stays.
#
# Inputs are counted, because a test that ends by the clock fails at times with "context deadline exceeded" and no input
# (https://go.dev/issue/75804, until Go 1.27). Making an input smaller is bounded, because by default it takes up to a minute, in
# which nothing is tried.
set -euo pipefail

if [[ ! "$#:${1-1}" =~ ^(0|2):[1-9][0-9]*$ ]]; then
	echo "usage: $0 [FRACTION SEED]" >&2
	exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fraction=${1-1} seed=${2-}

drawn() {
	local sum
	sum=$(printf '%s\0%s' "$seed" "$1" | sha256sum)
	((16#${sum:0:8} % fraction == 0))
}

found=$(git grep --untracked -Eo '^func Fuzz[[:alnum:]_]+' -- '*_test.go' ':!test/kubernetes')
status=0
while IFS=: read -r file name; do
	drawn "${file%/*}" || continue
	name=${name#func }
	echo "$name in ${file%/*}"
	go test -vet=off -run='^$' -fuzz="^$name\$" -fuzztime=10000x -fuzzminimizetime=10x "./${file%/*}" || status=1
done <<<"$found"
exit "$status"
