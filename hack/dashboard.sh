#!/usr/bin/env bash
# Gets what test/dashboard needs beside Go, and runs it with the given flags: Chromium as Debian packages it, and axe-core, which
# npm fetches and a checksum pins.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
axe=4.14.1 sum=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
missing=()
command -v chromium >/dev/null || missing+=(chromium)
[[ -e _output/axe-core/$axe ]] || command -v npm >/dev/null || missing+=(npm)
if ((${#missing[@]})); then
	if ((EUID)) || ! command -v apt-get >/dev/null; then
		echo "install ${missing[*]} first: apt-get install ${missing[*]}" >&2
		exit 2
	fi
	apt-get install --yes --no-install-recommends "${missing[@]}"
fi
if [[ ! -e _output/axe-core/$axe ]]; then
	mkdir -p _output/axe-core
	(
		cd _output/axe-core
		npm pack --silent "axe-core@$axe" >/dev/null
		sha256sum --check --quiet <<<"$sum  axe-core-$axe.tgz"
		tar -xzf "axe-core-$axe.tgz" --strip-components=1 package/axe.min.js
		rm "axe-core-$axe.tgz"
		touch "$axe"
	)
fi
export KUBEBUILDER_ASSETS=${KUBEBUILDER_ASSETS:-$PWD/_output/bin}
cd test/dashboard
go test -count=1 -timeout=30m -v . "$@"
