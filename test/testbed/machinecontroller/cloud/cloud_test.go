package cloud_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
)

func TestParseConfig(t *testing.T) {
	tests := map[string]struct {
		raw   string
		wrong string
	}{
		"all three keys are enough":        {raw: "# cloud\nendpoint=http://127.0.0.1:1\ncluster = alpha\n\ntoken=s3cr3t\n"},
		"a missing token is named":         {raw: "endpoint=http://127.0.0.1:1\ncluster=alpha\n", wrong: "token"},
		"a line without = is named by row": {raw: "endpoint=http://127.0.0.1:1\ns3cr3t\n", wrong: "line 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config, err := cloud.ParseConfig([]byte(test.raw))
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				g.Expect(err.Error()).NotTo(ContainSubstring("s3cr3t"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(config).To(Equal(cloud.Config{Endpoint: "http://127.0.0.1:1", Cluster: "alpha", Token: "s3cr3t"}))
		})
	}
}

// serve is a minimal simcloud that remembers the methods it was called with.
func serve(t *testing.T, methods *[]string) *cloud.Client {
	t.Helper()
	instances := map[string]cloud.Instance{}
	answer := func(w http.ResponseWriter, code int, body any) {
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/clusters/alpha/instances", func(w http.ResponseWriter, r *http.Request) {
		var in cloud.Instance
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if _, exists := instances[in.Name]; exists {
			answer(w, http.StatusConflict, map[string]string{"error": "exists"})
			return
		}
		in.ID = "i-1"
		instances[in.Name] = in
		answer(w, http.StatusCreated, in)
	})
	mux.HandleFunc("GET /v1/clusters/alpha/instances/{name}", func(w http.ResponseWriter, r *http.Request) {
		in, exists := instances[r.PathValue("name")]
		if !exists {
			answer(w, http.StatusNotFound, nil)
			return
		}
		answer(w, http.StatusOK, in)
	})
	mux.HandleFunc("DELETE /v1/clusters/alpha/instances/{name}", func(w http.ResponseWriter, r *http.Request) {
		delete(instances, r.PathValue("name"))
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" || r.Header.Get("X-Simcloud-Loop") != "machine" ||
			r.Header.Get("X-Simcloud-Component") != "machine-controller" || r.Header.Get("X-Simcloud-Instance") != "pod-1" {
			t.Errorf("headers are %v", r.Header)
		}
		*methods = append(*methods, r.Header.Get("X-Simcloud-Method"))
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return cloud.New(cloud.Config{Endpoint: server.URL, Cluster: "alpha", Token: "t"}, "pod-1")
}

func TestClient(t *testing.T) {
	g := NewWithT(t)
	var methods []string
	c := serve(t, &methods)

	_, err := c.Instance(t.Context(), "m1")
	g.Expect(err).To(MatchError(cloud.ErrNotFound))
	made, err := c.Create(t.Context(), cloud.Instance{Name: "m1", ExternalCloudProvider: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.ProviderID).To(Equal("simcloud://alpha/m1"))
	again, err := c.Create(t.Context(), cloud.Instance{Name: "m1", ExternalCloudProvider: false})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.ExternalCloudProvider).To(BeTrue(), "an instance keeps how it was made")
	g.Expect(c.Delete(t.Context(), "m1")).To(Succeed())
	g.Expect(c.Delete(t.Context(), "m1")).To(Succeed())
	g.Expect(methods).To(Equal([]string{
		"GetInstance", "CreateInstance", "CreateInstance", "GetInstance", "DeleteInstance", "DeleteInstance",
	}))
}
