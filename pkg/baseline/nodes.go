package baseline

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// withoutNewHostname: a CCM may report a Node's own name as its hostname where the kubelet of the in-tree provider added none.
// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/nodestatus/setters.go (NodeAddress)
func withoutNewHostname(before []string, after observation.NodeRecord) []string {
	own := "Hostname " + after.Name
	if slices.ContainsFunc(before, func(address string) bool { return strings.HasPrefix(address, "Hostname ") }) {
		return after.Addresses
	}
	return slices.DeleteFunc(slices.Clone(after.Addresses), func(address string) bool { return address == own })
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// lacksNodes says that a Node of the baseline that had a Machine is gone: only the Machines explain that.
func (c *comparison) lacksNodes() bool {
	now := byKey(c.now.Nodes, func(n observation.NodeRecord) string { return n.UID })
	return slices.ContainsFunc(c.before.Nodes, func(before observation.NodeRecord) bool {
		_, there := now[before.UID]
		return !there && before.Machine != ""
	})
}

// nodes that were replaced are explained by their Machines. What the migration must not do to a Node that stays is to change what
// the cloud says of it.
func (c *comparison) nodes() {
	if c.before.Version < observation.InventoryVersion {
		return
	}
	now := byKey(c.now.Nodes, func(n observation.NodeRecord) string { return n.UID })
	names := byKey(c.now.Nodes, func(n observation.NodeRecord) string { return n.Name })
	for _, before := range c.before.Nodes {
		after, there := now[before.UID]
		delete(now, before.UID)
		if there {
			c.nodeThatStayed(before, after)
			continue
		}
		_, again := names[before.Name]
		c.nodeThatWent(before, again)
	}
	for _, after := range now {
		c.note(observation.NodeRef(after.Name), "is new", "it joined since")
	}
}

// nodeThatWent: a Node whose Machine is still there was deleted by someone, such as a CCM whose cloud does not know the Node's
// name. Its pods are deleted with it.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/nodelifecycle/node_lifecycle_controller.go
// (MonitorNodes).
func (c *comparison) nodeThatWent(before observation.NodeRecord, again bool) {
	name, what := observation.NodeRef(before.Name), "is gone"
	if again {
		what = "was deleted and joined again"
	}
	machine, there := c.machines[before.Machine]
	_, controlPlane := before.Labels[controlPlaneLabel]
	switch {
	case before.Machine != "" && (!there || machine.Deleting):
		c.note(name, what, "its Machine was replaced or deleted")
	case before.Machine != "":
		c.note(name, observation.Say(what+", and its ", machine, " is still there"), "")
	case again || controlPlane || slices.Contains(c.spec.AcceptNodes, before.Name):
		c.note(name, what, "")
	default:
		c.note(name, what, "it had no Machine, and a person had to delete or accept it")
	}
}

func (c *comparison) nodeThatStayed(before, after observation.NodeRecord) {
	name := observation.NodeRef(before.Name)
	for _, field := range []struct{ what, before, after string }{
		{"providerID", before.ProviderID, after.ProviderID},
		{"addresses", strings.Join(before.Addresses, ", "), strings.Join(withoutNewHostname(before.Addresses, after), ", ")},
		{"podCIDR", strings.Join(before.PodCIDRs, ", "), strings.Join(after.PodCIDRs, ", ")},
	} {
		switch field.before {
		case field.after:
		case "":
			c.note(name, "has "+field.what+" "+field.after, "it had none yet")
		default:
			c.note(name, "had "+field.what+" "+field.before+" and has "+orNone(field.after), "")
		}
	}
	if before.Routed && !after.Routed {
		c.note(name, "had a route to its pods and has none", "")
	}
	added, changed := changedKeys(before.Labels, after.Labels)
	if len(added) > 0 {
		c.note(name, "has new labels "+wording.Names(added), "someone added them")
	}
	cloud := slices.DeleteFunc(slices.Clone(changed), func(key string) bool { return !isCloudLabel(key) })
	if len(cloud) > 0 {
		c.note(name, "has lost or changed labels "+wording.Names(cloud), "")
	}
	if others := slices.DeleteFunc(changed, isCloudLabel); len(others) > 0 {
		c.note(name, "has lost or changed labels "+wording.Names(others), "they are not the cloud's")
	}
}

// AddressChanges names the Nodes that are still there and have other addresses. Their order is none: the in-tree provider's is
// not the same twice.
func AddressChanges(i observation.Inventory, nodes []observation.Node, accepted []string) []observation.Text {
	now := map[string]observation.Node{}
	for _, node := range nodes {
		now[node.UID] = node
	}
	var changed []observation.Text
	for _, before := range i.Nodes {
		after, there := now[before.UID]
		name := observation.NodeRef(before.Name)
		if !there || slices.Equal(before.Addresses, after.Addresses) || slices.Contains(accepted, name.String()) {
			continue
		}
		changed = append(changed, observation.Say(name, " had "+orNothing(before.Addresses)+" and has "+orNothing(after.Addresses)))
	}
	return changed
}
