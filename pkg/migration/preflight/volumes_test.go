package preflight

import "github.com/ccm-migration/ccm-migration-controller/pkg/observation"

func firstVolume(change func(*Volume)) func(*Facts) {
	return func(o *Facts) { editFirst(&o.Volumes, change) }
}

func noVolumesSeen(o *Facts) { blind(&o.Volumes) }

func pods(pods Pods) func(*Facts) {
	return func(o *Facts) { o.Pods = observation.Known(pods) }
}

func noPodsSeen(o *Facts) { blind(&o.Pods) }

func volumeStories() map[string]story {
	data := []string{"PersistentVolume data"}
	web := []string{"Pod default/web"}
	return map[string]story{
		"a volume of another plugin": {
			id: "VolumePluginNotMigrated", wrong: firstVolume(func(v *Volume) { v.Plugin = "kubernetes.io/aws-ebs" }),
			severity: observation.Blocking, objects: data, says: "does not serve", without: noVolumesSeen,
		},
		"a plugin without its gate": {
			id: "VolumePluginNotMigrated", given: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) {
					p.MigratedPlugins, p.MigrationGates = nil, map[string]bool{"CSIMigrationOpenStack": true}
				})
			}, wrong: func(o *Facts) { edit(&o.Provider, func(p *observation.Provider) { p.MigrationGates = nil }) },
			severity: observation.Blocking, objects: data, says: "does not serve", without: func(o *Facts) { blind(&o.Provider) },
		},
		"a pod has a volume of its own": {
			id:       "VolumeInline",
			wrong:    pods(Pods{Inline: map[string][]observation.Ref{cinder: {{Kind: "Pod", Namespace: "default", Name: "web"}}}}),
			severity: observation.Warning, objects: web, says: "without a PersistentVolume", without: noPodsSeen,
		},
		"a pod has a volume of its own that no one serves": {
			id: "VolumeInline",
			wrong: pods(Pods{Inline: map[string][]observation.Ref{"kubernetes.io/gce-pd": {{Kind: "Pod", Namespace: "default",
				Name: "web"}}}}), severity: observation.Blocking, objects: web, says: "does not serve", without: noPodsSeen,
		},
		"a volume is attached to a Node that is gone": {
			id: "VolumeAttachmentStuck", wrong: func(o *Facts) { editFirst(&o.Attachments, func(a *Attachment) { a.Node = "gone" }) },
			severity: observation.Blocking,
			objects:  []string{"VolumeAttachment a1"}, says: "Node is gone", without: func(o *Facts) { blind(&o.Attachments) },
		},
		"a volume cannot be detached": {
			id: "VolumeAttachmentStuck", wrong: func(o *Facts) { editFirst(&o.Attachments, func(a *Attachment) { a.Problem = "busy" }) },
			severity: observation.Blocking,
			objects:  []string{"VolumeAttachment a1"}, says: "could not be attached or detached", without: noNodesSeen,
		},
		"volumes are attached": {
			id: "VolumesAttached", wrong: firstDetail(func(n *NodeDetail) { n.Attached = []string{"kubernetes.io/cinder/1"} }),
			severity: observation.Info, says: "in-tree plugin: 1.", without: noDetailsSeen,
		},
		"a volume waits for being deleted": {
			id: "VolumeReleased", wrong: firstVolume(func(v *Volume) { v.Phase = "Released" }), severity: observation.Warning,
			objects: data, says: "left in the cloud", without: noVolumesSeen,
		},
		"a volume is where no Node is": {
			id: "VolumeNodeAffinity", wrong: firstVolume(func(v *Volume) { v.Terms = []Term{{zoneLabel: {"z9"}}} }),
			severity: observation.Blocking, objects: data, says: "No Node has the labels", without: noVolumesSeen,
		},
		"the labels of a volume's Nodes change": {
			id: "VolumeNodeAffinity", wrong: func(o *Facts) {
				details := append([]NodeDetail{}, o.NodeDetails.Value()...)
				for i := range details {
					details[i].Labels = map[string]string{zoneLabel: "z1", betaZoneLabel: "region-z1"}
				}
				o.NodeDetails = observation.Known(details)
			}, severity: observation.Blocking, objects: data, says: "about to change", without: noDetailsSeen,
		},
	}
}

func storageStories() map[string]story {
	return map[string]story{
		"a volume that CSI migration cannot translate": {
			id: "VolumeNotTranslated", wrong: firstVolume(func(v *Volume) { v.Untranslatable = true }),
			severity: observation.Blocking, objects: []string{"PersistentVolume data"}, says: "cannot translate", without: noVolumesSeen,
		},
		"a volume in a pod that CSI migration cannot translate": {
			id: "VolumeNotTranslated", wrong: pods(Pods{Untranslatable: []observation.Ref{{Kind: "Pod", Namespace: "default", Name: "web"}}}),
			severity: observation.Blocking, objects: []string{"Pod default/web"}, says: "without a PersistentVolume that CSI migration",
			without: noPodsSeen,
		},
		"a StorageClass of the in-tree plugin": {
			id: "StorageClassInTree", wrong: func(o *Facts) {
				editFirst(&o.StorageClasses, func(c *observation.StorageClass) { c.Provisioner = cinder })
			},
			severity: observation.Info, objects: []string{"StorageClass local"}, says: "in-tree",
			without: func(o *Facts) { blind(&o.StorageClasses) },
		},
		"labels of a zone differ": {
			id:       "NodeLabelsDiffer",
			wrong:    firstDetail(func(n *NodeDetail) { n.Labels = map[string]string{zoneLabel: "1", betaZoneLabel: "west-1"} }),
			severity: observation.Warning, objects: []string{"Node n1"}, says: "differ", without: noDetailsSeen,
		},
	}
}

func service(change func(*Service)) func(*Facts) {
	return func(o *Facts) {
		web := Service{Namespace: "default", Name: "web", Ingress: []string{"192.0.2.1"}}
		change(&web)
		o.Services = observation.Known([]Service{web})
	}
}

func serviceStories() map[string]story {
	web := []string{"Service default/web"}
	fine := service(func(*Service) {})
	noServicesSeen := func(o *Facts) { blind(&o.Services) }
	many := func(o *Facts) { o.Services = observation.Known(make([]Service, manyLoadBalancers+1)) }
	return map[string]story{
		"a Service has no address": {
			id: "LoadBalancerPending", given: service(func(s *Service) { s.Ingress, s.Class = nil, "other" }),
			wrong:    service(func(s *Service) { s.Ingress = nil }),
			severity: observation.Warning, objects: web, says: "no address yet", without: noServicesSeen,
		},
		"a Service is being deleted": {
			id: "LoadBalancerDeleting", given: fine, wrong: service(func(s *Service) { s.Deleting = true }),
			severity: observation.Blocking, objects: web, says: "wait for their load balancer to go", without: noServicesSeen,
		},
		"two Services have one address": {
			id: "LoadBalancerShared", given: fine, wrong: func(o *Facts) {
				o.Services = observation.Known([]Service{
					{Namespace: "a", Name: "x", Ingress: []string{"1"}}, {Namespace: "b", Name: "y", Ingress: []string{"1"}},
				})
			}, severity: observation.Warning, objects: []string{"Service a/x", "Service b/y"}, says: "share an address",
			without: noServicesSeen,
		},
		"the CCM keeps load balancers": {
			id: "LoadBalancerNeverDeleted", given: fine,
			wrong: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) { p.LoadBalancerNames = "lb_%s_%s_%s" })
			},
			severity: observation.Warning, objects: web, says: "never deletes them", without: noServicesSeen,
		},
		"there are load balancers":      {id: "LoadBalancersEnsured", wrong: fine, severity: observation.Info, says: "starts: 1.", without: noServicesSeen},
		"there are many load balancers": {id: "LoadBalancersEnsured", wrong: many, severity: observation.Warning, says: "rate limit", without: noServicesSeen},
	}
}

func clusterNameStories() map[string]story {
	web := []string{"Service default/web"}
	fine := service(func(*Service) {})
	noServicesSeen := func(o *Facts) { blind(&o.Services) }
	return map[string]story{
		"load balancers will have the default name, and it can still be changed": {
			id: "ClusterNameDefault", wrong: func(o *Facts) {
				kcm(map[string]string{"cluster-name": "kubernetes"})(o)
				edit(&o.Provider, func(p *observation.Provider) { p.FreesClusterName, p.SharesLoadBalancerNames = true, false })
			}, severity: observation.Blocking, objects: []string{"Deployment user-alpha/kube-controller-manager"},
			says: "takes over those of another cluster", without: noControlPlaneSeen,
		},
		"load balancers will have the default name by the spec": {
			id: "ClusterNameDefault", given: func(o *Facts) {
				kcm(map[string]string{"cluster-name": "kubernetes"})(o)
				edit(&o.Provider, func(p *observation.Provider) { p.FreesClusterName, p.SharesLoadBalancerNames = true, false })
				o.Cluster.Spec.Cloud.ClusterName = "alpha"
			}, wrong: func(o *Facts) { o.Cluster.Spec.Cloud.ClusterName = "kubernetes" }, severity: observation.Blocking,
			says: "delete the Cluster", without: noControlPlaneSeen,
		},
		"a CCM has put another name on load balancers": {
			id: "ClusterNameMarked", given: func(o *Facts) {
				service(func(s *Service) { s.Marked = true })(o)
				edit(&o.Provider, func(p *observation.Provider) { p.FreesClusterName = true })
			}, wrong: func(o *Facts) { o.Cluster.Spec.Cloud.ClusterName = "other" }, severity: observation.Blocking, objects: web,
			says: "refuses their ports", without: noServicesSeen,
		},
		"a CCM was there before, and not for all": {
			id: "ClusterNameMarked", given: func(o *Facts) {
				fine(o)
				edit(&o.Provider, func(p *observation.Provider) { p.FreesClusterName = true })
				o.Cluster.Spec.Cloud.ClusterName = "other"
			}, wrong: service(func(s *Service) { s.Marked = true }), severity: observation.Blocking, objects: web,
			says: "spec.cloud.clusterName, other", without: noControlPlaneSeen,
		},
		"load balancers have the default name": {
			id: "ClusterNameDefault", given: fine, wrong: kcm(map[string]string{"cluster-name": "kubernetes"}),
			severity: observation.Warning, says: "cluster name kubernetes", without: noServicesSeen,
		},
	}
}
