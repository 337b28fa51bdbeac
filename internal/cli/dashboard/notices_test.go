package dashboard

import (
	"errors"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// blindness is something that could not be looked at, and what the page says of it.
type blindness struct {
	change func(*seen)
	says   []string
	hides  []string
}

func blindnesses() map[string]blindness {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: ucv1.GroupVersion().Group, Resource: clusters}, "",
		errors.New(`User "you" cannot list`))
	unknown := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: ucv1.GroupVersion().Group, Kind: "FleetMigration"}}
	before := noon().Add(-5 * time.Minute)
	return map[string]blindness{
		"the connection is lost": {
			func(s *seen) {
				s.kinds[probed] = looked{err: errors.New("connection refused")}
				s.kinds[clusters] = looked{synced: true, at: before, err: errors.New("EOF")}
			},
			[]string{"does not answer: connection refused. What is shown is 5m old: of 2026-01-01T11:55:00Z.", "<title>Cannot look",
				"Cannot look at everything. 49 Clusters", "user-gamma/gamma"},
			[]string{"EOF"},
		},
		"the connection is lost before anything was read": {
			func(s *seen) {
				*s = seen{host: s.host, kinds: map[string]looked{probed: {err: errors.New("refused")}, clusters: {}, fleetMigrations: {}}}
			},
			[]string{"does not answer: refused. None is shown.", "Cannot look: no Cluster was read.", "What is wrong now is not known."},
			[]string{"Nothing is wrong", "0 Clusters", "There is no FleetMigration"},
		},
		"the Clusters are still being read": {
			func(s *seen) { s.clusters, s.kinds[clusters] = nil, looked{} },
			[]string{"The Clusters are being read. None is shown yet.", "What is wrong now is not known.", "<title>Cannot look"},
			[]string{"Nothing is wrong", "0 Clusters"},
		},
		"the Clusters may not be listed": {
			func(s *seen) { s.clusters, s.kinds[clusters] = nil, looked{err: forbidden} },
			[]string{"You may not list and watch the Clusters: ", "cannot list. None is shown.", "None is shown: they are judged by all"},
			[]string{"Nothing is wrong", "There is no FleetMigration"},
		},
		"the right to list Clusters was taken away": {
			func(s *seen) { s.kinds[clusters] = looked{synced: true, at: before, err: forbidden} },
			[]string{"What is shown of them is 5m old", "Cannot look at everything. "},
			nil,
		},
		"FleetMigrations are not installed": {
			func(s *seen) { s.migrations, s.kinds[fleetMigrations] = nil, looked{err: unknown} },
			[]string{"does not know FleetMigrations. Install the CustomResourceDefinition fleetmigrations.usercluster.k8c.io",
				"user-gamma/gamma", "<title>Cannot look"},
			[]string{"There is no FleetMigration"},
		},
		"Namespaces by which Clusters are selected cannot be read": {
			func(s *seen) {
				s.migrations[0].Spec.NamespaceSelector = s.migrations[0].Spec.ClusterSelector
				s.kinds[namespaces] = looked{err: errors.New("timeout")}
			},
			[]string{"Could not look at the Namespaces: timeout. None is shown.", "None is shown: they are judged by all"},
			[]string{"Waves of openstack"},
		},
		"only one namespace is shown": {
			func(s *seen) { s.namespace = "user-gamma" },
			[]string{"Only Clusters of namespace user-gamma are shown.", "None is shown: they are judged by all"},
			[]string{"Waves of openstack", "Cannot look"},
		},
	}
}

// A page that cannot look must not look well.
func TestAPageSaysWhatItCouldNotLookAt(t *testing.T) {
	for name, tc := range blindnesses() {
		t.Run(name, func(t *testing.T) {
			g, read := NewWithT(t), everything(t)
			tc.change(read)
			code, page := got(t, read, "/")
			g.Expect(code).To(Equal(http.StatusOK))
			for _, text := range tc.says {
				g.Expect(page).To(ContainSubstring(text))
			}
			for _, text := range tc.hides {
				g.Expect(page).NotTo(ContainSubstring(text))
			}
		})
	}
}
