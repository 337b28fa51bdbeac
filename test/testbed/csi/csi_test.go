package csi

import (
	"context"
	"flag"
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

func TestRegister(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "u1"}}
	csiNode := func(names ...string) *storagev1.CSINode {
		out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		for _, name := range names {
			out.Spec.Drivers = append(out.Spec.Drivers, storagev1.CSINodeDriver{Name: name, NodeID: "n1"})
		}
		return out
	}
	tests := map[string]struct {
		objects []client.Object
		want    []string
		wrong   string
	}{
		"a missing CSINode is made":                   {[]client.Object{node}, []string{"d"}, ""},
		"an empty CSINode gets the driver":            {[]client.Object{node, csiNode()}, []string{"d"}, ""},
		"another driver's entry stays":                {[]client.Object{node, csiNode("x")}, []string{"x", "d"}, ""},
		"a driver that is there is not entered twice": {[]client.Object{node, csiNode("d", "x")}, []string{"d", "x"}, ""},
		"without a Node nothing is registered":        {nil, nil, "read Node n1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := fake.NewClientBuilder().WithObjects(test.objects...).Build()
			err := register(t.Context(), c, "n1", "d")
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			got := &storagev1.CSINode{}
			g.Expect(c.Get(t.Context(), client.ObjectKey{Name: "n1"}, got)).To(Succeed())
			var names []string
			for _, driver := range got.Spec.Drivers {
				names = append(names, driver.Name)
				g.Expect(driver.NodeID).To(Equal("n1"))
			}
			g.Expect(names).To(Equal(test.want))
		})
	}
}

func TestFlags(t *testing.T) {
	tests := map[string]struct {
		args  []string
		wrong string
	}{
		"controller mode needs nothing else":    {[]string{"--mode=controller", "--health-address=127.0.0.1:0"}, ""},
		"node mode without a name is refused":   {[]string{"--mode=node"}, "-node-name"},
		"an endpoint needs a cloud":             {[]string{"--mode=controller", "--health-address=0", "--endpoint=csi.sock"}, "-cloud-config"},
		"a mode that does not exist is refused": {[]string{"-mode", "both"}, `"both"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			run, err := program.Parse("csi-driver", test.args, io.Discard, func(flags *flag.FlagSet) program.Run { return setup(flags) })
			g.Expect(err).NotTo(HaveOccurred())
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- run(ctx) }()
			cancel()
			want := BeNil()
			if test.wrong != "" {
				want = MatchError(ContainSubstring(test.wrong))
			}
			g.Eventually(done).WithTimeout(5 * time.Second).Should(Receive(want))
		})
	}
}
