package awscloud

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// World is what there is in the cloud.
type World struct {
	// Region of everything, and the only zone in it.
	Region, Zone, ZoneID string
	// VPC, its subnet and its route table, which belong to the cluster and are tagged with its ID.
	VPC, SubnetID, RouteTableID, ClusterID string
	// AccessKeyID and SecretAccessKey are those that requests have to be signed with.
	AccessKeyID, SecretAccessKey string
	// NodeGroup is the security group of the instances.
	NodeGroup     string
	Instances     []Instance
	LoadBalancers []LoadBalancer
}

// Instance is one that has not been terminated.
type Instance struct {
	ID, Type, PrivateDNSName, PrivateIP string
	// Stopped says that it does not run.
	Stopped bool
	// PodCIDR that the route table leads to it; empty: none.
	PodCIDR string
}

// LoadBalancer is one that the in-tree provider has made for a Service with one port.
type LoadBalancer struct {
	Name, DNSName string
	// Group is its security group, which the instances let in.
	Group          string
	Port, NodePort int32
	// Instances behind it.
	Instances []string
}

// Call is a request that was answered, or refused.
type Call struct {
	// Service that it was signed for, and what it asked for.
	Service, Action string
	// Changes are the parameters of a call that changes something.
	Changes url.Values
	// Refusal is the code of the error, or empty.
	Refusal string
}

// Cloud answers requests; it is safe for use by several goroutines.
type Cloud struct {
	mu    sync.Mutex
	world World
	calls []Call
}

// New makes a cloud.
func New(world World) *Cloud { return &Cloud{world: world} }

// AddLoadBalancer makes one, as if it had been there all the time.
func (c *Cloud) AddLoadBalancer(made LoadBalancer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.world.LoadBalancers = append(c.world.LoadBalancers, made)
}

// Calls are all so far.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// refusal is an error as AWS answers it.
type refusal struct {
	status int
	// Service decides about its form.
	Service, Code, Message string
}

func refuse(code, format string, arguments ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// forbid is about the signature.
func forbid(code, message string) *refusal {
	return &refusal{status: http.StatusForbidden, Code: code, Message: message}
}

// ServeHTTP answers a request of the query protocol: a form with an action.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	scope, refused := c.world.verify(r, body)
	call := Call{Service: scope.service, Action: form.Get("Action")}
	answer := ""
	if refused == nil {
		answer, refused = c.answer(call, form)
	}
	if refused != nil {
		call.Refusal, refused.Service = refused.Code, call.Service
		answer = execute("Refusal", refused)
	}
	if !strings.HasPrefix(call.Action, "Describe") {
		call.Changes = form
	}
	c.calls = append(c.calls, call)
	w.Header().Set("Content-Type", "text/xml")
	if refused != nil {
		w.WriteHeader(refused.status)
	}
	// There is no one to tell that the caller has gone.
	_, _ = io.WriteString(w, answer)
}

// answer changes the world, or says what is in it.
func (c *Cloud) answer(call Call, form url.Values) (string, *refusal) {
	action, known := actions()[call.Service+" "+call.Action]
	if !known {
		return "", refuse("InvalidAction", "%s has no action %s here", call.Service, call.Action)
	}
	data, refused := action(&c.world, form)
	if refused != nil {
		return "", refused
	}
	return execute(call.Action, data), nil
}
