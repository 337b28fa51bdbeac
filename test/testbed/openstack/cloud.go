package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// The one user, whose password it is, and his project.
const (
	User     = "alpha"
	Password = "example-only"
	Project  = "project-1"
	token    = "token-1"
)

// Call of its APIs.
type Call struct {
	Time   time.Time
	Method string
	// Path has the query, too, and Agent is the program that calls.
	Path, Agent string
	Status      int
}

// Cloud is a server with all of it.
type Cloud struct {
	// URL is that of Keystone.
	URL string

	mu sync.Mutex
	// objects of each kind, in the order in which they were made.
	objects           map[string][]object
	serial, addresses int
	// changed is since when the cloud is busy with load balancers, and busy for how long it is.
	changed map[string]time.Time
	busy    time.Duration
	servers func() []Server
	calls   []string
	log     []Call
	// answers are statuses that calls get instead of what they ask for, by "METHOD path".
	answers map[string]int
	// old says that Octavia is from before it had tags.
	old    bool
	server *httptest.Server
}

// Start a cloud on the loopback interface, with TLS or without; the caller closes it.
func Start(secure bool) *Cloud {
	c := &Cloud{answers: map[string]int{}, objects: map[string][]object{}, changed: map[string]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3/{$}", c.version)
	mux.HandleFunc("GET /{$}", c.version)
	mux.HandleFunc("POST /v3/auth/tokens", c.logIn)
	mux.HandleFunc("GET /octavia/{$}", c.octaviaVersions)
	mux.HandleFunc("GET "+neutron+"extensions", noExtensions)
	c.serveMembers(mux)
	c.serveNova(mux)
	for _, k := range append(c.octaviaKinds(), c.neutronKinds()...) {
		c.serve(mux, k)
	}
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

// Log of all calls.
func (c *Cloud) Log() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

// recorder keeps the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (c *Cloud) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		call := Call{Time: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Agent: r.UserAgent()}
		w := &recorder{ResponseWriter: answer, status: http.StatusOK}
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			call.Status = w.status
			c.log = append(c.log, call)
		}()
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
		case !strings.HasPrefix(r.URL.Path, "/v3/") && r.URL.Path != "/" && r.Header.Get("X-Auth-Token") != token:
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
		"catalog": []object{
			c.service("load-balancer", "octavia", "/octavia"), c.service("network", "neutron", "/neutron"),
			c.service("compute", "nova", strings.TrimSuffix(nova, "/")),
		},
	}})
}

func (c *Cloud) service(kind, name, path string) object {
	return object{"type": kind, "name": name, "endpoints": []object{
		{"interface": "public", "region": "one", "region_id": "one", "url": c.server.URL + path},
	}}
}

// write an answer; without a body it has none.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}
