#!/usr/bin/env bash
# Builds the CCM of a provider for the testbed:
#   provider.sh OUT_DIR PROVIDER SOURCE
# SOURCE is a checkout of a tag of the CCM's repository, which is not changed. OUT_DIR gets the CCM in a folder of its tag, and
# links to all others that a testbed needs. For openstack they are those of its last minor with the provider in-tree, of
# which the proxy has all modules, and KCM is as released.
set -euo pipefail

usage() {
	echo "usage: $0 OUT_DIR openstack|vsphere|azure|gcp|hetzner SOURCE" >&2
	exit 2
}
(($# == 3)) || usage
release='' program=''
case $2 in
openstack) release=1.25.0 package=./cmd/openstack-cloud-controller-manager ;;
vsphere) package=./cmd/vsphere-cloud-controller-manager ;;
azure | gcp) package=./cmd/cloud-controller-manager ;;
hetzner) package=. program=hcloud-cloud-controller-manager ;;
*) usage ;;
esac
program=${program:-${package##*/}}
if ! tag=$(git -C "$3" describe --tags --exact-match --match '*v[0-9]*' 2>/dev/null); then
	echo "$3 is no checkout of a tag: check out the one that 'ccm-migration-controller versions --provider $2' shows" >&2
	exit 2
fi
tag=${tag##*/}
mkdir -p "$1/$tag"
out=$(cd "$1" && pwd) source=$(cd "$3" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$PWD/_output/bin
if [[ -n $release ]]; then
	bin=$PWD/_output/$release
	hack/binaries.sh "$bin" demo "$release"
	hack/binaries.sh "$out" controllers "$release"
else
	hack/binaries.sh "$bin" demo
fi
for path in "$bin"/*; do
	name=${path##*/}
	# What there is are programs as released; the links are other names of the testbed.
	[[ -f $out/$name && ! -L $out/$name ]] || ln -sfn "$path" "$out/$name"
done
# The testbed looks for programs beside its own, so a link would lead it back: it is a second name of the same file.
ln -f "$bin/testbed" "$out/testbed"
for name in machine-controller machine-controller-webhook operating-system-manager csi-driver; do
	ln -sfn testbed "$out/$name"
done
echo "building $program $tag (some minutes the first time)"
cd "$source"
# A folder of dependencies that the checkout may have stays unused: the proxy has them, too. What make sets is for our own modules.
GOWORK=off GOFLAGS='' go build -mod=readonly -buildvcs=false -ldflags="-s -w" -o "$out/$tag/$program" "$package"
