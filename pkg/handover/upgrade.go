package handover

import (
	"fmt"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// UpgradeDoubts are what stands between us and the proof that every kube-apiserver is of a minor. One of them answers with its
// version; the others run the same image.
//
//	Deployment, static pods ──► rolled out, nothing unseen
//	live pods ────────────────► one image
//	/version ─────────────────► that minor
func UpgradeDoubts(servers []observation.Component, version string, minor int) []observation.Text {
	var doubts []observation.Text
	var images []string
	for _, server := range servers {
		switch {
		case len(server.Unseen) > 0:
			doubts = append(doubts, observation.FirstOf(server.Unseen, "Node", "Nodes"))
		case !server.RolledOut:
			doubts = append(doubts, observation.Say(server, " is still rolling out."))
		}
		for _, process := range server.Pods {
			if !process.Ended && !process.Finished {
				images = append(images, process.Image)
			}
		}
	}
	slices.Sort(images)
	switch images = slices.Compact(images); {
	case len(images) == 0:
		doubts = append(doubts, observation.Say("No pod of kube-apiserver was found."))
	case len(images) > 1:
		doubts = append(doubts, observation.Say("Its pods run different images: "+images[0]+" and "+images[1]+"."))
	}
	if observation.MinorOf(version) != minor {
		doubts = append(doubts, observation.Say(fmt.Sprintf("An API server answers that it is %s.", version)))
	}
	return doubts
}
