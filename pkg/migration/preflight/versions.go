package preflight

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func versionChecks() []check {
	both := func(o Facts) string { return cmp.Or(unseenServer(o), unseenDetails(o)) }
	return []check{
		{
			id: "VersionDiffers", severity: observation.Blocking,
			means: "spec.version is another minor than the API server's: the CCM, its flags and the rules would be those of the wrong " +
				"one.",
			unseen: unseenServer, find: versionDiffers,
		},
		{
			id: "KubeletNewer", severity: observation.Blocking,
			means:  "A kubelet is newer than the API server.",
			unseen: both, find: newerKubelets,
		},
		{
			id: "KubeletTooOld", severity: observation.Blocking,
			means:  "A kubelet is older than the version skew policy of Kubernetes allows.",
			unseen: both, find: oldKubelets,
		},
	}
}

func unseenServer(o Facts) string { return unseen("the API server's version", o.Server) }

func versionDiffers(o Facts, _ time.Time) []observation.Finding {
	server := o.Server.Value().Version
	if observation.MinorOf(server) == 0 || observation.MinorOf(server) == o.minor() {
		return nil
	}
	return []observation.Finding{{
		Message: "spec.version is " + o.Cluster.Spec.Version + ", and the API server says that it is " + server + ".",
		Action:  "Set spec.version to what runs, or wait until the upgrade is over.",
	}}
}

func newerKubelets(o Facts, _ time.Time) []observation.Finding {
	server := observation.MinorOf(o.Server.Value().Version)
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		return server != 0 && observation.MinorOf(n.KubeletVersion) > server
	}), fmt.Sprintf("Their kubelets are newer than the API server, which is 1.%d", server), "Replace them by Machines of the API "+
		"server's version.")
}

// oldKubelets may be three minors older than the API server, and those before 1.25 two:
// https://kubernetes.io/releases/version-skew-policy/#kubelet
func oldKubelets(o Facts, _ time.Time) []observation.Finding {
	server := observation.MinorOf(o.Server.Value().Version)
	most := 3
	if server < 28 {
		most = 2
	}
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		kubelet := observation.MinorOf(n.KubeletVersion)
		return server != 0 && kubelet != 0 && kubelet < server-most
	}), fmt.Sprintf("Their kubelets are more than %d minors older than the API server, which is 1.%d", most, server),
		"Upgrade them first: a roll makes Machines of the version in the template of their MachineDeployment.")
}
