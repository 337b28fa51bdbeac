package leases

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// reviewer answers what an API server is asked about us.
type reviewer struct {
	may     bool
	name    string
	whoami  error
	refuses error
	review  error
	// says is who we are by our credentials.
	says string
}

func (r reviewer) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			switch review := object.(type) {
			case *authorizationv1.SelfSubjectAccessReview:
				review.Status.Allowed = r.may
				return r.review
			case *authenticationv1.SelfSubjectReview:
				review.Status.UserInfo.Username = r.name
				return r.whoami
			}
			return c.Create(ctx, object, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if r.refuses != nil {
				return r.refuses
			}
			return c.Apply(ctx, object, options...)
		},
	}
}

func TestTheRightToALeaseIsGrantedAndTakenBack(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "roles"}, "", errors.New("no RBAC rule"))
	lease := observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "kcm"}
	for name, test := range map[string]struct {
		reviewer
		granted bool
		fails   bool
	}{
		"to who we are":            {reviewer: reviewer{name: "us"}, granted: true},
		"not when we may anyway":   {reviewer: reviewer{name: "us", may: true}},
		"not when no one is named": {},
		"to whom our credentials name, where the API server tells no one": {
			reviewer: reviewer{whoami: apierrors.NewNotFound(schema.GroupResource{}, ""), says: "us"}, granted: true,
		},
		"not when the API server may not tell": {reviewer: reviewer{whoami: forbidden, says: "us"}},
		"not when nothing tells who we are":    {reviewer: reviewer{whoami: apierrors.NewNotFound(schema.GroupResource{}, "")}},
		"not when that is refused":             {reviewer: reviewer{name: "us", refuses: forbidden}},
		"not when a webhook fails":             {reviewer: reviewer{name: "us", refuses: apierrors.NewInternalError(errors.New("failed calling webhook"))}},
		"not when a webhook denies it with a code of its own": {
			reviewer: reviewer{
				name: "us", refuses: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 400, Message: "denied the request"}},
			},
		},
		"not when the API server has no time": {reviewer: reviewer{name: "us", refuses: apierrors.NewTooManyRequests("later", 1)}},
		"not when no one can ask what we may": {reviewer: reviewer{name: "us", review: apierrors.NewInternalError(errors.New("no authorizer"))}},
		"else it is tried again":              {reviewer: reviewer{name: "us", refuses: errors.New("connection refused")}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := electionsWith(test.funcs())
			s.user = test.says
			g.Expect(s.GrantLease(t.Context(), lease) != nil).To(Equal(test.fails))
			seen := s.LeaseRight(t.Context(), lease)
			g.Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
			g.Expect(seen.Value()).To(Equal(observation.LeaseRight{May: test.may, There: test.granted}))
			if test.granted {
				role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
				key := client.ObjectKey{Namespace: "kube-system", Name: "ccm-migration:kube-controller-manager-lease"}
				g.Expect(s.client.Get(t.Context(), key, role)).To(Succeed())
				g.Expect(role.Rules).To(ConsistOf(rbacv1.PolicyRule{
					APIGroups:     []string{"coordination.k8s.io"},
					Resources:     []string{"leases"},
					ResourceNames: []string{"kcm"},
					Verbs:         []string{"patch"},
				}))
				g.Expect(s.client.Get(t.Context(), key, binding)).To(Succeed())
				g.Expect(binding.Subjects).To(ConsistOf(rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "us"}))
			}
			g.Expect(s.RevokeLease(t.Context(), lease)).To(Succeed())
			g.Expect(s.LeaseRight(t.Context(), lease).Value().There).To(BeFalse())
		})
	}
}

// TestAGrantThatHangsEnds: what stands in its way must not hold back the change of KCM that comes after it.
func TestAGrantThatHangsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s, _ := electionsWith(interceptor.Funcs{
			Create: reviewer{name: "us"}.funcs().Create,
			Apply: func(ctx context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
				<-ctx.Done()
				return ctx.Err()
			},
		})
		pass, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		g.Expect(s.GrantLease(pass, observation.Ref{Namespace: "kube-system", Name: "kcm"})).To(Succeed())
		g.Expect(pass.Err()).NotTo(HaveOccurred())
		shorter, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		g.Expect(s.GrantLease(shorter, observation.Ref{Namespace: "kube-system", Name: "kcm"})).NotTo(
			Succeed(),
			"it is the pass that ended",
		)
	})
}

func TestARightThatMayNotBeDeletedIsSeen(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "roles"}, "", errors.New("a policy protects RBAC"))
	for name, test := range map[string]struct {
		refuses error
		fails   bool
	}{
		"by RBAC":                      {refuses: forbidden},
		"by a webhook":                 {refuses: apierrors.NewInternalError(errors.New("failed calling webhook"))},
		"for the moment: tried again":  {refuses: apierrors.NewTooManyRequests("later", 1), fails: true},
		"no one answers: tried again ": {refuses: errors.New("connection refused"), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			funcs := reviewer{name: "us"}.funcs()
			funcs.Delete = func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
				return test.refuses
			}
			s, _ := electionsWith(funcs)
			lease := observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "kcm"}
			g.Expect(s.GrantLease(t.Context(), lease)).To(Succeed())
			g.Expect(s.RevokeLease(t.Context(), lease) != nil).To(Equal(test.fails))
			g.Expect(s.LeaseRight(t.Context(), lease).Value().There).To(BeTrue())
		})
	}
}

func TestARightThatMayNotBeReadIsNotGone(t *testing.T) {
	for name, test := range map[string]struct {
		reviewer
		want observation.Observed[observation.LeaseRight]
	}{
		"while the API server says that we have it": {reviewer: reviewer{may: true}, want: observation.Unknown[observation.LeaseRight]("")},
		"while the API server does not tell": {
			reviewer: reviewer{review: apierrors.NewInternalError(errors.New("no authorizer"))},
			want:     observation.Unknown[observation.LeaseRight](""),
		},
		"unless the API server says that we have none": {want: observation.Known(observation.LeaseRight{})},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			funcs := test.funcs()
			funcs.Get = func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "roles"}, "", errors.New("no RBAC rule"))
			}
			s, _ := electionsWith(funcs)
			seen := s.LeaseRight(t.Context(), observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "kcm"})
			g.Expect(seen.IsKnown()).To(Equal(test.want.IsKnown()), seen.Why())
			g.Expect(seen.Value()).To(Equal(test.want.Value()))
		})
	}
}

func TestALeaseIsFreedWithUIDAndVersion(t *testing.T) {
	g := NewWithT(t)
	sent := ""
	s, _ := electionsWith(
		interceptor.Funcs{
			Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
				data, err := patch.Data(object)
				sent = string(data)
				return err
			},
		},
	)
	seen := observation.Lease{Ref: observation.Ref{Namespace: "kube-system", Name: "kcm", UID: "u"}, Version: "7"}
	g.Expect(s.FreeLease(t.Context(), seen)).To(Succeed())
	g.Expect(sent).To(MatchJSON(`{"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {"holderIdentity": null}}`))
}
