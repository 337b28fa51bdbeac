package usercluster

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
)

func TestNothingCanBeChangedInADryRun(t *testing.T) {
	g := NewWithT(t)
	var asked [][]string
	session, _ := sessionWith(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.CreateOption) error {
			made := &client.CreateOptions{}
			made.ApplyOptions(options)
			asked = append(asked, made.DryRun)
			return nil
		},
	})
	g.Expect(session.DryRun().Client().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})).To(Succeed())
	g.Expect(session.Client().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})).To(Succeed())
	g.Expect(asked).To(Equal([][]string{{metav1.DryRunAll}, nil}))
}

func TestADryRunKnowsWhatItsSessionKnows(t *testing.T) {
	g := NewWithT(t)
	made, clk := sessionWith(interceptor.Funcs{})
	known := made.parts
	known.credentials.expires = start.Add(time.Hour)
	session := newSession(known)
	source := observation.Ref{Kind: "Secret", Name: "a"}
	g.Expect(session.DryRun().Preflight.Credentials(source)).To(Equal(session.Preflight.Credentials(source)))
	read := session.Preflight.Read(t.Context(), facts.Input{Generation: 1})
	clk.Step(time.Second)
	g.Expect(session.DryRun().Preflight.Read(t.Context(), facts.Input{Generation: 1}).At).To(Equal(read.At), "what is much in a "+
		"large cluster is read once")
}
