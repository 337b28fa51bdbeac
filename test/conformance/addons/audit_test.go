package addons_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy has every request that may write, once: before it is handled. The log is blocking, so that a request which was
// answered is in it. https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
- level: None
  resources: [{group: authorization.k8s.io}]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditLog is the file in which the API server writes down who wrote what.
type auditLog struct{ path string }

// auditEvent is what is read of an entry.
type auditEvent struct {
	Verb       string
	RequestURI string
	User       struct{ Username string }
	ObjectRef  struct{ Resource, Namespace, Name string }
}

// auditOf has an API server that is not started yet write an audit log.
func auditOf(server *envtest.APIServer, directory string) (auditLog, error) {
	policy, log := filepath.Join(directory, "audit-policy.yaml"), filepath.Join(directory, "audit.log")
	server.Configure().Set("audit-policy-file", policy).Set("audit-log-path", log).
		// Megabytes: the log is never rotated.
		Set("audit-log-maxsize", "4096")
	return auditLog{path: log}, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

// mark is where the log ends now.
func (a auditLog) mark() (int64, error) {
	info, err := os.Stat(a.path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// writes of a user since a mark; a dry run writes nothing.
func (a auditLog) writes(user string, since int64) ([]string, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(since, io.SeekStart); err != nil {
		return nil, err
	}
	var found []string
	for decoder := json.NewDecoder(file); ; {
		event := auditEvent{}
		switch err := decoder.Decode(&event); {
		case err == io.EOF:
			slices.Sort(found)
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("read the audit log: %w", err)
		case event.User.Username == user && !strings.Contains(event.RequestURI, "dryRun="):
			found = append(
				found,
				fmt.Sprintf("%s %s %s/%s", event.Verb, event.ObjectRef.Resource, event.ObjectRef.Namespace, event.ObjectRef.Name),
			)
		}
	}
}

// writesOf what is done, by a user.
func writesOf(g Gomega, user string, do func()) []string {
	mark, err := suite.audit.mark()
	g.Expect(err).NotTo(HaveOccurred())
	do()
	found, err := suite.audit.writes(user, mark)
	g.Expect(err).NotTo(HaveOccurred())
	return found
}

// What counts writes has to be able to count.
func TestWritesAreCounted(t *testing.T) {
	made := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "counted"},
			Data:       map[string]string{"a": "1"},
		}
	}
	identity, err := suite.environment.AddUser(envtest.User{Name: "writer", Groups: []string{"system:masters"}}, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	writer, err := client.New(identity.Config(), client.Options{Mapper: suite.admin.RESTMapper()})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(writer.Create(t.Context(), made())).To(Succeed())
	for name, tc := range map[string]struct {
		do   func() error
		want []string
	}{
		"reading writes nothing":             {do: func() error { return writer.Get(t.Context(), client.ObjectKeyFromObject(made()), made()) }},
		"a dry run writes nothing":           {do: func() error { return writer.Update(t.Context(), made(), client.DryRunAll) }},
		"someone else's writes do not count": {do: func() error { return suite.admin.Update(t.Context(), made()) }},
		"an update that changes nothing is one": {
			do: func() error { return writer.Update(t.Context(), made()) }, want: []string{"update configmaps default/counted"},
		},
		"each of several is one": {
			do: func() error {
				for range 2 {
					if err := writer.Update(t.Context(), made()); err != nil {
						return err
					}
				}
				return writer.DeleteAllOf(t.Context(), made(), client.InNamespace("none"))
			},
			want: []string{"deletecollection configmaps none/", "update configmaps default/counted", "update configmaps default/counted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(writesOf(g, "writer", func() { g.Expect(tc.do()).To(Succeed()) })).To(Equal(tc.want))
		})
	}
}
