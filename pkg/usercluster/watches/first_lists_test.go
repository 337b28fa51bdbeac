package watches

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

func TestAPassWaitsOnceForTheFirstLists(t *testing.T) {
	g, scheme, list := NewWithT(t), runtime.NewScheme(), make(chan struct{})
	g.Expect(appsv1.AddToScheme(scheme)).To(Succeed())
	g.Expect(metav1.AddMetaToScheme(scheme)).To(Succeed())
	source := fake.NewSimpleMetadataClient(scheme)
	source.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		<-list
		return false, nil, nil
	})
	w := New(Clients{Metadata: source}, func() {}, logr.Discard())
	defer w.Close()
	w.Keep(kept.NewTotal(1 << 20))
	w.AwaitLists(t.Context()) // Nothing is watched.
	w.Set(true)
	w.AwaitLists(t.Context()) // Nothing is listed.

	resource := appsv1.SchemeGroupVersion.WithResource("deployments")
	w.Resources(resource)
	came := w.first.await()
	g.Expect(came).NotTo(BeNil())
	g.Expect(came).NotTo(BeClosed())
	w.AwaitLists(t.Context()) // The one wait is over.
	close(list)
	g.Eventually(came).Should(BeClosed())
	g.Expect(w.Mark(resource).Watched).To(BeTrue())
}

func TestAListThatNeverComesHoldsNoPassForLong(t *testing.T) {
	w := New(Clients{}, func() {}, logr.Discard())
	w.Keep(kept.NewTotal(1 << 20))
	w.Set(true)
	w.first.missing++
	ended, end := context.WithCancel(t.Context())
	end()
	w.AwaitLists(ended)
	NewWithT(t).Expect(w.first.await()).To(BeNil(), "the next pass does not wait again")
}
