package simcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestTimeout bounds one call: a cloud that hangs must not block a worker
// of a controller for ever.
const requestTimeout = 15 * time.Second

// errNotFound says that the cloud has no such object.
var errNotFound = errors.New("not found in the cloud")

// client speaks HTTP with the simulated cloud.
type client struct {
	http      *http.Client
	config    Config
	component string
	hostname  string
}

func newClient(config Config, component, hostname string) *client {
	return &client{
		http:      &http.Client{Timeout: requestTimeout},
		config:    config,
		component: component,
		hostname:  hostname,
	}
}

// call is one request. Loop and name are for the cloud's log: which
// controller asked, and by which method of the provider interface.
type call struct {
	loop   string
	name   string
	verb   string
	path   []string
	body   any
	result any
}

// do sends a call and decodes its answer.
func (c *client) do(ctx context.Context, call call) error {
	request, err := c.request(ctx, call)
	if err != nil {
		return fmt.Errorf("%s: %w", call.name, err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", call.name, err)
	}
	defer response.Body.Close()
	if err := decode(response, call.result); err != nil {
		return fmt.Errorf("%s %s: %w", call.name, strings.Join(call.path, "/"), err)
	}
	return nil
}

func (c *client) request(ctx context.Context, call call) (*http.Request, error) {
	segments := []string{c.config.Endpoint, "v1", "clusters", url.PathEscape(c.config.Cluster)}
	for _, segment := range call.path {
		segments = append(segments, url.PathEscape(segment))
	}
	var body io.Reader
	if call.body != nil {
		encoded, err := json.Marshal(call.body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, call.verb, strings.Join(segments, "/"), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+c.config.Token)
	request.Header.Set("X-Simcloud-Component", c.component)
	request.Header.Set("X-Simcloud-Instance", c.hostname)
	request.Header.Set("X-Simcloud-Loop", call.loop)
	request.Header.Set("X-Simcloud-Method", call.name)
	return request, nil
}

func decode(response *http.Response, result any) error {
	if response.StatusCode == http.StatusNotFound {
		return errNotFound
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		// An error body is one short sentence; the limit guards against others.
		text, _ := io.ReadAll(io.LimitReader(response.Body, 512))
		return fmt.Errorf("the cloud answered %s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	if result == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}
