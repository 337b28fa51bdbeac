//go:build commandlines

package releases_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// region of the cloud.
const region = "r"

// cloud is an OpenStack that says who one is and has nothing.
type cloud struct {
	url, dir string
}

// newCloud answers what the in-tree provider asks before it starts, and knows nothing else: no one has a Node or a load balancer.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("POST /v3/auth/tokens", func(w http.ResponseWriter, _ *http.Request) {
		var catalog []any
		for _, service := range []string{"compute", "network", "load-balancer"} {
			catalog = append(catalog, map[string]any{"type": service, "name": service, "endpoints": []any{
				map[string]any{"interface": "public", "region": region, "region_id": region, "url": server.URL + "/" + service},
			}})
		}
		w.Header().Set("X-Subject-Token", "t")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": map[string]any{
			"catalog": catalog, "expires_at": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"),
		}})
	})
	return &cloud{url: server.URL, dir: t.TempDir()}
}

// config is the file of the in-tree provider, whose loop service does not start without a section LoadBalancer.
func (c *cloud) config(t *testing.T) string {
	t.Helper()
	path := filepath.Join(c.dir, "cloud.conf")
	NewWithT(t).Expect(os.WriteFile(path, fmt.Appendf(nil,
		"[Global]\nauth-url=%s/v3\nusername=u\npassword=p\ntenant-id=t\ndomain-id=d\nregion=%s\n[LoadBalancer]\nsubnet-id=s\n",
		c.url, region), 0o600)).To(Succeed())
	return path
}
