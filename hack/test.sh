#!/usr/bin/env bash
# Runs the tests of a tier, group after group, and reports:
#   test.sh unit|test|all
# Each tier contains the one before. unit needs no built binary; test is the README's test command; all is what CI runs:
# with the race detector, more seeds, all end-to-end tests, and what the commit's hash draws: a third of the packages with fuzz
# tests, and one mutant in 20. What a run leaves, for hack/testreport and for people, is in _output/test/TIER; the last line that
# is printed counts the tests.
set -euo pipefail

tier=${1-}
if [[ $# -ne 1 || ! $tier =~ ^(unit|test|all)$ ]]; then
	echo "usage: $0 unit|test|all" >&2
	exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export KUBEBUILDER_ASSETS=${KUBEBUILDER_ASSETS:-$PWD/_output/bin}
out=$PWD/_output/test/$tier
rm -rf "$out"
mkdir -p "$out"
: >"$out/groups"
# The suites of Ginkgo write what became of their specs there.
export E2E_REPORTS=$out/junit

module=$(go list -m)
gotestsum=$(go tool -modfile=hack/tools/go.mod -n gotestsum)
race=-race
if [[ $tier != unit && $(go env CGO_ENABLED) != 1 ]]; then
	race=""
	if [[ $tier == all ]]; then
		echo "no C compiler: install one, make test-all runs tests with the race detector" >&2
		exit 1
	fi
	echo "no C compiler: the tests run without the race detector"
fi

# Packages without tests are left out: go test would build them, again and with the race detector.
packages() {
	go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...
}

# is_concurrent PACKAGE: the race detector finds something only where goroutines share something. A package that starts
# some shows it: by a go statement, the packages that one needs to wait for it or to serve, or parallel tests.
is_concurrent() {
	local imports='"(sync|sync/atomic|golang\.org/x/sync/errgroup|net/http/httptest)"'
	grep -qE "^[[:space:]]+go [[:alpha:]]|$imports|\.Parallel\(\)" "${1#"$module/"}"/*.go
}

is_suite() {
	grep -q '"github.com/onsi/ginkgo/v2"' "${1#"$module/"}"/*_test.go
}

# Each package is in one group. The simulations, of a Cluster and of a fleet, have no goroutines but those that play one
# world each, and the catalogue's conformance calls one after the other what other packages call side by side: thousands of
# runs, and hundreds of applies, that take minutes go without the race detector.
plain=() concurrent=() simulation=() parts=() parts_race=() integration=() suites=()
classify() {
	local package=$1
	case ${package#"$module/"} in
	pkg/simulation/simtest) simulation+=("$package") ;;
	test/integration) integration+=("$package") ;;
	pkg/fleet | test/architecture) plain+=("$package") ;;
	test/conformance/addons) parts+=("$package") ;;
	test/chart) ;; # A group of its own.
	test/*)
		if is_suite "$package"; then
			if [[ $tier != test ]] || grep -q 'suite\.Core' "${package#"$module/"}"/*_test.go; then
				suites+=("$package")
			fi
		elif [[ $tier == all ]] && is_concurrent "$package"; then
			parts_race+=("$package")
		else
			parts+=("$package")
		fi
		;;
	*) if is_concurrent "$package"; then concurrent+=("$package"); else plain+=("$package"); fi ;;
	esac
}

found=$(packages)
while IFS= read -r package; do
	classify "$package"
done <<<"$found"

# What begins last ends last, so the suites with the longest budgets begin first. The story is before them: it has to get
# places for all its clusters at once, and gets them before others take them one by one.
rank() {
	local package=${1#"$module/"}
	[[ $package == */story ]] && echo 1000 || awk -v package="$package" '$1 == package { print $4 }' hack/test-budgets.txt
}
mapfile -t suites < <(for package in "${suites[@]}"; do echo "$(rank "$package") $package"; done | sort -rn | cut -d' ' -f2)

# With the race detector all libraries are compiled a second time, which takes longer than all of the first tier: there
# it is off. What it slows down by minutes has it in the last tier only, the tests on API servers in make integration-race, and
# end-to-end tests nowhere: they run programs that were built without it, and their deadlines do not bear a slow testbed.
#
# What measures time comes last, and nothing else competes with it for the machine. Short is for the simulation, which has a
# tenth of the seeds and a fifth of the orders in which each story is played, and for the catalogue's conformance, which has
# the two newest minors. long are tests of the controller with the most passes.
long=(
	TestAControllerThatIsKilledAgainAndAgain
	TestAdministratorFollowsTheInstructions
	TestAdministratorTakesTheWrongOrderAndStopsHalfWay
	TestCCMBesideTheControlPlaneIsRolledBack
	TestDeletionDuringTheRollWaitsForWhatIsRolling
	TestMachineDeploymentDeletedMeanwhileIsNotMadeAgain
	TestPauseBeforeThePointOfNoReturn
	TestPlanIsWhatHappens
	TestTroubleDuringTheRoll
	TestRollbackAgainAndAgainKilled
	TestRollbackInTheRollAndRedo
	TestRollbackIsRefusedForAVolumeThatOnlyTheDriverCanServe
	TestRollbackWhileTheMigrationLockIsInUse
	TestWhatCannotBeRolledIsNamedAndTheRestIsRolled
)
for name in "${long[@]}"; do
	if ! grep -qs "^func $name(" test/integration/*_test.go; then
		echo "hack/test.sh leaves $name to make test-all, and test/integration has no such test" >&2
		exit 1
	fi
done
# These measure memory, which the race detector multiplies, as it does the minutes that their gigabytes of answers take.
memory='^(TestOneHostileClusterCostsLittle|TestALargeHealthyClusterIsRead)$'
case $tier in
unit)
	plain=("${simulation[@]}" "${plain[@]}" "${concurrent[@]}") suites=()
	plan=(unit) short=(-short)
	;;
test)
	plan=(unit unit-race memory simulation kubernetes ocm parts integration e2e)
	seeds=5000 short=(-short) without=(-skip="^($(IFS='|' && echo "${long[*]}"))\$") filter=(-ginkgo.label-filter=core)
	;;
all)
	plan=(unit unit-race memory simulation kubernetes ocm gitops prometheus kubestatemetrics chart parts parts-race integration fuzz mutants e2e)
	seeds=1000 short=() without=() filter=() drawing=$(git rev-parse HEAD)
	;;
esac
printf '%s\n' "${plan[@]}" >"$out/plan"
printf '%s\n' "${suites[@]#"$module/"}" >"$out/suites"

# go_test FLAG... PACKAGE... [-args FLAG...]: for the group that runs. Without go vet, which the linter has in it, too:
# here it would read all libraries before the first test, and once more for the race detector.
go_test() {
	if [[ " $* " != *" $module/"* ]]; then
		echo "group $name has no package" >&2
		return 1
	fi
	"$gotestsum" --format=pkgname --jsonfile="$out/$name.jsonl" -- -vet=off -shuffle=on "$@"
}

# A tenth of what the control planes of the testbed take is the garbage collector, and half of what the simulation takes,
# in a heap of a few megabytes. This is not for the compiler, whose heaps are large.
collect_less="env GOGC=400"
collect_hardly="env GOGC=off GOMEMLIMIT=1GiB"

# in_module DIRECTORY FLAG... runs the tests of a module of its own.
in_module() {
	cd "$1" || return
	found=$(packages) || return
	mapfile -t inner <<<"$found"
	go_test "${@:2}" "${inner[@]}"
}

# in_kubernetes has the flags that the binaries of that module are built with: what they have compiled is not compiled again.
in_kubernetes() {
	export GOFLAGS="${GOFLAGS-} -trimpath -buildvcs=false"
	in_module test/kubernetes -timeout=5m
}

# in_prometheus compiles promtool first, as the tests do: it takes longer than all of them.
in_prometheus() {
	(cd test/prometheus && go build -tags=remove_all_sd -o /dev/null github.com/prometheus/prometheus/cmd/promtool) || return
	in_module test/prometheus -timeout=10m
}

# in_chart compiles Helm first: it takes longer than all tests.
in_chart() {
	go tool -modfile=hack/tools/helm/go.mod -n helm >/dev/null || return
	go_test -timeout=10m "$module/test/chart"
}

# run_group NAME: its time limits are for a test that hangs; hack/test-budgets.txt is for one that has become slow.
run_group() {
	local name=$1
	case $name in
	unit) go_test "${short[@]}" -exec="$collect_less" -timeout=15m "${plain[@]}" ;;
	unit-race) go_test ${race:+"$race"} -skip="$memory" -exec="$collect_less" -timeout=10m "${concurrent[@]}" ;;
	memory) go_test -run="$memory" -exec="$collect_less" -timeout=10m "$module/pkg/usercluster" ;;
	simulation) go_test "${short[@]}" -exec="$collect_hardly" -timeout=15m "${simulation[@]}" -args -seeds="$seeds" ;;
	kubernetes) (in_kubernetes) ;;
	ocm) (in_module test/ocm) ;;
	gitops) (in_module test/gitops) ;;
	prometheus) (in_prometheus) ;;
	kubestatemetrics) (in_module test/kubestatemetrics) ;;
	chart) in_chart ;;
	parts) go_test "${short[@]}" -exec="$collect_less" -timeout=15m "${parts[@]}" ;;
	parts-race) go_test ${race:+"$race"} -exec="$collect_less" -timeout=15m "${parts_race[@]}" ;;
	integration) go_test "${without[@]}" -timeout=25m "${integration[@]}" ;;
	fuzz) hack/fuzz.sh 3 "$drawing" ;;
	mutants) go run ./test/mutants -fraction 20 -seed "$drawing" 2>&1 | tee "$out/mutants.log" ;;
	# Ginkgo ends before go test would end it, and still says what became of each spec.
	e2e) go_test -exec="$collect_less" -timeout=35m -p=3 "${suites[@]}" -args -ginkgo.timeout=34m "${filter[@]}" ;;
	esac
}

status=0
for group in "${plan[@]}"; do
	echo "== $group"
	started=$SECONDS
	ended=0
	run_group "$group" || ended=$?
	((ended == 0)) || status=1
	echo "$group $((SECONDS - started)) $ended" >>"$out/groups"
done

# Not by go run, which would say the exit status after the last line.
go build -o "$out/testreport" ./hack/testreport
"$out/testreport" count "$tier" "$out" || status=1
exit "$status"
