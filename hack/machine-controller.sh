#!/usr/bin/env bash
# Builds the real machine-controller and its webhook, and the real operating-system-manager, for the testbed:
#   machine-controller.sh BIN_DIR OUT_DIR SOURCE [OSM_SOURCE]
# SOURCE is a checkout of github.com/kubermatic/machine-controller, which is no module that can be had, and OSM_SOURCE
# one of github.com/kubermatic/operating-system-manager, whose stand-in stays without it. Neither is changed. OUT_DIR gets
# the programs, and links to all others in BIN_DIR: a testbed that is started from there runs the real ones.
set -euo pipefail

if (($# < 3 || $# > 4)); then
	echo "usage: $0 BIN_DIR OUT_DIR SOURCE [OSM_SOURCE]" >&2
	exit 2
fi
for source in "${@:3}"; do
	if [[ ! -e $source/go.mod ]]; then
		echo "$source is no checkout: it has no go.mod" >&2
		exit 2
	fi
done
mkdir -p "$2"
bin=$(cd "$1" && pwd) out=$(cd "$2" && pwd) source=$(cd "$3" && pwd) osm_source=${4:+$(cd "$4" && pwd)}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stand_in=$PWD/test/testbed/machinecontroller
sources=$out/sources
# What make sets is for our own modules.
export GOFLAGS=

# link_others makes $out look like $bin. The testbed looks for programs beside its own, so its link would lead it back: it
# is a second name of the same file.
link_others() {
	local path name
	for path in "$bin"/*; do
		name=${path##*/}
		[[ $name == testbed ]] || ln -sfn "$path" "$out/$name"
	done
	ln -f "$bin/testbed" "$out/testbed"
	for name in machine-controller machine-controller-webhook operating-system-manager csi-driver; do
		ln -sfn testbed "$out/$name"
	done
}

# only_simcloud leaves the driver of simcloud, in the place of that which fakes a cloud, and no other: their libraries take
# minutes to compile, and that of one is no module that can be had.
only_simcloud() {
	local drivers=pkg/cloudprovider/provider
	awk '
		/\/pkg\/cloudprovider\/provider\// && !/\/fake"$/ { next }
		/^\t\tproviderconfig\.CloudProvider.*: func\(/ && !/CloudProviderFake:/ { skip = 1 }
		skip { if (/^\t\t},$/) skip = 0; next }
		{ sub(/provider\/fake"$/, "provider/simcloud\""); sub(/providerconfig\.CloudProviderFake/, "\"simcloud\""); sub(/fake\.New/, "simcloud.New"); print }
	' "$source/pkg/cloudprovider/provider.go" >pkg/cloudprovider/provider.go
	rm -rf "${drivers:?}"/*
	mkdir -p "$drivers/simcloud/cloud"
	cp "$stand_in/upstream/testdata/driver/driver.go" "$drivers/simcloud"
	cp "$stand_in"/cloud/{doc,cloud}.go "$drivers/simcloud/cloud"
	go mod edit -json | sed -n 's/.*"Path": "\(go\.anx\.io\/[^"]*\)".*/\1/p' | sort -u | while read -r module; do
		go mod edit -droprequire="$module"
	done
}

copy() {
	rm -rf "${sources:?}/$2"
	mkdir -p "$sources/$2"
	tar -C "$1" --exclude=.git -cf - . | tar -C "$sources/$2" -xf -
}

link_others
copy "$source" machine-controller
(
	cd "$sources/machine-controller"
	only_simcloud
	echo "building the machine-controller and its webhook (about 3 minutes the first time)"
	# What stands there are links to the stand-ins.
	rm -f "$out"/machine-controller{,-webhook}
	go build -mod=mod -buildvcs=false -ldflags="-s -w" -o "$out/machine-controller" ./cmd/machine-controller
	go build -mod=mod -buildvcs=false -ldflags="-s -w" -o "$out/machine-controller-webhook" ./cmd/webhook
)

[[ -n $osm_source ]] || exit 0
copy "$osm_source" operating-system-manager
(
	cd "$sources/operating-system-manager"
	# Of the library that both share, the release that it asks for can't be had either.
	go mod edit -replace=k8c.io/machine-controller/sdk="$sources/machine-controller/sdk"
	echo "building the operating-system-manager (about a minute the first time)"
	rm -f "$out/operating-system-manager"
	manifests=$out/operating-system-manager-manifests
	rm -rf "$manifests"
	mkdir -p "$manifests"
	# Where its definitions list clouds, the one that fakes a cloud makes room for ours.
	for definition in deploy/crd/*.yaml; do
		sed -E 's/^( +- )fake$/\1simcloud/' "$definition" >"$manifests/${definition##*/}"
	done
	sed 's/- name: "aws"$/- name: "simcloud"/' deploy/osps/default/osp-ubuntu.yaml >"$manifests/osp-ubuntu.yaml"
	go build -mod=mod -buildvcs=false -ldflags="-s -w" -o "$out/operating-system-manager" ./cmd/osm-controller
)
