package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The labels that say where a volume is, and what they were called before:
// https://kubernetes.io/docs/reference/labels-annotations-taints/#failure-domainbetakubernetesiozone
const (
	zoneLabel       = "topology.kubernetes.io/zone"
	regionLabel     = "topology.kubernetes.io/region"
	betaZoneLabel   = "failure-domain.beta.kubernetes.io/zone"
	betaRegionLabel = "failure-domain.beta.kubernetes.io/region"
)

func volumeChecks() []check {
	return []check{
		{
			id: "VolumePluginNotMigrated", severity: observation.Blocking,
			means:  "A volume of an in-tree plugin is not served by the CSI driver in this minor: no external kubelet can mount it.",
			unseen: func(o Facts) string { return cmp.Or(unseenVolumes(o), unseen("the catalogue", o.Provider)) }, find: notMigrated,
		},
		{
			id: "VolumeNotTranslated", severity: observation.Blocking,
			means: "CSI migration cannot translate an in-tree volume, of a PersistentVolume or in a pod, such as an unmanaged disk of " +
				"Azure: no external kubelet can mount it.",
			unseen: func(o Facts) string { return cmp.Or(unseenVolumes(o), unseenPods(o)) }, find: untranslatable,
		},
		{
			id: "VolumeInline", severity: observation.Warning,
			means: "Pods have in-tree volumes without a PersistentVolume: these are not in the baseline, and no one can say afterwards " +
				"whether they are there.",
			unseen: func(o Facts) string { return cmp.Or(unseenPods(o), unseen("the catalogue", o.Provider)) }, find: inlineVolumes,
		},
		{
			id: "VolumeAttachmentStuck", severity: observation.Blocking,
			means: "A volume cannot be attached or detached, or is attached to a Node that is gone: whoever attaches it next does not " +
				"know that.",
			unseen: func(o Facts) string {
				return cmp.Or(unseen("the VolumeAttachments", o.Attachments), unseenNodes(o))
			}, find: stuckAttachments,
		},
		{
			id: "VolumesAttached", severity: observation.Info,
			means: "Volumes are attached by the in-tree plugin: each is detached when its Node is drained, and attached by the CSI " +
				"driver.",
			unseen: unseenDetails, find: attachedInTree,
		},
		{
			id: "VolumeReleased", severity: observation.Warning,
			means:  "A volume of an in-tree plugin waits for being deleted: the plugin that made it does not do that any more afterwards.",
			unseen: unseenVolumes, find: releasedVolumes,
		},
		{
			id: "VolumeNodeAffinity", severity: observation.Blocking,
			means:  "No Node has the labels that a volume asks for, or they will change: its pods cannot be scheduled.",
			unseen: func(o Facts) string { return cmp.Or(unseenVolumes(o), unseenDetails(o)) }, find: affinity,
		},
	}
}

func volumeName(volume Volume) observation.Ref {
	return observation.Ref{Kind: "PersistentVolume", Name: volume.Name}
}

// served says that the CSI driver serves the volumes of a plugin, by a gate that we switch on or without one.
func served(o Facts, plugin string) bool {
	provider := o.Provider.Value()
	return slices.Contains(provider.MigratedPlugins, plugin) ||
		len(provider.MigrationGates) > 0 && slices.Contains(provider.InTreePlugins, plugin)
}

func notMigrated(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Volumes.Value(), volumeName, func(v Volume) bool { return v.Plugin != "" && !served(o, v.Plugin) }),
		"The CSI driver does not serve volumes of their in-tree plugin in Kubernetes "+o.Cluster.Spec.Version,
		"Copy the data to a volume of the CSI driver, or upgrade to a minor that migrates the plugin.")
}

func untranslatable(o Facts, _ time.Time) []observation.Finding {
	return slices.Concat(
		about(chosen(o.Volumes.Value(), volumeName, func(v Volume) bool { return v.Untranslatable }),
			"CSI migration cannot translate them, so the CSI driver does not serve them", "Copy the data to a volume of the CSI driver."),
		about(o.Pods.Value().Untranslatable, "They have a volume without a PersistentVolume that CSI migration cannot translate, so "+
			"the CSI driver does not serve it", "Copy the data to a volume of the CSI driver, and give them a claim of that."),
	)
}

func inlineVolumes(o Facts, _ time.Time) []observation.Finding {
	var findings []observation.Finding
	inline := o.Pods.Value().Inline
	for _, plugin := range slices.Sorted(maps.Keys(inline)) {
		found := about(inline[plugin], "They have volumes of "+plugin+" without a PersistentVolume, which the baseline does not know",
			"Give them claims, or look after the migration whether their volumes are there.")
		if !served(o, plugin) {
			found = severe(observation.Blocking, about(inline[plugin], "They have volumes of "+plugin+
				" without a PersistentVolume, and the CSI driver does not serve those", "Give them claims of a StorageClass of the CSI "+
				"driver."))
		}
		findings = append(findings, found...)
	}
	return findings
}

func stuckAttachments(o Facts, _ time.Time) []observation.Finding {
	names := map[string]bool{}
	for _, node := range o.Nodes.Value() {
		names[node.Name] = true
	}
	return about(chosen(o.Attachments.Value(), func(a Attachment) observation.Ref {
		return observation.Ref{Kind: "VolumeAttachment", Name: a.Name}
	}, func(a Attachment) bool {
		return a.Problem != "" || !names[a.Node]
	}), "The volume could not be attached or detached, or its Node is gone, so the cloud may have it attached elsewhere",
		"See the events of its pods, and detach the volume in the cloud if no one uses it there.")
}

func attachedInTree(o Facts, _ time.Time) []observation.Finding {
	volumes := 0
	for _, node := range o.NodeDetails.Value() {
		volumes += len(node.Attached)
	}
	if volumes == 0 {
		return nil
	}
	return []observation.Finding{{Message: fmt.Sprintf("Volumes attached by an in-tree plugin: %d. Each is detached when its "+
		"Node is drained, and "+
		"attached by the CSI driver to another one.", volumes)}}
}

func releasedVolumes(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Volumes.Value(), volumeName, func(v Volume) bool {
		return v.Plugin != "" && (v.Phase == "Released" || v.Phase == "Failed")
	}), "They belong to no claim any more, and may be left in the cloud for good", "Delete those that no one needs before the "+
		"migration.")
}

// affinity asks for every term that could place a volume now, and whether a label that it names is about to be rewritten: the CCM
// takes the beta label for the truth where the two differ.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/node/node_controller.go
func affinity(o Facts, _ time.Time) []observation.Finding {
	nodes := o.NodeDetails.Value()
	if len(nodes) == 0 {
		return nil
	}
	placeless := chosen(o.Volumes.Value(), volumeName, func(v Volume) bool {
		return len(v.Terms) > 0 &&
			!slices.ContainsFunc(v.Terms, func(term Term) bool { return slices.ContainsFunc(nodes, term.matches) })
	})
	findings := about(placeless, "No Node has the labels that its node affinity asks for, so a pod that needs it cannot be "+
		"scheduled",
		"Add a Node where the volume is, or delete a volume that no one needs.")
	changing := chosen(o.Volumes.Value(), volumeName, func(v Volume) bool {
		return len(v.Terms) > 0 && !slices.Contains(placeless, volumeName(v)) && !slices.ContainsFunc(v.Terms, func(term Term) bool {
			return slices.ContainsFunc(nodes, func(node NodeDetail) bool { return term.matches(node.asTheCCMLabels()) })
		})
	})
	return append(findings, about(changing, "The labels that its node affinity asks for are about to change: the CCM copies the "+
		"beta labels of "+
		"zone and region over the others, and the two differ", "Make "+betaZoneLabel+" and "+zoneLabel+" the same on the Nodes "+
		"where the volume is.")...)
}

func (t Term) matches(node NodeDetail) bool {
	for label, values := range t {
		if !slices.Contains(values, node.Labels[label]) {
			return false
		}
	}
	return true
}

// asTheCCMLabels is the Node after the CCM has seen it.
func (n NodeDetail) asTheCCMLabels() NodeDetail {
	labels := maps.Clone(n.Labels)
	for beta, label := range map[string]string{betaZoneLabel: zoneLabel, betaRegionLabel: regionLabel} {
		if value := labels[beta]; value != "" {
			labels[label] = value
		}
	}
	n.Labels = labels
	return n
}

func storageChecks() []check {
	return []check{
		{
			id: "StorageClassInTree", severity: observation.Info,
			means: "A StorageClass names an in-tree provisioner: it goes on working through the CSI migration, with what its " +
				"parameters mean there.",
			unseen: func(o Facts) string { return unseen("the StorageClasses", o.StorageClasses) }, find: inTreeClasses,
		},
		{
			id: "NodeLabelsDiffer", severity: observation.Warning,
			means: "A Node's beta and present labels of zone or region differ: the CCM takes the beta label for the truth and copies " +
				"it over the other.",
			unseen: unseenDetails, find: differingLabels,
		},
	}
}

func inTreeClasses(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.StorageClasses.Value(), func(c observation.StorageClass) observation.Ref {
		return observation.Ref{Kind: "StorageClass", Name: c.Name}
	}, func(c observation.StorageClass) bool {
		return strings.HasPrefix(c.Provisioner, "kubernetes.io/") && c.Provisioner != "kubernetes.io/no-provisioner"
	}), "Their provisioner is in-tree: the CSI driver makes their volumes, and claims show that in an annotation",
		"Nothing needs to be done; new classes should name the CSI driver.")
}

func differingLabels(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		after := n.asTheCCMLabels()
		return n.Labels[zoneLabel] != "" && n.Labels[zoneLabel] != after.Labels[zoneLabel] ||
			n.Labels[regionLabel] != "" && n.Labels[regionLabel] != after.Labels[regionLabel]
	}), "Their labels of zone or region differ from the beta ones, which the CCM copies over them; step Verify asks about that "+
		"on a Node that is not replaced",
		"Make both the same, or accept the change in spec.rollout.acceptChanges.")
}
