package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func TestAMarkedMachineGoesFirstAndElseAny(t *testing.T) {
	g := NewWithT(t)
	named := func(name string) *machines.Machine {
		return &machines.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	marked, failed := named("marked"), named("failed")
	marked.Annotations = map[string]string{machines.DeleteMachineAnnotation: "true"}
	failed.Status.ErrorMessage = new("no quota")

	third := map[string]bool{}
	for range 200 {
		active := []*machines.Machine{named("a"), marked, named("b"), failed, named("c")}
		expendable(active)
		g.Expect([]string{active[0].Name, active[1].Name}).To(ConsistOf("marked", "failed"))
		third[active[2].Name] = true
	}
	g.Expect(third).To(HaveLen(3), "each of the others is the next at times")
}
