package simcloud

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Config is what a cloud.conf says.
type Config struct {
	// Endpoint is the base URL of the simulated cloud.
	Endpoint string
	// Cluster is the tenant whose objects are seen.
	Cluster string
	// Token is the tenant's bearer token.
	Token string
}

// ParseConfig reads lines of the form key=value. Empty lines and lines that
// start with # are skipped; keys that it does not know are too, because the
// file is shared with other clients of the cloud.
func ParseConfig(r io.Reader) (Config, error) {
	if r == nil {
		return Config{}, errors.New("simcloud needs a cloud configuration: set --cloud-config")
	}
	values := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			// The line is not quoted: it may hold the token.
			return Config{}, fmt.Errorf("cloud configuration line %d is not of the form key=value", n)
		}
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if err := lines.Err(); err != nil {
		return Config{}, fmt.Errorf("read the cloud configuration: %w", err)
	}
	return newConfig(values)
}

func newConfig(values map[string]string) (Config, error) {
	var missing []string
	for _, key := range []string{"endpoint", "cluster", "token"} {
		if values[key] == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return Config{}, fmt.Errorf("cloud configuration lacks %s: add them", strings.Join(missing, ", "))
	}
	endpoint, err := url.Parse(values["endpoint"])
	if err != nil || endpoint.Host == "" {
		return Config{}, errors.New("cloud configuration's endpoint is no URL with a host: write http://host:port")
	}
	return Config{
		Endpoint: strings.TrimSuffix(values["endpoint"], "/"),
		Cluster:  values["cluster"],
		Token:    values["token"],
	}, nil
}
