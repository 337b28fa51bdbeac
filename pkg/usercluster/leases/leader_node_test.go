package leases

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestTheNodeThatTheCCMLeadsOn(t *testing.T) {
	s, _ := electionsWith(interceptor.Funcs{}, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ccm-1"}, Spec: corev1.PodSpec{NodeName: "node-1"},
	})
	held := func(holder string) observation.Observed[observation.Lease] {
		return observation.Known(observation.Lease{Holder: holder})
	}
	for name, tc := range map[string]struct {
		lease observation.Observed[observation.Lease]
		want  observation.Observed[string]
	}{
		"the Node of its pod":                      {held("ccm-1_42"), observation.Known("node-1")},
		"its hostname, with the network of a host": {held("node-7_42"), observation.Known("node-7")},
		"no leader":                        {held(""), observation.Absent[string]()},
		"no Lease":                         {observation.Absent[observation.Lease](), observation.Absent[string]()},
		"a Lease that cannot be looked at": {observation.Unknown[observation.Lease]("timeout"), observation.Unknown[string]("timeout")},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.LeaderNode(t.Context(), manifest.Identity{ServiceAccountNamespace: "kube-system"}, tc.lease)
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}
