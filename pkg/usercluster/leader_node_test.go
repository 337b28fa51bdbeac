package usercluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

func TestTheNodeThatTheCCMLeadsOn(t *testing.T) {
	s, _ := sessionWith(interceptor.Funcs{}, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ccm-1"}, Spec: corev1.PodSpec{NodeName: "node-1"},
	})
	held := func(holder string) migration.Observed[migration.Lease] {
		return migration.Known(migration.Lease{Holder: holder})
	}
	for name, tc := range map[string]struct {
		lease migration.Observed[migration.Lease]
		want  migration.Observed[string]
	}{
		"the Node of its pod":                      {held("ccm-1_42"), migration.Known("node-1")},
		"its hostname, with the network of a host": {held("node-7_42"), migration.Known("node-7")},
		"no leader":                        {held(""), migration.Absent[string]()},
		"no Lease":                         {migration.Absent[migration.Lease](), migration.Absent[string]()},
		"a Lease that cannot be looked at": {migration.Unknown[migration.Lease]("timeout"), migration.Unknown[string]("timeout")},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.LeaderNode(t.Context(), provider.Identity{ServiceAccountNamespace: "kube-system"}, tc.lease)
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}
