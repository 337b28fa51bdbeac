package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// ErrNotFound says that the cloud does not know the instance.
var ErrNotFound = errors.New("instance not found")

// Instance is a virtual machine. ExternalCloudProvider is how its kubelet was
// configured when it was made.
type Instance struct {
	Name                  string   `json:"name"`
	ID                    string   `json:"id,omitempty"`
	ProviderID            string   `json:"providerID,omitempty"`
	Addresses             []string `json:"addresses,omitempty"`
	Zone                  string   `json:"zone,omitempty"`
	Region                string   `json:"region,omitempty"`
	Type                  string   `json:"type,omitempty"`
	State                 string   `json:"state,omitempty"`
	ExternalCloudProvider bool     `json:"externalCloudProvider"`
	// UserData is what it boots with; what the stand-in makes has none.
	UserData string `json:"userData,omitempty"`
}

// Config is the content of cloud.conf.
type Config struct {
	Endpoint string
	Cluster  string
	Token    string
}

// ParseConfig reads key=value lines; empty lines and lines that start with # are
// skipped. The token never shows up in an error.
func ParseConfig(raw []byte) (Config, error) {
	values := map[string]string{}
	for number, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return Config{}, fmt.Errorf("line %d of the cloud config is not key=value", number+1)
		}
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	for _, key := range []string{"endpoint", "cluster", "token"} {
		if values[key] == "" {
			return Config{}, fmt.Errorf("the cloud config lacks key %s, add it", key)
		}
	}
	return Config{Endpoint: values["endpoint"], Cluster: values["cluster"], Token: values["token"]}, nil
}

// Client talks to one tenant of simcloud.
type Client struct {
	config Config
	host   string
	http   *http.Client
}

// New makes a Client; host is the caller's host name, shown in simcloud's log.
func New(config Config, host string) *Client {
	return &Client{config: config, host: host, http: &http.Client{Timeout: 10 * time.Second}}
}

// Open makes a Client from a cloud.conf file.
func Open(path string) (*Client, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cloud config, check -cloud-config: %w", err)
	}
	config, err := ParseConfig(raw)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the host name: %w", err)
	}
	return New(config, host), nil
}

// Instance finds an instance; ErrNotFound if the cloud does not know it.
func (c *Client) Instance(ctx context.Context, name string) (*Instance, error) {
	return c.do(ctx, "GetInstance", http.MethodGet, name, nil)
}

// Create makes an instance. One that exists already is returned as it is.
func (c *Client) Create(ctx context.Context, instance Instance) (*Instance, error) {
	out, err := c.do(ctx, "CreateInstance", http.MethodPost, "", &instance)
	var failed *statusError
	if errors.As(err, &failed) && failed.code == http.StatusConflict {
		return c.Instance(ctx, instance.Name)
	}
	return out, err
}

// Delete removes an instance; one that is gone already is fine.
func (c *Client) Delete(ctx context.Context, name string) error {
	_, err := c.do(ctx, "DeleteInstance", http.MethodDelete, name, nil)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Ask makes sure that the cloud answers, and has the image if the providerSpec's value names one, as whoever validates a
// Machine's spec does.
func (c *Client) Ask(ctx context.Context, providerSpec []byte) error {
	spec := struct {
		CloudProviderSpec struct{ Image string }
	}{}
	_ = json.Unmarshal(providerSpec, &spec)
	image := spec.CloudProviderSpec.Image
	method, path := "ListInstances", "/instances"
	if image != "" {
		method, path = "GetImage", "/images/"+url.PathEscape(image)
	}
	request, err := c.request(ctx, method, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("ask simcloud: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("read simcloud's answer: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return &statusError{method: method, code: answer.StatusCode, body: strings.TrimSpace(string(raw))}
	}
	return nil
}

type statusError struct {
	method string
	code   int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: simcloud answered %d: %s", e.method, e.code, e.body)
}

func (c *Client) do(ctx context.Context, method, verb, name string, body *Instance) (*Instance, error) {
	path := "/instances"
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	request, err := c.request(ctx, method, verb, path, body)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: ask simcloud: %w", method, err)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s: read simcloud's answer: %w", method, err)
	}
	if answer.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s %s: %w", method, name, ErrNotFound)
	}
	if answer.StatusCode/100 != 2 {
		return nil, &statusError{method: method, code: answer.StatusCode, body: strings.TrimSpace(string(raw))}
	}
	out := &Instance{}
	if body != nil {
		// A server that answers nothing keeps what we asked for.
		*out = *body
	}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, out); err != nil {
			return nil, fmt.Errorf("%s: decode simcloud's answer: %w", method, err)
		}
	}
	c.complete(out)
	return out, nil
}

func (c *Client) request(ctx context.Context, method, verb, path string, body *Instance) (*http.Request, error) {
	address := c.config.Endpoint + "/v1/clusters/" + url.PathEscape(c.config.Cluster) + path
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s: encode instance %s: %w", method, body.Name, err)
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, verb, address, reader)
	if err != nil {
		return nil, fmt.Errorf("%s: make the request for %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.config.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Simcloud-Component", "machine-controller")
	request.Header.Set("X-Simcloud-Instance", c.host)
	request.Header.Set("X-Simcloud-Loop", "machine")
	request.Header.Set("X-Simcloud-Method", method)
	return request, nil
}

func (c *Client) complete(instance *Instance) {
	if instance.ProviderID == "" {
		instance.ProviderID = "simcloud://" + c.config.Cluster + "/" + instance.Name
	}
}
