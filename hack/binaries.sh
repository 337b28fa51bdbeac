#!/usr/bin/env bash
# Builds what the testbed runs into a directory:
#   binaries.sh BIN_DIR demo|test|volumes|manager
#   binaries.sh BIN_DIR demo|apiserver|controllers RELEASE
# demo is all that the demo and the other commands of the testbed need, test is that and all that tests need, volumes is
# what make e2e-volumes needs besides demo, and manager is the manager alone. Needs nothing but Go. With a RELEASE of
# Kubernetes like 1.29.15, control planes are of that, for make test-extra; apiserver is its kube-apiserver alone, and
# controllers that and KCM, both as released. The management cluster is never older than 1.28, which the README asks for:
# the demo of an older release has that of the work tree.
#
# A program that was built from the same sources by the same Go is not built again, whatever it was built for.
set -euo pipefail

if [[ ! "$#:${*:2}" =~ ^(2:(demo|test|volumes|manager)|3:(demo|apiserver|controllers) 1\.[0-9]+\.[0-9]+)$ ]]; then
	echo "usage: $0 BIN_DIR demo|test|volumes|manager, or $0 BIN_DIR demo|apiserver|controllers RELEASE" >&2
	exit 2
fi
wanted=$2 release=${3-}
mkdir -p "$1/.built"
bin=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go_version=$(go env GOVERSION)
# Libraries of CCMs before 1.27 are called in another way, see test/kubernetes/cmd/cloud-controller-manager.
release_minor=${release#1.} release_minor=${release_minor%%.*} tags=()
[[ -z $release || $release_minor -ge 27 ]] || tags=(-tags=before_1_27)

# A row is a program: its module below test/kubernetes, the seconds of its first build on 2 cores after those above it
# and without downloads, the module whose release is its version, its package. Programs of the modules next, aws and
# csi go to a folder of their version. kubectl runs the commands of the runbooks in a test. In next is the next minor's
# KCM: what a finished migration leaves has to start there, too. In aws is a CCM that others wrote: the catalogue's
# arguments and rights are to be enough for it. Its libraries have the versions of our own, which are compiled anyway: go
# get them there, too, when ours change. In csi are the sidecars of a CSI driver, with our versions where ours are newer.
kubernetes=k8s.io/kubernetes aws=k8s.io/cloud-provider-aws
attacher=github.com/kubernetes-csi/external-attacher/v4 provisioner=github.com/kubernetes-csi/external-provisioner/v6
rows_demo=(
	"etcd                         . 45 $kubernetes go.etcd.io/etcd/server/v3"
	"kube-apiserver               . 105 $kubernetes $kubernetes/cmd/kube-apiserver"
	"kube-scheduler               . 15 $kubernetes $kubernetes/cmd/kube-scheduler"
	"kube-controller-manager      . 60 $kubernetes ./cmd/kube-controller-manager"
	"cloud-controller-manager     . 6 $kubernetes ./cmd/cloud-controller-manager"
)
rows_test=(
	"kubectl                      . 25 $kubernetes $kubernetes/cmd/kubectl"
	"kube-controller-manager      next 200 $kubernetes $kubernetes/cmd/kube-controller-manager"
	"aws-cloud-controller-manager aws 120 $aws $aws/cmd/aws-cloud-controller-manager"
)
rows_volumes=(
	"csi-attacher                 csi 200 $attacher $attacher/cmd/csi-attacher"
	"csi-provisioner              csi 20 $provisioner $provisioner/cmd/csi-provisioner"
)
rows_apiserver=("${rows_demo[1]}")
rows_controllers=("${rows_demo[1]}" "kube-controller-manager . 60 $kubernetes $kubernetes/cmd/kube-controller-manager")
# The two programs of our own are built in any case: go build knows best what changed. The first time takes so long.
seconds_own=120

# make_modules RELEASE makes a module like test/kubernetes that requires it, with what is in there now. What Kubernetes'
# own go.mod takes from a folder of its repository are modules of the same release.
make_modules() {
	modules=$PWD/_output/kubernetes/v$1-$wanted
	mkdir -p "$modules"
	if [[ $wanted == demo ]]; then
		rm -rf "$modules"/{cmd,simcloud}
		cp -r test/kubernetes/{cmd,simcloud} "$modules"
		# go mod tidy looks at the files of all tags.
		((${#tags[@]} == 0)) || rm "$modules/cmd/cloud-controller-manager/run.go"
	fi
	[[ ! -e $modules/go.sum ]] || return 0
	head -n 1 test/kubernetes/go.mod >"$modules/go.mod"
	(
		cd "$modules"
		go mod edit -go=1.26 -require="$kubernetes@v$1" -tool="$kubernetes/cmd/kube-apiserver"
		if [[ $wanted == controllers ]]; then
			go mod edit -tool="$kubernetes/cmd/kube-controller-manager"
		elif [[ $wanted == demo ]]; then
			go mod edit -tool="$kubernetes/cmd/kube-scheduler" -tool=go.etcd.io/etcd/server/v3
		fi
		go mod download -json "$kubernetes@v$1" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p' | xargs awk '$3 ~ /^\.\/staging\// { print $1 }' |
			while read -r part; do go mod edit -replace="$part=$part@v0${1#1}"; done
		go mod tidy
	)
}

# The components report the version that they are, as released ones do: clients
# read it from /version, and the controller decides by it.
ldflags() {
	local version=$1 major minor package flags="-s -w"
	IFS=. read -r major minor _ <<<"${version#v}"
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
		flags+=" -X $package.gitCommit=testbed -X $package.gitTreeState=clean"
	done
	echo "$flags"
}

# sources MODULE is a checksum of what its programs are made of. That of the outer one has the modules in it, too: to
# build once too often takes seconds, to leave files out would be a rule more.
sources() {
	{
		echo "$go_version"
		cat hack/binaries.sh
		find "$modules/$1" -type f -not -name '*_test.go' -print0 | sort -z | xargs -0 sha256sum
	} | sha256sum | cut -d' ' -f1
}

# is_built NAME MODULE: from the sources that there are now. Its stamp has their checksum and the place of the program.
is_built() {
	local checksum program
	[[ -e $bin/.built/$1@$2 ]] || return 1
	read -r checksum program <"$bin/.built/$1@$2"
	[[ -x $bin/$program && $checksum == "$(sources "$2")" ]]
}

# build NAME MODULE VERSION PACKAGE
build() {
	local name=$1 module=$2 version=$3 package=$4 program=$1
	[[ $module == . ]] || program=$version/$name
	# Version control stamps are off: each commit would link everything again. What aws shares with us has our flags, and
	# nothing else needs what next compiles: it goes without what the linker would strip.
	local flags=(-trimpath)
	case $module in
	aws | csi) flags=() ;;
	next) flags+=(-gcflags=all=-dwarf=false) ;;
	esac
	(cd "$modules/$module" &&
		go build "${flags[@]}" "${tags[@]}" -buildvcs=false -ldflags "$(ldflags "$version")" -o "$bin/$program" "$package")
	echo "$(sources "$module") $program" >"$bin/.built/$name@$module"
}

# build_own PROGRAM: with the flags of go test and go run. With others, as those of the Dockerfile, all libraries would
# be compiled a second time. The testbed does not have the commit in it: each would link it again.
build_own() {
	case $1 in
	manager) go build -ldflags="-s -w" -o "$bin/ccm-migration-controller" . ;;
	testbed)
		go build -buildvcs=false ${release:+-ldflags="-X $(go list ./test/testbed/bed).KubernetesVersion=$release"} \
			-o "$bin/testbed" ./test/testbed/cmd/testbed
		# The testbed is also what stands in for the programs of others, by these names.
		for name in machine-controller machine-controller-webhook operating-system-manager csi-driver data-keeper; do
			ln -sfn testbed "$bin/$name"
		done
		;;
	esac
}

# about SECONDS, in a person's words.
about() {
	local minutes=$((($1 + 30) / 60))
	case $minutes in
	0) echo "less than a minute left" ;;
	1) echo "about a minute left" ;;
	*) echo "about $minutes minutes left" ;;
	esac
}

modules=test/kubernetes
[[ -z $release ]] || make_modules "$release"
case $wanted in
apiserver) rows=("${rows_apiserver[@]}") own=() ;;
controllers) rows=("${rows_controllers[@]}") own=() ;;
manager) rows=() own=(manager) ;;
demo) rows=("${rows_demo[@]}") own=(manager testbed) ;;
test) rows=("${rows_demo[@]}" "${rows_test[@]}") own=(manager testbed) ;;
volumes) rows=("${rows_volumes[@]}") own=() ;;
esac

todo=() left=0
for row in "${rows[@]}"; do
	read -r name module seconds _ <<<"$row"
	is_built "$name" "$module" || { todo+=("$row") && left=$((left + seconds)); }
done
own_is_new=0
if [[ ${#own[@]} -eq 2 && ! -e $bin/testbed ]]; then
	own_is_new=1 left=$((left + seconds_own))
fi
if ((${#rows[@]} && !${#todo[@]})); then
	echo "the ${#rows[@]} programs of control planes are up to date"
fi

# What is left takes as many times its seconds as what was built so far took of its own. Before there is any: as many
# times as there are fewer cores than 2.
took=2 planned=$(nproc)
number=0
for row in "${todo[@]}"; do
	read -r name module seconds released package <<<"$row"
	number=$((number + 1))
	started=$SECONDS
	version=$(cd "$modules/$module" && go list -m -f '{{.Version}}' "$released")
	echo "building $number of ${#todo[@]}: $name $version ($(about $((left * took / planned))))"
	build "$name" "$module" "$version" "$package"
	((number > 1)) || took=0 planned=0
	took=$((took + SECONDS - started)) planned=$((planned + seconds)) left=$((left - seconds))
done
if ((own_is_new)); then
	echo "building the manager and the testbed ($(about $((left * took / planned))))"
fi
for program in "${own[@]}"; do
	build_own "$program"
done
if [[ $wanted == demo && -n $release && $release_minor -lt 28 ]]; then
	hack/binaries.sh _output/bin demo
	ln -sfn "$PWD/_output/bin" "$bin/management"
fi
