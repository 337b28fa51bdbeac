#!/usr/bin/env bash
# Builds the control plane binaries of the testbed into a directory:
#   build.sh BIN_DIR
# or the kube-apiserver of the newest minor of the catalogue, in the module
# newest, which nothing but make conformance-addons needs:
#   build.sh BIN_DIR newest
# Needs nothing but Go. The Go build cache makes it incremental: when nothing
# changed, it takes seconds.
set -euo pipefail

if [[ $# -ne 1 && "${*:2}" != newest ]]; then
	echo "usage: $0 BIN_DIR [newest]" >&2
	exit 2
fi
mkdir -p "$1"
bin_dir=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"

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

# In the module next is the next minor's KCM: what a finished migration leaves
# has to start there, too. In aws is a CCM that others wrote: the catalogue's
# arguments and rights are to be enough for it. Both go to a folder of their
# version, which is that of the module after the @.
binaries=(
	etcd=.@k8s.io/kubernetes=go.etcd.io/etcd/server/v3
	kube-apiserver=.@k8s.io/kubernetes=k8s.io/kubernetes/cmd/kube-apiserver
	kube-scheduler=.@k8s.io/kubernetes=k8s.io/kubernetes/cmd/kube-scheduler
	kube-controller-manager=.@k8s.io/kubernetes=./cmd/kube-controller-manager
	cloud-controller-manager=.@k8s.io/kubernetes=./cmd/cloud-controller-manager
	kube-controller-manager=next@k8s.io/kubernetes=k8s.io/kubernetes/cmd/kube-controller-manager
	aws-cloud-controller-manager=aws@k8s.io/cloud-provider-aws=k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager
)
if [[ $# -eq 2 ]]; then
	binaries=(kube-apiserver=newest@k8s.io/kubernetes=k8s.io/kubernetes/cmd/kube-apiserver)
fi

echo "building ${#binaries[@]} binaries of control planes; on 2 cores the first time takes about 10 minutes, later seconds"
number=0
for binary in "${binaries[@]}"; do
	number=$((number + 1))
	IFS==@ read -r name module released package <<<"$binary"
	version=$(cd "$module" && go list -m -f '{{.Version}}' "$released")
	folder=$bin_dir
	if [[ $module != . ]]; then
		folder=$bin_dir/$version
	fi
	echo "building $name $version ($number/${#binaries[@]})"
	started=$SECONDS
	# Version control stamps are off: each commit would link everything anew.
	(cd "$module" && go build -trimpath -buildvcs=false -ldflags "$(ldflags "$version")" -o "$folder/$name" "$package")
	echo "built $name in $((SECONDS - started)) s"
done
