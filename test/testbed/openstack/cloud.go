package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The one user, whose password it is, and his project.
const (
	User     = "alpha"
	Password = "example-only"
	Project  = "project-1"
	token    = "token-1"
)

// LoadBalancer of Octavia, as its API spells it.
type LoadBalancer struct {
	ID                 string `json:"id"`
	Name               string `json:"name"`
	ProvisioningStatus string `json:"provisioning_status"`
	ProjectID          string `json:"project_id"`
}

// Cloud is a server with Keystone and Octavia.
type Cloud struct {
	// URL is that of Keystone.
	URL string

	mu        sync.Mutex
	balancers []LoadBalancer
	calls     []string
	// answers are statuses that calls get instead of what they ask for, by "METHOD path".
	answers map[string]int
	server  *httptest.Server
}

// Start a cloud on the loopback interface, with TLS or without; the caller closes it.
func Start(secure bool) *Cloud {
	c := &Cloud{answers: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3/{$}", c.version)
	mux.HandleFunc("GET /{$}", c.version)
	mux.HandleFunc("POST /v3/auth/tokens", c.logIn)
	mux.HandleFunc("GET /octavia/{$}", c.octaviaVersions)
	mux.HandleFunc("GET /octavia/v2.0/lbaas/loadbalancers", c.list)
	mux.HandleFunc("GET /octavia/v2.0/lbaas/loadbalancers/{id}", c.get)
	mux.HandleFunc("PUT /octavia/v2.0/lbaas/loadbalancers/{id}", c.put)
	c.server = httptest.NewUnstartedServer(c.logged(mux))
	if secure {
		c.server.StartTLS()
	} else {
		c.server.Start()
	}
	c.URL = c.server.URL + "/v3"
	return c
}

// Close ends it.
func (c *Cloud) Close() { c.server.Close() }

// CA is the certificate of a cloud with TLS, in DER.
func (c *Cloud) CA() []byte { return c.server.Certificate().Raw }

// Set its load balancers.
func (c *Cloud) Set(balancers ...LoadBalancer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.balancers = balancers
}

// Names of its load balancers, by ID.
func (c *Cloud) Names() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, balancer := range c.balancers {
		names[balancer.ID] = balancer.Name
	}
	return names
}

// Answer every call of a method and path by a status, until the status is 0.
func (c *Cloud) Answer(call string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[call] = status
}

// Calls since the last time, as "METHOD path?query".
func (c *Cloud) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *Cloud) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.calls = append(c.calls, r.Method+" "+r.URL.RequestURI())
		status := c.answers[r.Method+" "+r.URL.Path]
		c.mu.Unlock()
		switch {
		case status >= 300 && status < 400:
			http.Redirect(w, r, "http://192.0.2.1/elsewhere", status)
		case status != 0:
			body, _ := readAll(r)
			http.Error(w, "you sent "+body, status) // Some clouds repeat what they do not understand.
		case strings.HasPrefix(r.URL.Path, "/octavia/") && r.Header.Get("X-Auth-Token") != token:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func readAll(r *http.Request) (string, error) {
	var text strings.Builder
	_, err := fmt.Fprint(&text, r.Header.Get("X-Auth-Token"), " ")
	if err == nil {
		var value json.RawMessage
		err = json.NewDecoder(r.Body).Decode(&value)
		text.Write(value)
	}
	return text.String(), err
}

func (c *Cloud) version(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"version": map[string]any{
		"id": "v3.14", "status": "stable", "links": []map[string]string{{"rel": "self", "href": c.server.URL + "/v3/"}},
	}})
}

// octaviaVersions are asked for before anything else.
func (c *Cloud) octaviaVersions(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"versions": []map[string]any{
		{"id": "v2.0", "status": "SUPPORTED"}, {"id": "v2.27", "status": "CURRENT"},
	}})
}

// logIn knows the one user by password, or application credential cred-1 with that secret.
func (c *Cloud) logIn(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct{ Name, Password string }
				}
				Credential struct{ ID, Secret string } `json:"application_credential"`
			}
		}
	}
	identity := &asked.Auth.Identity
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil ||
		(identity.Password.User.Name != User || identity.Password.User.Password != Password) &&
			(identity.Credential.ID != "cred-1" || identity.Credential.Secret != Password) {
		http.Error(w, `{"error": {"message": "The request you have made requires authentication."}}`, http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-Subject-Token", token)
	write(w, http.StatusCreated, map[string]any{"token": map[string]any{
		"project": map[string]string{"id": Project}, "expires_at": "2099-01-01T00:00:00Z",
		"catalog": []map[string]any{{
			"type": "load-balancer", "name": "octavia", "endpoints": []map[string]string{
				{"interface": "public", "region": "one", "region_id": "one", "url": c.server.URL + "/octavia"},
			},
		}},
	}})
}

// list filters by name and project, and has pages.
func (c *Cloud) list(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = len(c.balancers)
	}
	list, more, begun := []LoadBalancer{}, false, query.Get("marker") == ""
	for _, balancer := range c.balancers {
		switch {
		case !begun:
			begun = balancer.ID == query.Get("marker")
		case query.Has("name") && balancer.Name != query.Get("name"),
			query.Has("project_id") && balancer.ProjectID != query.Get("project_id"):
		case len(list) == limit:
			more = true
		default:
			list = append(list, balancer)
		}
	}
	answer := map[string]any{"loadbalancers": list}
	if more {
		query.Set("marker", list[len(list)-1].ID)
		answer["loadbalancers_links"] = []map[string]string{
			{"rel": "next", "href": c.server.URL + r.URL.Path + "?" + query.Encode()},
		}
	}
	write(w, http.StatusOK, answer)
}

func (c *Cloud) get(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.balancers, func(b LoadBalancer) bool { return b.ID == r.PathValue("id") })
	if at < 0 {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	write(w, http.StatusOK, map[string]any{"loadbalancer": c.balancers[at]})
}

// put changes a name; the cloud takes a while for it, which ends when the load balancers are set.
func (c *Cloud) put(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var asked struct{ LoadBalancer struct{ Name string } }
	at := slices.IndexFunc(c.balancers, func(b LoadBalancer) bool { return b.ID == r.PathValue("id") })
	switch {
	case at < 0:
		http.Error(w, "not found", http.StatusNotFound)
	case c.balancers[at].ProvisioningStatus != "ACTIVE":
		http.Error(w, "Load Balancer is immutable and cannot be updated.", http.StatusConflict)
	case json.NewDecoder(r.Body).Decode(&asked) != nil:
		http.Error(w, "not understood", http.StatusBadRequest)
	default:
		c.balancers[at].Name, c.balancers[at].ProvisioningStatus = asked.LoadBalancer.Name, "PENDING_UPDATE"
		write(w, http.StatusOK, map[string]any{"loadbalancer": c.balancers[at]})
	}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
