#!/usr/bin/env bash
# Runs something by hand that CI does not run, and writes how it ended to docs/tested-with.md, as the last row of the
# table there that ends with the line <!-- /runs -->:
#   tested-with.sh NAME COMMAND...
# A row has the date, the commit, the name, how it ended, the minutes, and the last line that the command printed. What
# else it printed is in _output/tested-with/NAME.log.
set -euo pipefail

if (($# < 2)); then
	echo "usage: $0 NAME COMMAND..." >&2
	exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$1
shift
document=docs/tested-with.md
log=_output/tested-with/$name.log
if ! grep -qs '^<!-- /runs -->$' "$document"; then
	echo "$document has no line <!-- /runs -->, before which a row could stand" >&2
	exit 2
fi
mkdir -p "${log%/*}"
# What is tested is what is there now, and not what is there when it has ended.
commit=$(git rev-parse --short=12 HEAD)
[[ -z $(git status --porcelain -- . ":!$document" ':!docs/*-measured.md') ]] || commit+=", changed"

status=0
started=$SECONDS
"$@" 2>&1 | tee "$log" || status=$?
took=$((SECONDS - started))

result=passed
((status == 0)) || result="**failed** ($status)"
# make says after everything else that it failed; a bar would end the cell, and where the repository is concerns one machine.
last=$(sed -E -e 's/\x1b\[[0-9;]*m//g' -e '/^make(\[[0-9]+\])?: /d' -e '/^[[:space:]]*$/d' -e "s#$PWD/##g" -e 's/^ +//' "$log" |
	tail -n 1 | tr '|' '/')
row=$(printf '| %s | %s | %s | %s | %d:%02d | %s |' \
	"$(date -u +%Y-%m-%d)" "$commit" "$name" "$result" $((took / 60)) $((took % 60)) "$last")
# Neither awk nor sed takes a row as it is: both know backslashes.
content=$(<"$document")
printf '%s\n' "${content/$'\n<!-- /runs -->'/$'\n'"$row"$'\n<!-- /runs -->'}" >"$document"
echo "$row"
exit "$status"
