package usercluster

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// reviewer answers what an API server is asked about us.
type reviewer struct {
	may     bool
	name    string
	whoami  error
	refuses error
	// says is who we are by our credentials.
	says string
}

func (r reviewer) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			switch review := object.(type) {
			case *authorizationv1.SelfSubjectAccessReview:
				review.Status.Allowed = r.may
				return nil
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
	lease := migration.Ref{Kind: "Lease", Namespace: "kube-system", Name: "kcm"}
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
		"else it is tried again":               {reviewer: reviewer{name: "us", refuses: errors.New("timeout")}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(test.funcs())
			s.credentials.user = test.says
			g.Expect(s.GrantLease(t.Context(), lease) != nil).To(Equal(test.fails))
			seen := s.LeaseRight(t.Context(), lease)
			g.Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
			g.Expect(seen.Value()).To(Equal(migration.LeaseRight{May: test.may, There: test.granted}))
			if test.granted {
				role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
				key := client.ObjectKey{Namespace: "kube-system", Name: "ccm-migration:kube-controller-manager-lease"}
				g.Expect(s.client.Get(t.Context(), key, role)).To(Succeed())
				g.Expect(role.Rules).To(ConsistOf(rbacv1.PolicyRule{
					APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"kcm"}, Verbs: []string{"patch"},
				}))
				g.Expect(s.client.Get(t.Context(), key, binding)).To(Succeed())
				g.Expect(binding.Subjects).To(ConsistOf(rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "us"}))
			}
			g.Expect(s.RevokeLease(t.Context(), lease)).To(Succeed())
			g.Expect(s.LeaseRight(t.Context(), lease).Value().There).To(BeFalse())
		})
	}
}

func TestALeaseIsFreedWithUIDAndVersion(t *testing.T) {
	g := NewWithT(t)
	sent := ""
	s, _ := sessionWith(interceptor.Funcs{Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
		data, err := patch.Data(object)
		sent = string(data)
		return err
	}})
	seen := migration.Lease{Ref: migration.Ref{Namespace: "kube-system", Name: "kcm", UID: "u"}, Version: "7"}
	g.Expect(s.FreeLease(t.Context(), seen)).To(Succeed())
	g.Expect(sent).To(MatchJSON(`{"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {"holderIdentity": null}}`))
}
