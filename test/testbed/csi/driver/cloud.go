package driver

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

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// requestTimeout bounds one call, so that a cloud that hangs blocks no sidecar.
const requestTimeout = 10 * time.Second

// Cloud is the part of simcloud that has volumes, as one cluster sees it. Its errors are those that a service answers.
type Cloud struct {
	config    cloud.Config
	component string
	host      string
	http      *http.Client
}

// NewCloud makes a Cloud; the component and host are the caller's in the cloud's log.
func NewCloud(config cloud.Config, component, host string) *Cloud {
	return &Cloud{config: config, component: component, host: host, http: &http.Client{Timeout: requestTimeout}}
}

func (c *Cloud) create(ctx context.Context, volume simcloud.Volume) (made simcloud.Volume, err error) {
	return made, c.do(ctx, http.MethodPost, "volumes", volume, &made)
}

func (c *Cloud) get(ctx context.Context, name string) (volume simcloud.Volume, err error) {
	return volume, c.do(ctx, http.MethodGet, volumePath(name), nil, &volume)
}

func (c *Cloud) list(ctx context.Context) (volumes []simcloud.Volume, err error) {
	return volumes, c.do(ctx, http.MethodGet, "volumes", nil, &volumes)
}

func (c *Cloud) remove(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, volumePath(name), nil, nil)
}

func (c *Cloud) attach(ctx context.Context, name, instance string) (volume simcloud.Volume, err error) {
	return volume, c.do(ctx, http.MethodPut, volumePath(name)+"/attachment", simcloud.Attachment{AttachedTo: instance}, &volume)
}

func (c *Cloud) detach(ctx context.Context, name, instance string) error {
	return c.do(ctx, http.MethodDelete, volumePath(name)+"/attachment", simcloud.Attachment{AttachedTo: instance}, nil)
}

func volumePath(name string) string { return "volumes/" + url.PathEscape(name) }

func (c *Cloud) do(ctx context.Context, verb, path string, body, result any) error {
	request, err := c.request(ctx, verb, path, body)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return status.Errorf(codes.Unavailable, "ask simcloud: %v", err)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return status.Errorf(codes.Unavailable, "read simcloud's answer: %v", err)
	}
	if answer.StatusCode/100 != 2 {
		return status.Errorf(codeOf(answer.StatusCode), "%s %s: simcloud answered: %s", verb, path, strings.TrimSpace(string(raw)))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return status.Errorf(codes.Internal, "decode simcloud's answer: %v", err)
	}
	return nil
}

func (c *Cloud) request(ctx context.Context, verb, path string, body any) (*http.Request, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a request to simcloud: %w", err)
	}
	address := strings.TrimSuffix(c.config.Endpoint, "/") + "/v1/clusters/" + url.PathEscape(c.config.Cluster) + "/" + path
	request, err := http.NewRequestWithContext(ctx, verb, address, bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("make a request to simcloud: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+c.config.Token)
	request.Header.Set(simcloud.HeaderComponent, c.component)
	request.Header.Set(simcloud.HeaderInstance, c.host)
	return request, nil
}

// codeOf is what the specification calls an answer of the cloud. An instance that does not exist and a volume that does
// not are the same for it.
func codeOf(answer int) codes.Code {
	switch answer {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return codes.NotFound
	case http.StatusConflict:
		return codes.FailedPrecondition
	}
	return codes.Internal
}
