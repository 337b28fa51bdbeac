package awscloud

import (
	"cmp"
	"embed"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// action changes the world, or says what is in it for the template of its name.
type action func(w *World, form url.Values) (any, *refusal)

// actions that the cloud-controller-manager was seen to call.
func actions() map[string]action {
	return map[string]action{
		"ec2 DescribeInstances":         describeInstances,
		"ec2 DescribeAvailabilityZones": whole,
		"ec2 DescribeInstanceTopology":  whole,
		"ec2 DescribeSecurityGroups":    describeSecurityGroups,
		"ec2 DescribeSubnets":           whole,
		"ec2 DescribeRouteTables":       whole,
		"ec2 ModifyInstanceAttribute":   whole,
		"ec2 CreateRoute":               createRoute,

		"elasticloadbalancing DescribeLoadBalancers":               describeLoadBalancers,
		"elasticloadbalancing DescribeLoadBalancerAttributes":      whole,
		"elasticloadbalancing ModifyLoadBalancerAttributes":        modifyAttributes,
		"elasticloadbalancing RegisterInstancesWithLoadBalancer":   registerInstances,
		"elasticloadbalancing DeregisterInstancesFromLoadBalancer": deregisterInstances,
	}
}

//go:embed answers.tmpl
var answers embed.FS

// execute fills in the template of a name; those that there are fit their data.
func execute(name string, data any) string {
	var out strings.Builder
	parsed := template.Must(template.ParseFS(answers, "answers.tmpl"))
	if err := parsed.ExecuteTemplate(&out, name, data); err != nil {
		return err.Error()
	}
	return out.String()
}

// whole is for answers that are the same whatever the filters: there is one VPC with one of each.
func whole(w *World, _ url.Values) (any, *refusal) { return w, nil }

func describeInstances(w *World, form url.Values) (any, *refusal) {
	for _, id := range list(form, "InstanceId.") {
		if !slices.ContainsFunc(w.Instances, func(i Instance) bool { return i.ID == id }) {
			return nil, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		}
	}
	found := *w
	found.Instances = nil
	for _, instance := range w.Instances {
		chosen, refused := chooses(form, "InstanceId.", instance.ID, map[string][]string{
			"private-dns-name": {instance.PrivateDNSName}, "vpc-id": {w.VPC}, "instance-state-name": {instance.State()},
		})
		if refused != nil {
			return nil, refused
		}
		if chosen {
			found.Instances = append(found.Instances, instance)
		}
	}
	return &found, nil
}

// State is what EC2 calls it.
func (i Instance) State() string {
	if i.Stopped {
		return "stopped"
	}
	return "running"
}

// group is a security group, that of a load balancer or, with those that it lets in, that of the instances.
type group struct {
	ID, Name, VPC, ClusterID string
	Port                     int32
	LetsIn                   []string
}

func (w *World) groups() []group {
	nodes := group{ID: w.NodeGroup, Name: "nodes", VPC: w.VPC, ClusterID: w.ClusterID}
	var all []group
	for _, balancer := range w.LoadBalancers {
		nodes.LetsIn = append(nodes.LetsIn, balancer.Group)
		all = append(all, group{ID: balancer.Group, Name: "k8s-elb-" +
			balancer.Name, VPC: w.VPC, ClusterID: w.ClusterID, Port: balancer.Port})
	}
	return append(all, nodes)
}

func describeSecurityGroups(w *World, form url.Values) (any, *refusal) {
	var found []group
	for _, one := range w.groups() {
		chosen, refused := chooses(form, "GroupId.", one.ID, map[string][]string{
			"group-name": {one.Name}, "vpc-id": {one.VPC}, "ip-permission.group-id": one.LetsIn,
		})
		if refused != nil {
			return nil, refused
		}
		if chosen {
			found = append(found, one)
		}
	}
	return found, nil
}

func createRoute(w *World, form url.Values) (any, *refusal) {
	at := slices.IndexFunc(w.Instances, func(i Instance) bool { return i.ID == form.Get("InstanceId") })
	if at < 0 || form.Get("RouteTableId") != w.RouteTableID {
		return nil, refuse("InvalidParameterValue", "the instance or the route table does not exist")
	}
	w.Instances[at].PodCIDR = form.Get("DestinationCidrBlock")
	return w, nil
}

func describeLoadBalancers(w *World, form url.Values) (any, *refusal) {
	found := *w
	found.LoadBalancers = nil
	for _, name := range list(form, "LoadBalancerNames.member.") {
		at := w.balancer(name)
		if at < 0 {
			return nil, refuse("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
		}
		found.LoadBalancers = append(found.LoadBalancers, w.LoadBalancers[at])
	}
	return &found, nil
}

// modifyAttributes may say again what DescribeLoadBalancerAttributes says. The CCM does so at each look at a load balancer, as it
// compares a pointer with a pointer to one:
// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/aws_loadbalancer.go#L1399
func modifyAttributes(w *World, form url.Values) (any, *refusal) {
	for key := range form {
		if value := form.Get(key); strings.HasPrefix(key, "LoadBalancerAttributes.") && value != "false" && value != "60" {
			return nil, refuse("ValidationError", "the attributes are not to be changed")
		}
	}
	return w, nil
}

func registerInstances(w *World, form url.Values) (any, *refusal) {
	return w.setInstances(form, func(behind, named []string) []string {
		all := slices.Sorted(slices.Values(slices.Concat(behind, named)))
		return slices.Compact(all)
	})
}

func deregisterInstances(w *World, form url.Values) (any, *refusal) {
	return w.setInstances(form, func(behind, named []string) []string {
		return slices.DeleteFunc(behind, func(id string) bool { return slices.Contains(named, id) })
	})
}

// setInstances of a load balancer, from those behind it and those that the request names.
func (w *World) setInstances(form url.Values, change func(behind, named []string) []string) (any, *refusal) {
	at := w.balancer(form.Get("LoadBalancerName"))
	if at < 0 {
		return nil, refuse("LoadBalancerNotFound", "There is no ACTIVE Load Balancer of that name")
	}
	w.LoadBalancers[at].Instances = change(w.LoadBalancers[at].Instances, list(form, "Instances.member."))
	return w, nil
}

func (w *World) balancer(name string) int {
	return slices.IndexFunc(w.LoadBalancers, func(l LoadBalancer) bool { return l.Name == name })
}

// chooses says whether a request is about something: by its ID, if IDs are given, and by all filters.
func chooses(form url.Values, ids, id string, attributes map[string][]string) (bool, *refusal) {
	if wanted := list(form, ids); len(wanted) > 0 && !slices.Contains(wanted, id) {
		return false, nil
	}
	for number := 1; form.Has("Filter." + strconv.Itoa(number) + ".Name"); number++ {
		filter := "Filter." + strconv.Itoa(number)
		have, known := attributes[form.Get(filter+".Name")]
		if !known {
			return false, refuse("InvalidParameterValue", "the filter '%s' is not known here", form.Get(filter+".Name"))
		}
		if !slices.ContainsFunc(list(form, filter+".Value."), func(value string) bool { return slices.Contains(have, value) }) {
			return false, nil
		}
	}
	return true, nil
}

// list are the values of a parameter that may be repeated, in the order of their numbers.
func list(form url.Values, prefix string) []string {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(form)), func(key string) bool { return !strings.HasPrefix(key, prefix) })
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	var values []string
	for _, key := range keys {
		values = append(values, form.Get(key))
	}
	return values
}
