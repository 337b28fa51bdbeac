package simcloud

import "time"

// Header names by which a client says who calls.
const (
	HeaderComponent = "X-Simcloud-Component"
	HeaderInstance  = "X-Simcloud-Instance"
	HeaderLoop      = "X-Simcloud-Loop"
	HeaderMethod    = "X-Simcloud-Method"
)

// InstanceState says whether an instance runs.
type InstanceState string

// States of an instance.
const (
	Running InstanceState = "running"
	Stopped InstanceState = "stopped"
)

// Instance is a virtual machine. The server sets what the creator leaves out,
// and always the ID and provider ID.
type Instance struct {
	Name                  string        `json:"name"`
	ID                    string        `json:"id"`
	ProviderID            string        `json:"providerID"`
	Addresses             []string      `json:"addresses"`
	Zone                  string        `json:"zone"`
	Region                string        `json:"region"`
	Type                  string        `json:"type"`
	State                 InstanceState `json:"state"`
	ExternalCloudProvider bool          `json:"externalCloudProvider"`
	// UserData is what it boots with, where its creator gave it any.
	UserData string `json:"userData,omitempty"`
}

// LoadBalancer keeps its ID and IP for as long as it exists.
type LoadBalancer struct {
	Name  string   `json:"name"`
	ID    string   `json:"id"`
	IP    string   `json:"ip"`
	Hosts []string `json:"hosts"`
	Ports []int32  `json:"ports"`
}

// Route sends the traffic of a pod network to a node.
type Route struct {
	Name            string `json:"name"`
	ID              string `json:"id"`
	TargetNode      string `json:"targetNode"`
	DestinationCIDR string `json:"destinationCIDR"`
}

// Volume is a disk; AttachedTo names an instance, or is empty. Where the
// cloud has disks, DevicePath is the directory by which that instance sees it.
type Volume struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	SizeGiB    int64  `json:"sizeGiB"`
	Zone       string `json:"zone"`
	AttachedTo string `json:"attachedTo"`
	DevicePath string `json:"devicePath,omitempty"`
}

// Attachment says to which instance a volume is to be attached.
type Attachment struct {
	AttachedTo string `json:"attachedTo"`
}

// Call is a line of the log. Target is the instance of calls that attach or
// detach a volume.
type Call struct {
	Time      time.Time `json:"time"`
	Cluster   string    `json:"cluster"`
	Component string    `json:"component"`
	Instance  string    `json:"instance"`
	Loop      string    `json:"loop"`
	Method    string    `json:"method"`
	Object    string    `json:"object"`
	Target    string    `json:"target,omitempty"`
	Error     string    `json:"error"`
}

// InCluster says whether the call was for the cluster.
func (c Call) InCluster(cluster string) bool { return c.Cluster == cluster }

// Methods that change a load balancer. The log has the first two whatever the
// client called them; a deletion has the name that the client gave it.
const (
	CreateLoadBalancer        = "CreateLoadBalancer"
	UpdateLoadBalancer        = "UpdateLoadBalancer"
	DeleteLoadBalancer        = "DeleteLoadBalancer"
	EnsureLoadBalancerDeleted = "EnsureLoadBalancerDeleted"
)

// Methods that say where a volume is attached. The log has these names
// whatever the client called them.
const (
	AttachVolume = "AttachVolume"
	DetachVolume = "DetachVolume"
)

// Fault is something that goes wrong. Empty Cluster, Method and Object match
// every call (Method is the name that the client called it by); Count is how
// many matching calls it spoils, zero all of them.
type Fault struct {
	Cluster string `json:"cluster"`
	Method  string `json:"method"`
	Object  string `json:"object"`
	// LatencyMS is waited before anything is done.
	LatencyMS int64 `json:"latencyMS"`
	// ErrorStatus is answered in place of doing anything.
	ErrorStatus int `json:"errorStatus"`
	// InstanceMissing names instances that look as if they did not exist.
	InstanceMissing []string `json:"instanceMissing"`
	Count           int      `json:"count"`
}

// Snapshot is everything that a cluster has in the cloud, sorted by name.
type Snapshot struct {
	Instances     []Instance     `json:"instances"`
	LoadBalancers []LoadBalancer `json:"loadBalancers"`
	Routes        []Route        `json:"routes"`
	Volumes       []Volume       `json:"volumes"`
}
