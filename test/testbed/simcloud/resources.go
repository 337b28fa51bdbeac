package simcloud

import (
	"encoding/json"
	"net/http"
)

// kind binds the HTTP paths of one kind of object to where a tenant has it.
type kind[T any] struct {
	path, noun string
	items      func(*tenant) map[string]T
	name       func(*T) *string
	created    func(T, identity) T
	// made and leaves are what else has to be done in the world; a reason refuses it.
	made   func(*request, T) reply
	leaves func(*request, T) reply
}

// routes is the whole API.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	register(s, mux, kind[Instance]{
		path: "instances", noun: "Instance", items: func(t *tenant) map[string]Instance { return t.instances },
		name: func(i *Instance) *string { return &i.Name }, created: Instance.created,
		leaves: detachAll,
	})
	register(s, mux, kind[Route]{
		path: "routes", noun: "Route", items: func(t *tenant) map[string]Route { return t.routes },
		name: func(r *Route) *string { return &r.Name }, created: Route.created,
	})
	register(s, mux, kind[Volume]{
		path: "volumes", noun: "Volume", items: func(t *tenant) map[string]Volume { return t.volumes },
		name: func(v *Volume) *string { return &v.Name }, created: Volume.created,
		made: makeDisk, leaves: removeDisk,
	})
	registerAttachments(s, mux)
	balancers := kind[LoadBalancer]{
		path: "loadbalancers", noun: "LoadBalancer", items: func(t *tenant) map[string]LoadBalancer { return t.loadBalancers },
		name: func(l *LoadBalancer) *string { return &l.Name }, created: LoadBalancer.created,
	}
	registerReads(s, mux, balancers)
	mux.Handle("PUT /v1/clusters/{cluster}/loadbalancers/{name}", s.tenantCall("PutLoadBalancer", putLoadBalancer(balancers)))
	// Every image is there, unless a fault says otherwise.
	mux.Handle("GET /v1/clusters/{cluster}/images/{name}", s.tenantCall("GetImage", func(*request) reply {
		return reply{status: http.StatusNoContent}
	}))
	mux.HandleFunc("PUT /v1/faults", s.putFault)
	mux.HandleFunc("DELETE /v1/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func register[T any](s *Server, mux *http.ServeMux, k kind[T]) {
	registerReads(s, mux, k)
	mux.Handle("POST /v1/clusters/{cluster}/"+k.path, s.tenantCall("Create"+k.noun, func(c *request) reply {
		var made T
		if err := json.Unmarshal(c.body, &made); err != nil {
			return refusal(http.StatusBadRequest, "the body is no "+k.noun+": "+err.Error())
		}
		name := *k.name(&made)
		if name == "" {
			return refusal(http.StatusBadRequest, k.noun+" has no name")
		}
		if _, found := k.items(c.tenant)[name]; found {
			return refusal(http.StatusConflict, k.noun+" exists already")
		}
		made = k.created(made, c.identity())
		if k.made != nil {
			if answer := k.made(c, made); answer.reason != "" {
				return answer
			}
		}
		k.items(c.tenant)[name] = made
		return reply{status: http.StatusCreated, body: made}
	}))
}

func registerReads[T any](s *Server, mux *http.ServeMux, k kind[T]) {
	collection := "/v1/clusters/{cluster}/" + k.path
	mux.Handle("GET "+collection, s.tenantCall("List"+k.noun+"s", func(c *request) reply {
		list := []T{}
		for _, item := range sorted(k.items(c.tenant)) {
			if !c.hides(*k.name(&item)) {
				list = append(list, item)
			}
		}
		return reply{status: http.StatusOK, body: list}
	}))
	mux.Handle("GET "+collection+"/{name}", s.tenantCall("Get"+k.noun, func(c *request) reply {
		item, found := k.items(c.tenant)[c.call.Object]
		if !found || c.hides(c.call.Object) {
			return refusal(http.StatusNotFound, notFound)
		}
		return reply{status: http.StatusOK, body: item}
	}))
	mux.Handle("DELETE "+collection+"/{name}", s.tenantCall("Delete"+k.noun, func(c *request) reply {
		item, found := k.items(c.tenant)[c.call.Object]
		if !found {
			return refusal(http.StatusNotFound, notFound)
		}
		if k.leaves != nil {
			if answer := k.leaves(c, item); answer.reason != "" {
				return answer
			}
		}
		delete(k.items(c.tenant), c.call.Object)
		return reply{status: http.StatusNoContent}
	}))
}

// putLoadBalancer names the call after what happens and not as the client
// does: the client does not know whether there is one. Who wants to update, and
// not to ensure, gets nothing created: the service loop updates the hosts of a
// load balancer that it has just deleted.
func putLoadBalancer(k kind[LoadBalancer]) func(*request) reply {
	return func(c *request) reply {
		var wanted LoadBalancer
		if err := json.Unmarshal(c.body, &wanted); err != nil {
			return refusal(http.StatusBadRequest, "the body is no LoadBalancer: "+err.Error())
		}
		wanted.Name = c.call.Object
		old, found := k.items(c.tenant)[wanted.Name]
		if !found && c.call.Method == UpdateLoadBalancer {
			return refusal(http.StatusNotFound, notFound)
		}
		status := http.StatusOK
		if found {
			c.call.Method = UpdateLoadBalancer
			wanted = wanted.replacing(old)
		} else {
			c.call.Method, status = CreateLoadBalancer, http.StatusCreated
			wanted = wanted.created(c.identity())
		}
		k.items(c.tenant)[wanted.Name] = wanted
		return reply{status: status, body: wanted}
	}
}

func (s *Server) putFault(w http.ResponseWriter, r *http.Request) {
	var fault Fault
	if err := json.NewDecoder(r.Body).Decode(&fault); err != nil {
		http.Error(w, "the body is no fault: "+err.Error(), http.StatusBadRequest)
		return
	}
	if status := fault.ErrorStatus; status != 0 && (status < http.StatusBadRequest || status > 599) {
		http.Error(w, "errorStatus must be between 400 and 599", http.StatusBadRequest)
		return
	}
	s.AddFault(fault)
	w.WriteHeader(http.StatusNoContent)
}
