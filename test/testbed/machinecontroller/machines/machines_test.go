package machines_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func template(change func(*machines.MachineTemplateSpec)) *machines.MachineTemplateSpec {
	out := &machines.MachineTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": "a"}},
		Spec:       machines.MachineSpec{Versions: machines.Versions{Kubelet: "1.30.14"}},
	}
	change(out)
	return out
}

func TestTemplateHash(t *testing.T) {
	tests := map[string]struct {
		change func(*machines.MachineTemplateSpec)
		same   bool
	}{
		"an unchanged template keeps its hash": {func(*machines.MachineTemplateSpec) {}, true},
		"the hash label does not count": {func(m *machines.MachineTemplateSpec) {
			m.Labels[machines.TemplateHashLabel] = "abc"
		}, true},
		"a forceRestart annotation makes a new template": {func(m *machines.MachineTemplateSpec) {
			m.Annotations = map[string]string{"forceRestart": "1"}
		}, false},
		"another kubelet version makes a new template": {func(m *machines.MachineTemplateSpec) {
			m.Spec.Versions.Kubelet = "1.31.0"
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := machines.TemplateHash(template(func(*machines.MachineTemplateSpec) {}))
			g.Expect(err).NotTo(HaveOccurred())
			got, err := machines.TemplateHash(template(test.change))
			g.Expect(err).NotTo(HaveOccurred())
			if test.same {
				g.Expect(got).To(Equal(want))
			} else {
				g.Expect(got).NotTo(Equal(want))
			}
		})
	}
}

func TestSetDefaults(t *testing.T) {
	tests := map[string]struct {
		spec                     machines.MachineDeploymentSpec
		replicas                 int32
		surge, unavailable       intstr.IntOrString
		history, minReadySeconds int32
	}{
		"an empty spec gets one replica and surge one": {
			replicas: 1, surge: intstr.FromInt32(1), unavailable: intstr.FromInt32(0), history: 1,
		},
		"what the author set stays": {
			spec: machines.MachineDeploymentSpec{
				Replicas: new(int32(0)), MinReadySeconds: new(int32(7)), RevisionHistoryLimit: new(int32(3)),
				Strategy: &machines.Strategy{RollingUpdate: &machines.RollingUpdate{
					MaxSurge: new(intstr.FromString("50%")), MaxUnavailable: new(intstr.FromInt32(2)),
				}},
			},
			replicas: 0, surge: intstr.FromString("50%"), unavailable: intstr.FromInt32(2), history: 3, minReadySeconds: 7,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			machines.SetDefaults(&test.spec)
			g.Expect(*test.spec.Replicas).To(Equal(test.replicas))
			g.Expect(test.spec.Strategy.Type).To(Equal(machines.StrategyRollingUpdate))
			g.Expect(*test.spec.Strategy.RollingUpdate.MaxSurge).To(Equal(test.surge))
			g.Expect(*test.spec.Strategy.RollingUpdate.MaxUnavailable).To(Equal(test.unavailable))
			g.Expect(*test.spec.RevisionHistoryLimit).To(Equal(test.history))
			g.Expect(*test.spec.MinReadySeconds).To(Equal(test.minReadySeconds))
			g.Expect(*test.spec.ProgressDeadlineSeconds).To(Equal(int32(600)))
		})
	}
}
