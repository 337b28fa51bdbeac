package baseline

import (
	"maps"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Difference is one thing that is not as it was in the baseline.
type Difference struct {
	// Object as spec.rollout.acceptChanges names it: Service namespace/name, for example.
	Object string `json:"object"`
	What   string `json:"what"`
	// Explained says why it is as it should be. Empty: no one knows, and the migration does not complete.
	Explained string `json:"explained,omitempty"`
	// Warning is set for what is explained, and a person should look at.
	Warning bool `json:"warning,omitempty"`
	// about are the objects that Object and What name.
	about []observation.Ref
}

// Text is how messages say it.
func (d Difference) Text() observation.Text {
	return observation.Text{Words: d.String(), Objects: d.about}
}

// String is how it stands in messages.
func (d Difference) String() string { return d.Object + " " + d.What }

// Compare says what of the baseline is not as it was, what is unexplained first. It is absent when no baseline was taken, or it
// is not there any more.
func Compare(o observation.Observation) observation.Observed[[]Difference] {
	taken := o.Cluster.Status.Baseline
	list, lost, unknown := Differences(o, taken)
	switch {
	case unknown != "":
		return observation.Unknown[[]Difference](unknown)
	case taken == nil, len(lost) > 0:
		return observation.Absent[[]Difference]()
	}
	return observation.Known(list)
}

// Differences are nothing where no baseline was taken. One that was lost, or changed, cannot be compared with.
func Differences(o observation.Observation, taken *ucv1.BaselineStatus) (list []Difference, lost []string, unknown string) {
	before, lost, unknown := AsTaken(o.Baseline, taken)
	if taken == nil || len(lost) > 0 || unknown != "" {
		return nil, lost, unknown
	}
	now, known := o.Inventory.Get()
	if !known {
		return nil, nil, o.Inventory.Why()
	}
	c := &comparison{
		before:   before,
		now:      now,
		spec:     o.Cluster.Spec.Rollout,
		machines: map[string]observation.Machine{},
		gone:     o.Gone.Value(),
	}
	if o.Machines.IsUnknown() && c.lacksNodes() {
		return nil, nil, o.Machines.Why()
	}
	for _, machine := range o.Machines.Value().Machines {
		c.machines[machine.UID] = machine
	}
	for _, compare := range []func(*comparison){
		(*comparison).loadBalancers, (*comparison).volumes, (*comparison).nodes, (*comparison).attachments, (*comparison).classes,
	} {
		compare(c)
	}
	if c.unseen != "" {
		return nil, nil, c.unseen + ": " + o.Gone.Why()
	}
	slices.SortFunc(c.found, func(a, b Difference) int {
		if (a.Explained == "") != (b.Explained == "") {
			return strings.Compare(a.Explained, b.Explained)
		}
		return strings.Compare(a.String(), b.String())
	})
	return c.found, nil, ""
}

// AsTaken is the baseline, empty where none was taken.
func AsTaken(
	kept observation.Observed[observation.Inventory],
	taken *ucv1.BaselineStatus,
) (before observation.Inventory, changed []string, unknown string) {
	if taken == nil {
		return observation.Inventory{}, nil, ""
	}
	before, known := kept.Get()
	switch {
	case kept.IsAbsent():
		return observation.Inventory{}, []string{"Secret " + taken.SecretName + " with the baseline is gone; restore it"}, ""
	case !known:
		return observation.Inventory{}, nil, kept.Why()
	case before.Digest() != taken.Digest:
		return observation.Inventory{}, []string{"Secret " + taken.SecretName + " is not the baseline that was taken; restore it"}, ""
	}
	return before, nil, ""
}

// comparison is the baseline beside what is now.
type comparison struct {
	before, now observation.Inventory
	spec        ucv1.RolloutSpec
	machines    map[string]observation.Machine
	gone        map[string]observation.Gone
	found       []Difference
	// unseen is what should have been looked for, and was not.
	unseen string
}

// note takes a difference down; what a person accepted is explained by that.
func (c *comparison) note(object observation.Ref, what any, explained string) {
	if explained == "" && slices.Contains(c.spec.AcceptChanges, object.String()) {
		explained = "accepted in spec.rollout.acceptChanges"
	}
	said := observation.Say(what)
	c.found = append(c.found, Difference{
		Object: object.String(), What: said.Words, Explained: explained, about: observation.Say(object, said).Objects,
	})
}

func (c *comparison) loadBalancers() {
	now := byKey(c.now.LoadBalancers, func(l observation.LoadBalancer) string { return l.UID })
	for _, before := range c.before.LoadBalancers {
		name := before.Reference()
		after, there := now[before.UID]
		delete(now, before.UID)
		switch {
		case !there:
			c.noteGone(name, before.UID, "")
			continue
		case slices.Equal(before.Ingress, after.Ingress):
		case len(before.Ingress) == 0:
			c.note(name, "has "+orNothing(after.Ingress), "it had no address yet")
		default:
			c.note(name, "had "+orNothing(before.Ingress)+" and has "+orNothing(after.Ingress), "")
		}
		if c.before.Version >= observation.InventoryVersion {
			c.annotations(name, before.Annotations, after.Annotations)
		}
	}
	for _, after := range now {
		c.note(after.Reference(), "is new", "it was made since")
	}
}

// annotations names keys only. CCMs add some, such as the ID of a load balancer; none changes or takes away one that was there.
func (c *comparison) annotations(name observation.Ref, before, after map[string]string) {
	added, changed := changedKeys(before, after)
	if len(added) > 0 {
		c.note(name, "has new annotations "+wording.Names(added), "its owner or the CCM added them")
	}
	balancer := slices.DeleteFunc(slices.Clone(changed), func(key string) bool { return !isBalancerAnnotation(key) })
	if len(balancer) > 0 {
		c.note(name, "has lost or changed annotations "+wording.Names(balancer), "")
	}
	if others := slices.DeleteFunc(changed, isBalancerAnnotation); len(others) > 0 {
		c.note(name, "has lost or changed annotations "+wording.Names(others), "they are not about the load balancer")
	}
}

func (c *comparison) volumes() {
	now := byKey(c.now.Volumes, func(v observation.Volume) string { return v.UID })
	for _, before := range c.before.Volumes {
		name := before.Reference()
		after, there := now[before.UID]
		delete(now, before.UID)
		switch {
		case !there:
			c.noteGone(name, before.UID, before.Name)
		case after.Phase == before.Phase:
		case after.Phase == "Lost" || after.Phase == "Failed":
			c.note(name, "was "+before.Phase+" and is "+after.Phase, "")
		default:
			c.note(name, "was "+before.Phase+" and is "+after.Phase, "its claim came or went")
		}
	}
	for _, after := range now {
		c.note(after.Reference(), "is new", "it was made since")
	}
}

// attachments come and go with pods. What is not as it should be is one that fails.
func (c *comparison) attachments() {
	if c.before.Version < observation.InventoryVersion {
		return
	}
	place := func(a observation.Attachment) string { return a.Attacher + " " + a.Node + " " + a.Volume }
	now := byKey(c.now.Attachments, place)
	for _, before := range c.before.Attachments {
		after, there := now[place(before)]
		delete(now, place(before))
		if !there && before.Volume != "" {
			what := observation.Say("is not attached to ", observation.NodeRef(before.Node))
			c.note(volumeRef(before.Volume), what, "volumes follow their pods")
		}
		if there && after.Problem != before.Problem {
			c.failing(after)
		}
	}
	for _, after := range now {
		c.failing(after)
		if after.Problem == "" && after.Volume != "" {
			what := observation.Say("is attached to ", observation.NodeRef(after.Node))
			c.note(volumeRef(after.Volume), what, "volumes follow their pods")
		}
	}
}

func (c *comparison) failing(attachment observation.Attachment) {
	if attachment.Problem == "" || attachment.Volume == "" {
		return
	}
	c.note(volumeRef(attachment.Volume), observation.Say("fails "+attachment.Problem+" by "+attachment.Attacher+" at ",
		observation.NodeRef(attachment.Node)), "")
}

func volumeRef(name string) observation.Ref { return observation.Volume{Name: name}.Reference() }

func (c *comparison) classes() {
	if c.before.Version < observation.InventoryVersion {
		return
	}
	now := byKey(c.now.StorageClasses, func(r observation.ClassRecord) string { return r.Name })
	isDefault := func(r observation.ClassRecord) bool { return r.Default }
	another := slices.ContainsFunc(c.now.StorageClasses, isDefault)
	for _, before := range c.before.StorageClasses {
		name := observation.Ref{Kind: "StorageClass", Name: before.Name}
		after, there := now[before.Name]
		delete(now, before.Name)
		switch {
		case there && after.Provisioner != before.Provisioner:
			c.note(name, "had provisioner "+before.Provisioner+" and has "+after.Provisioner, "")
		case before.Default && !after.Default && !another:
			c.note(name, "was the default, and no class is it now", "")
		case !there:
			c.note(name, "is gone", "its owner deleted it")
		case before.Default != after.Default:
			c.note(name, "is or was the default", "another class was chosen")
		}
	}
	for _, after := range now {
		c.note(observation.Ref{Kind: "StorageClass", Name: after.Name}, "is new", "it was made since")
	}
}

func byKey[T any](list []T, key func(T) string) map[string]T {
	keyed := make(map[string]T, len(list))
	for _, item := range list {
		keyed[key(item)] = item
	}
	return keyed
}

// changedKeys are those that only after has, and those that before has otherwise.
func changedKeys(before, after map[string]string) (added, changed []string) {
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[key]; !was {
			added = append(added, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if value, is := after[key]; !is || value != before[key] {
			changed = append(changed, key)
		}
	}
	return added, changed
}

func orNothing(addresses []string) string {
	if len(addresses) == 0 {
		return "no address"
	}
	return strings.Join(addresses, ", ")
}
