package usercluster

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: http.NoBody}, nil
}

func TestWritesAreTold(t *testing.T) {
	roles := "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles"
	for name, tc := range map[string]struct{ method, url, told string }{
		"an object of a namespace":    {http.MethodPatch, roles + "/a?force=true", "rbac.authorization.k8s.io/v1 roles a"},
		"a list of a namespace":       {http.MethodPost, roles, "rbac.authorization.k8s.io/v1 roles"},
		"an object without namespace": {http.MethodDelete, "/api/v1/nodes/a", "v1 nodes a"},
		"a namespace itself":          {http.MethodPatch, "/api/v1/namespaces/a", "v1 namespaces a"},
		"a subresource":               {http.MethodPost, "/api/v1/namespaces/a/serviceaccounts/b/token", "v1 serviceaccounts b"},
		"no read":                     {http.MethodGet, "/api/v1/nodes/a", ""},
		"no dry run":                  {http.MethodPatch, "/api/v1/nodes/a?dryRun=All", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, told := NewWithT(t), ""
			transport := &writes{RoundTripper: answering{}, wrote: func(resource schema.GroupVersionResource, name string) {
				told = strings.TrimSpace(resource.GroupVersion().String() + " " + resource.Resource + " " + name)
			}}
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://user.example"+tc.url, nil)
			g.Expect(err).NotTo(HaveOccurred())
			answer, err := transport.RoundTrip(request)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Body.Close()).To(Succeed())
			g.Expect(told).To(Equal(tc.told))
		})
	}
}
