package usercluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// sessionWith is a session with an empty user cluster of the given faults.
func sessionWith(faults interceptor.Funcs) (*Session, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithInterceptorFuncs(faults).Build()
	return newSession(
		parts{client: c, clock: clk, log: logr.Discard(), watches: watches.New(watches.Clients{}, func() {}, logr.Discard())},
	), clk
}

// failing makes every read end with the error.
func failing(err error) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return err
		},
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err },
	}
}

func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("no RBAC rule"))
	sets := manifest.Addons{CCM: manifest.Set{Objects: []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"namespace": "kube-system", "name": "ccm"},
	}}}}}
	for name, look := range map[string]func(ctx context.Context, s *Session) (unknown bool, why string){
		"Machines": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Machines.Observe(ctx)
			return o.IsUnknown(), o.Why()
		},
		"Nodes": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Facts.Nodes(ctx)
			return o.IsUnknown(), o.Why()
		},
		"Inventory": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Facts.Inventory(ctx)
			return o.IsUnknown(), o.Why()
		},
		"Lease": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.Lease(ctx, "a", "b")
			return o.IsUnknown(), o.Why()
		},
		"Fence": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.Fence(ctx, simcloud.Profile{}.Identity())
			return o.IsUnknown(), o.Why()
		},
		"PodsOf": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.PodsOf(ctx, simcloud.Profile{}.Identity(), nil)
			return o.IsUnknown(), o.Why()
		},
		"Attachments": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Facts.Attachments(ctx)
			return o.IsUnknown(), o.Why()
		},
		"OtherManagers": func(ctx context.Context, s *Session) (bool, string) {
			o := lookForOthers(ctx, s)
			return o.IsUnknown(), o.Why()
		},
		"Addons": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Addons.Observe(ctx, nil, sets)
			return o.IsUnknown(), o.Why()
		},
	} {
		t.Run(name+" when it is forbidden", func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(failing(forbidden))
			unknown, why := look(t.Context(), s)
			g.Expect(unknown).To(BeTrue())
			g.Expect(why).To(ContainSubstring("no RBAC rule"))
		})
		t.Run(name+" when there is no answer", func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(failing(context.DeadlineExceeded))
			unknown, why := look(t.Context(), s)
			g.Expect(unknown).To(BeTrue())
			g.Expect(why).To(HaveSuffix("the API server of the user cluster does not answer in time"))
		})
	}
}

// lookForOthers takes no memory of an earlier look for an answer.
func lookForOthers(ctx context.Context, s *Session) observation.Observed[[]observation.ForeignCCM] {
	return s.Others.Look(ctx, provider.New().RecognizeManager, facts.Ours{}, true)
}
