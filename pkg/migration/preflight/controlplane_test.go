package preflight

import (
	"maps"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func controlPlane(change func(*observation.ControlPlane)) func(*Facts) {
	return func(o *Facts) { edit(&o.ControlPlane, change) }
}

func lease(change func(*observation.Lease)) func(*Facts) {
	return func(o *Facts) { edit(&o.KCMLease, change) }
}

func noControlPlaneSeen(o *Facts) { blind(&o.ControlPlane) }

func controlPlaneStories() map[string]story {
	stories := componentStories()
	maps.Copy(stories, kcmStories())
	return stories
}

func kcmStories() map[string]story {
	deployment := []string{"Deployment user-alpha/kube-controller-manager"}
	theLease := []string{"Lease kube-system/kube-controller-manager"}
	return map[string]story{
		"two replicas without leader election": {
			id: "LeaderElectionOff", given: controlPlane(func(c *observation.ControlPlane) { c.KCM.Replicas = 2 }), wrong: kcm(
				map[string]string{"leader-elect": "false"},
			),
			severity: observation.Blocking, objects: deployment, says: "all replicas", without: noControlPlaneSeen,
		},
		"one replica without leader election": {
			id: "LeaderElectionOff", wrong: kcm(
				map[string]string{"leader-elect": "false"},
			), severity: observation.Warning, objects: deployment,
			says: "rolling update", without: noControlPlaneSeen,
		},
		"someone unknown leads": {
			id: "LeaderUnknown", given: lease(func(l *observation.Lease) { l.Holder, l.ChangedAt = "gone_1", noon().Add(-time.Minute) }),
			wrong: lease(func(l *observation.Lease) {
				l.Holder, l.ChangedAt = "old-master_1", noon().Add(-time.Second)
			}), severity: observation.Blocking,
			objects: theLease, says: "old-master_1", without: func(o *Facts) { blind(&o.KCMLease) },
		},
		"no one knows yet whether a leader lives": {
			id: "LeaderUnknown", wrong: lease(func(l *observation.Lease) {
				l.Holder, l.ChangedAt, l.WatchedAt = "old-master_1", time.Time{}, noon().Add(-time.Second)
			}),
			severity: observation.Blocking, says: "watched for long enough", unseen: true, without: func(o *Facts) { blind(&o.KCMLease) },
		},
		"a Lease lasts long": {
			id: "LeaseLong", given: kcm(
				map[string]string{"leader-elect-lease-duration": "60s"},
			), wrong: kcm(map[string]string{"leader-elect-lease-duration": "137s"}),
			severity: observation.Warning, objects: deployment, says: "2m17s", without: noControlPlaneSeen,
		},
		"KCM is rolled out": {
			id: "ComponentRollingOut", wrong: controlPlane(func(c *observation.ControlPlane) { c.KCM.RolledOut = false }),
			severity: observation.Warning, objects: deployment, says: "being rolled out", without: noControlPlaneSeen,
		},
		"a tool reconciles KCM": {
			id: "ControlPlaneReconciled", wrong: controlPlane(func(c *observation.ControlPlane) {
				c.KCM.Reconcilers = []string{"Argo CD application a", "KKP"}
			}), severity: observation.Blocking, objects: []string{deployment[0] + " (Argo CD application a, KKP)"},
			says: "start the in-tree cloud loops again", without: noControlPlaneSeen,
		},
		"a pod runs other loops": {
			id: "ComponentPodsDiffer", wrong: controlPlane(func(c *observation.ControlPlane) {
				c.KCM.Pods = []observation.Process{{PodName: "kcm-1", Arguments: observation.Arguments{Flags: map[string]string{}}}}
			}), severity: observation.Warning, objects: []string{"Pod user-alpha/kcm-1"}, says: "other cloud loops",
			without: noControlPlaneSeen,
		},
	}
}

func componentStories() map[string]story {
	return map[string]story{
		"a component that the spec does not mention has an in-tree flag": {
			id: ComponentUnclaimed, given: neighbor(false, map[string]string{"v": "2"}), wrong: neighbor(
				false, map[string]string{"cloud-provider": "openstack"},
			),
			severity: observation.Blocking, objects: []string{
				"Deployment user-alpha/apiserver (spec.controlPlane.kubeAPIServer): --cloud-provider",
			},
			says: "does not say who owns them", without: noControlPlaneSeen,
		},
		"a component that the spec does not mention has a migration gate off": {
			id: ComponentUnclaimed, given: gates(neighbor(false, map[string]string{"feature-gates": "CSIMigrationAWS=true"})),
			wrong:    gates(neighbor(false, map[string]string{"feature-gates": "CSIMigrationAWS=false"})),
			severity: observation.Blocking, objects: []string{
				"Deployment user-alpha/apiserver (spec.controlPlane.kubeAPIServer): CSIMigrationAWS=true",
			},
			says: "does not say who owns them", without: func(o *Facts) { blind(&o.Provider) },
		},
		"a component that the spec does not mention cannot be read": {
			id: ComponentUnclaimed, wrong: neighbor(false, nil), severity: observation.Blocking,
			objects: []string{
				"Deployment user-alpha/apiserver (spec.controlPlane.kubeAPIServer): odd",
			}, says: "who owns", without: noControlPlaneSeen,
		},
		"a component of someone else has an in-tree flag": {
			id: ComponentUnclaimed, wrong: neighbor(true, map[string]string{"cloud-provider": "openstack"}), severity: observation.Warning,
			objects: []string{
				"Deployment user-alpha/apiserver (spec.controlPlane.kubeAPIServer): --cloud-provider",
			}, says: "calls them Foreign", without: noControlPlaneSeen,
		},
		"the machine-controller is not found": {
			id: "MachineControllerMissing", wrong: func(o *Facts) { o.MachineController = noMachineController() },
			severity: observation.Blocking, says: "machine-controller-webhook", without: func(o *Facts) { blind(&o.MachineController) },
		},
		"one of the machine-controller's Deployments is not found": {
			id: "MachineControllerMissing", wrong: func(o *Facts) {
				o.MachineController = observation.Known(append(healthy().MachineController.Value(), noMachineController().Value()[1]))
			},
			severity: observation.Blocking, says: "machine-controller-webhook", without: func(o *Facts) { blind(&o.MachineController) },
		},
	}
}

func apiServer(flags map[string]string) func(*Facts) {
	return controlPlane(func(c *observation.ControlPlane) {
		c.Others = []observation.Component{{
			Ref: observation.Ref{
				Kind: "Deployment", Namespace: "user-alpha", Name: "kube-apiserver",
			}, Container: "kube-apiserver", RolledOut: true,
			Arguments: observation.Arguments{Flags: flags},
		}}
	})
}

// neighbor is a kube-apiserver that is not ours to change; without flags it cannot be read.
func neighbor(foreign bool, flags map[string]string) func(*Facts) {
	return controlPlane(func(c *observation.ControlPlane) {
		seen := observation.Neighbor{Field: "spec.controlPlane.kubeAPIServer", Foreign: foreign, Component: observation.Component{
			Ref: observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: "apiserver"}, Container: "apiserver", RolledOut: true,
			Arguments: observation.Arguments{Flags: flags},
		}}
		if flags == nil {
			seen.Arguments.Problem = "odd"
		}
		c.Neighbors = []observation.Neighbor{seen}
	})
}

func gates(change func(*Facts)) func(*Facts) {
	return both(change, func(o *Facts) {
		edit(&o.Provider, func(p *observation.Provider) { p.MigrationGates = map[string]bool{"CSIMigrationAWS": true} })
	})
}

func version(version string) func(*Facts) {
	return func(o *Facts) { o.Cluster.Spec.Version = version }
}

func both(changes ...func(*Facts)) func(*Facts) {
	return func(o *Facts) {
		for _, change := range changes {
			change(o)
		}
	}
}

func flagStories() map[string]story {
	flag := []string{"Deployment user-alpha/kube-apiserver --cloud-provider"}
	given := apiServer(map[string]string{"cloud-provider": "external"})
	return map[string]story{
		"the API server has a flag that is gone": {
			id: "FlagRemoved", given: both(given, version("1.32.0")), wrong: version("1.33.0"), severity: observation.Blocking,
			objects: flag, says: "does not know", without: noControlPlaneSeen,
		},
		"the API server has a flag that goes": {
			id: "FlagRemovedNext", given: both(given, version("1.31.0")), wrong: version("1.32.0"), severity: observation.Info,
			objects: flag, says: "1.33", without: noControlPlaneSeen,
		},
		"a gate retires": {
			id: "FlagRemovedNext", given: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) { p.RetiredGates = []string{"CSIMigrationOpenStack"} })
			}, wrong: kcm(map[string]string{"feature-gates": "CSIMigrationOpenStack=true"}), severity: observation.Info,
			objects: []string{
				"Deployment user-alpha/kube-controller-manager gate CSIMigrationOpenStack",
			}, says: "1.26", without: func(o *Facts) { blind(&o.Provider) },
		},
	}
}

func networkStories() map[string]story {
	deployment, n1 := []string{"Deployment user-alpha/kube-controller-manager"}, []string{"Node n1"}
	routes := kcm(map[string]string{"configure-cloud-routes": "true"})
	cidr := func(cidr string) func(*Facts) {
		return firstDetail(func(n *NodeDetail) { n.PodCIDRs = []string{cidr} })
	}
	return map[string]story{
		"the cloud allocates": {
			id: "CIDRAllocator", given: kcm(
				map[string]string{"cidr-allocator-type": "RangeAllocator"},
			), wrong: kcm(map[string]string{"cidr-allocator-type": "CloudAllocator"}),
			severity: observation.Blocking, objects: deployment, says: "RangeAllocator", without: noControlPlaneSeen,
		},
		"routes without a range": {
			id: "ClusterCIDRMissing", given: kcm(map[string]string{"cluster-cidr": ""}), wrong: routes, severity: observation.Blocking,
			objects: deployment, says: "--cluster-cidr", without: noControlPlaneSeen,
		},
		"ranges overlap": {
			id: "PodCIDROverlap", wrong: cidr("10.0.0.0/20"), severity: observation.Blocking, objects: []string{"Node n1", "Node n2"},
			says: "overlap", without: noDetailsSeen,
		},
		"a range is outside": {
			id: "PodCIDROutside", wrong: cidr("10.9.0.0/24"), severity: observation.Warning, objects: n1, says: "outside",
			without: noControlPlaneSeen,
		},
		"a Node has no range": {
			id: "PodCIDRMissing", wrong: firstDetail(func(n *NodeDetail) { n.PodCIDRs = nil }), severity: observation.Warning, objects: n1,
			says: "have none", without: noDetailsSeen,
		},
		"a Node has no network": {
			id: "NetworkUnavailable", wrong: firstDetail(func(n *NodeDetail) { n.NetworkUnavailable = true }),
			severity: observation.Blocking, objects: n1, says: "NetworkUnavailable", without: noDetailsSeen,
		},
		"no one knows the routes": {id: "RoutesUnknown", wrong: routes, severity: observation.Warning, says: "10.0.0.0/16", unseen: true, without: noControlPlaneSeen},
		"a pod pulls with the kubelet's password": {
			id: "ImageCredentials", wrong: pods(
				Pods{Pulling: map[string][]observation.Ref{"mine.azurecr.io": {{Kind: "Pod", Namespace: "default", Name: "web"}}}},
			), severity: observation.Blocking,
			objects: []string{"Pod default/web"}, says: "mine.azurecr.io", without: noPodsSeen,
		},
		"a pod pulls with the kubelet's password, until the next upgrade": {
			id: "ImageCredentials", given: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) { p.Registries.LastMinor = 25 })
			},
			wrong: pods(
				Pods{Pulling: map[string][]observation.Ref{"mine.azurecr.io": {{Kind: "Pod", Namespace: "default", Name: "web"}}}},
			), severity: observation.Warning,
			objects: []string{"Pod default/web"}, says: "before the cluster is upgraded", without: noPodsSeen,
		},
		"a pod pulls what may be public": {
			id: "ImageCredentials", given: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) { p.Registries.Public = true })
			},
			wrong: pods(
				Pods{Pulling: map[string][]observation.Ref{"gcr.io": {{Kind: "Pod", Namespace: "default", Name: "web"}}}},
			), severity: observation.Warning,
			objects: []string{"Pod default/web"}, says: "gcr.io", without: noPodsSeen,
		},
	}
}

func noMachineController() observation.Observed[[]observation.MachineControllerDeployment] {
	var missing []observation.MachineControllerDeployment
	for _, program := range []observation.MachineControllerProgram{
		observation.MachineController, observation.MachineWebhook, observation.OperatingSystemManager,
	} {
		missing = append(missing,
			observation.MachineControllerDeployment{Program: program, Missing: true, Component: observation.Component{
				Ref: observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: string(program)},
			}})
	}
	return observation.Known(missing)
}
