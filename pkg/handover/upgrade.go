package handover

import (
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// UpgradeDoubt is what stands between us and the proof that every kube-apiserver is of a minor; empty: nothing does. One of them
// answers with its version; the others run the same image.
//
//	Deployment, static pods ──► rolled out, nothing unseen
//	live pods ────────────────► one image
//	/version ─────────────────► that minor
func UpgradeDoubt(servers []observation.Component, version string, minor int) observation.Text {
	var first *observation.Process
	for _, server := range servers {
		switch {
		case len(server.Unseen) > 0:
			return observation.FirstOf(server.Unseen, "Node", "Nodes")
		case !server.RolledOut:
			return observation.Say(server, " is still rolling out.")
		}
		for _, process := range server.Pods {
			switch {
			case process.Ended || process.Finished:
			case first == nil:
				first = &process
			case imageOf(process) != imageOf(*first):
				return observation.Say(podOf(server, first.PodName), " and ", podOf(server, process.PodName), " run different images.")
			}
		}
	}
	switch {
	case first == nil:
		return observation.Say("No pod of kube-apiserver was found; the Cluster's spec.controlPlane says where it is looked for.")
	case observation.MinorOf(version) != minor:
		return observation.Say("An API server answers that it is " + version + ".")
	}
	return observation.Text{}
}

// imageOf leaves out where an image was pulled from: mirrors of the Nodes may have it under other names.
func imageOf(process observation.Process) string {
	if _, digest, known := strings.Cut(process.Image, "sha256:"); known {
		return digest
	}
	return process.Image
}
