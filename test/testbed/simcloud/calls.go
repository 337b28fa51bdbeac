package simcloud

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	maxBody  = 1 << 20
	notFound = "not found"
)

// request is one call on its way through the server.
type request struct {
	server *Server
	call   Call
	tenant *tenant
	body   []byte
	// hidden names instances that a fault makes disappear.
	hidden []string
}

// reply is what the caller gets; a refusal has a reason and no body.
type reply struct {
	status int
	body   any
	reason string
}

func refusal(status int, reason string) reply { return reply{status: status, reason: reason} }

// identity is called with the server locked.
func (c *request) identity() identity {
	c.server.serial++
	return identity{cluster: c.call.Cluster, serial: c.server.serial, providerID: c.tenant.providerID}
}

func (c *request) hides(name string) bool { return slices.Contains(c.hidden, name) }

// tenantCall makes a handler of what a call does to a locked tenant.
func (s *Server) tenantCall(method string, do func(*request) reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := s.accept(r, method)
		answer := s.answer(r, c, do)
		c.call.Error = answer.reason
		s.write(c.call)
		if answer.reason != "" {
			http.Error(w, answer.reason, answer.status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		if answer.body != nil {
			// A caller that is gone has its call logged all the same.
			_ = json.NewEncoder(w).Encode(answer.body)
		}
	})
}

func (s *Server) accept(r *http.Request, method string) *request {
	return &request{server: s, call: Call{
		Time:      s.clock.Now(),
		Cluster:   r.PathValue("cluster"),
		Component: r.Header.Get(HeaderComponent),
		Instance:  r.Header.Get(HeaderInstance),
		Loop:      r.Header.Get(HeaderLoop),
		Method:    orDefault(r.Header.Get(HeaderMethod), method),
		Object:    r.PathValue("name"),
	}}
}

func (s *Server) answer(r *http.Request, c *request, do func(*request) reply) reply {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return refusal(http.StatusBadRequest, "the body cannot be read: "+err.Error())
	}
	c.body = body
	c.nameFromBody()
	faults, refused := s.admit(r, c)
	if refused.status != 0 {
		return refused
	}
	for _, fault := range faults {
		c.hidden = append(c.hidden, fault.InstanceMissing...)
		if !s.wait(r, time.Duration(fault.LatencyMS)*time.Millisecond) {
			return refusal(http.StatusRequestTimeout, "the caller gave up")
		}
		if fault.ErrorStatus != 0 {
			return refusal(fault.ErrorStatus, fmt.Sprintf("injected fault: status %d", fault.ErrorStatus))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(c)
}

// nameFromBody finds the object of a call whose path has no name.
func (c *request) nameFromBody() {
	if c.call.Object != "" || len(c.body) == 0 {
		return
	}
	var named struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(c.body, &named); err == nil {
		c.call.Object = named.Name
	}
}

// admit finds the tenant, checks the token and takes the faults that apply.
func (s *Server) admit(r *http.Request, c *request) ([]Fault, reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.tenants[c.call.Cluster]
	if !found {
		// Not 404: a client would take it for the object that it asked for.
		return nil, refusal(http.StatusForbidden, "no such cluster in the cloud")
	}
	if r.Header.Get("Authorization") != "Bearer "+t.token {
		return nil, refusal(http.StatusUnauthorized, "the token is not the cluster's")
	}
	c.tenant = t
	var matching []Fault
	s.faults = slices.DeleteFunc(s.faults, func(fault *Fault) bool {
		if !fault.matches(c.call) {
			return false
		}
		matching = append(matching, *fault)
		fault.Count--
		return fault.Count == 0
	})
	return matching, reply{}
}

func (f *Fault) matches(call Call) bool {
	return (f.Cluster == "" || f.Cluster == call.Cluster) &&
		(f.Method == "" || f.Method == call.Method) &&
		(f.Object == "" || f.Object == call.Object)
}

// wait is false when the caller left first.
func (s *Server) wait(r *http.Request, latency time.Duration) bool {
	if latency <= 0 {
		return true
	}
	timer := s.clock.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-r.Context().Done():
		return false
	}
}

func (s *Server) write(call Call) {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	// A log that cannot be written shows as missing lines where they are counted.
	_ = json.NewEncoder(s.log).Encode(call)
}
