#!/usr/bin/env bash
# Counts what the shape of the code is measured by, and says how much of it there was in an older commit:
#   house.sh [REVISION]
# Without a revision only what is there now is counted. Tests are left out unless a line says otherwise.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
module=$(sed -n 's/^module //p' go.mod)

# sources DIR: the Go files of production.
sources() { find "$1" -name '*.go' ! -name '*_test.go' ! -name 'zz_generated*' ! -path '*/test/*' ! -path '*/_output/*'; }

# predicates, long, largest, methods, importers DIR: one number each, and what it is about.
predicates() { # those that someone outside of the decisions asks
	sources "$1" | grep -vE "^$1/pkg/(migration|rollout)/" |
		xargs grep -ohE '\b(migration|start|loops|rollout)\.(Wants|Looks|Judges|Withholds|Withdraws|Measures)[A-Z]?[A-Za-z]*\(' |
		sort -u | wc -l
}
# long and longTests count characters, which awk may not: a drawing has three bytes in each. A line that ends in a link is
# as long as the link.
long() {
	sources "$1" | LC_ALL=C.UTF-8 xargs grep -hE '^.{131}' | grep -vE '\+kubebuilder|https?://[^ ]*$' | wc -l
}
longTests() {
	find "$1" -name '*_test.go' ! -path '*/_output/*' -print0 | LC_ALL=C.UTF-8 xargs -0 grep -hE '^.{131}' | wc -l
}
importers() { # and its rooms; these themselves do not count
	sources "$1" | grep -v "^$1/pkg/migration/" |
		xargs grep -lE "\"$module/pkg/migration(/(pass|components|noreturn|start|applied|loops|rollback))?\"" |
		xargs -n1 dirname | sort -u | wc -l
}
methods() {
	sources "$1" | xargs awk '
		/^func \(/ { type = $3; gsub(/[*)]|\[.*/, "", type); count[FILENAME_DIR(FILENAME) " " type]++ }
		function FILENAME_DIR(name) { sub("/[^/]*$", "", name); return name }
		END { for (name in count) { split(name, part, " "); print count[name], part[2] } }' | sort -rn
}
packages() {
	sources "$1" | while read -r file; do echo "$(wc -l <"$file") ${file%/*}"; done |
		awk -v root="$1/" '{ sub(root, "", $2); lines[$2] += $1 } END { for (name in lines) print lines[name], name }' | sort -rn
}

# figures DIR: `name<TAB>figure`, one a line.
figures() {
	printf 'packages over 4,000 lines\t%s\n' "$(packages "$1" | awk '$1 > 4000' | wc -l)"
	printf 'lines of the largest package\t%s\n' "$(packages "$1" | head -n 1)"
	printf 'types with over 30 methods\t%s\n' "$(methods "$1" | awk '$1 > 30' | wc -l)"
	printf 'methods of the largest type\t%s\n' "$(methods "$1" | head -n 1)"
	printf 'lines over 130 characters\t%s\n' "$(long "$1")"
	printf 'lines over 130 characters in tests, rows of tables with them\t%s\n' "$(longTests "$1")"
	printf 'packages that import pkg/migration\t%s\n' "$(importers "$1")"
	printf 'predicates that say what to look at\t%s\n' "$(predicates "$1")"
}

now=$(figures .)
if (($# == 0)); then
	column -t -s $'\t' <<<"$now"
	exit
fi
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
git archive "$1" | tar -x -C "$old"
{
	printf 'what\tat %s\tnow\n' "$1"
	paste <(figures "$old") <(cut -f 2 <<<"$now")
} | column -t -s $'\t'
