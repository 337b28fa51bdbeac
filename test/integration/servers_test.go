package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// startTimeout of an API server is far above the usual few seconds, for busy machines.
const startTimeout = 90 * time.Second

// auditedGroup are those whose requests are logged: most tests ask for no log, and to write everything down takes time.
const auditedGroup = "audited"

// server is an API server of this package, with its audit log.
type server struct {
	plane *envtest.ControlPlane
	log   audit.Log
}

// identities are known by a token that is their name: an API server verifies a chain of certificates in every request,
// which is a fifth of the work of a small one.
func identities() []envtest.User {
	return []envtest.User{
		{Name: "admin", Groups: []string{"system:masters"}},
		{Name: controllerIdentity, Groups: []string{auditedGroup}},
	}
}

// controllerIdentity is who the controller is in a user cluster.
const controllerIdentity = "ccm-migration-controller"

// configure sets the flags of an API server that is not started yet. Fairness between clients and traces are off: no
// test looks at them, and they are another fifth of that work.
func (s *server) configure(name string) error {
	folder := filepath.Join(suite.folder, name)
	var err error
	if s.log, err = audit.New(folder, auditedGroup); err != nil {
		return err
	}
	lines := &strings.Builder{}
	for _, user := range identities() {
		fmt.Fprintf(lines, "%s,%s,%s,%q\n", user.Name, user.Name, user.Name, strings.Join(user.Groups, ","))
	}
	tokens := filepath.Join(folder, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(lines.String()), 0o600); err != nil {
		return err
	}
	arguments := s.plane.GetAPIServer().Configure()
	for flag, value := range s.log.Flags() {
		arguments.Set(flag, value)
	}
	arguments.Set("token-auth-file", tokens)
	arguments.Set("enable-priority-and-fairness", "false")
	arguments.Set("feature-gates", "APIServerTracing=false")
	return nil
}

// as is how one of the identities gets to the API server, which runs. Those whom the test plays use HTTP/1.1, whose small
// requests are cheaper at both ends; the controller has HTTP/2 in the user cluster, as it has everywhere.
func (s *server) as(name string) *rest.Config {
	serving := s.plane.GetAPIServer().SecureServing
	return &rest.Config{
		Host: serving.URL("https", "/").String(), BearerToken: name, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: serving.CA, NextProtos: []string{"http/1.1"}},
	}
}
