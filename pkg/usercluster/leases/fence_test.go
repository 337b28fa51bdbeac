package leases

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// authorizer answers SubjectAccessReviews.
func authorizer(answer func(*authorizationv1.SubjectAccessReview)) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if review, ok := obj.(*authorizationv1.SubjectAccessReview); ok {
				answer(review)
				return nil
			}
			return c.Create(ctx, obj, opts...)
		},
	}
}

func TestFenceOpensAndCloses(t *testing.T) {
	g := NewWithT(t)
	id := simcloud.Profile{}.Identity()
	s, _ := electionsWith(authorizer(func(*authorizationv1.SubjectAccessReview) {}))
	look := func() observation.Fence {
		fence, known := s.Fence(t.Context(), id).Get()
		g.Expect(known).To(BeTrue())
		return fence
	}
	g.Expect(look()).To(Equal(observation.Fence{
		Identity: "system:serviceaccount:kube-system:cloud-controller-manager", Lease: "kube-system/cloud-controller-manager"}))
	g.Expect(s.CloseFence(t.Context(), id)).To(Succeed(), "closing what is closed is fine")

	g.Expect(s.OpenFence(t.Context(), id)).To(Succeed())
	g.Expect(look().Open).To(BeTrue())

	role := &rbacv1.Role{}
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(render.FenceObjects(id)[0]), role)).To(Succeed())
	role.Rules = nil
	g.Expect(s.client.Update(t.Context(), role)).To(Succeed())
	g.Expect(look().Open).To(BeFalse(), "a Role that grants nothing does not open it")

	g.Expect(s.OpenFence(t.Context(), id)).To(Succeed())
	g.Expect(s.client.Delete(t.Context(), render.FenceObjects(id)[1])).To(Succeed())
	g.Expect(look().Open).To(BeFalse(), "nor does a Role alone")

	g.Expect(s.OpenFence(t.Context(), id)).To(Succeed())
	g.Expect(look().Open).To(BeTrue())
	g.Expect(s.CloseFence(t.Context(), id)).To(Succeed())
	g.Expect(look().Open).To(BeFalse())
}

func TestFenceAsksForEveryVerb(t *testing.T) {
	id := simcloud.Profile{}.Identity()
	for name, tc := range map[string]struct {
		answer  func(*authorizationv1.SubjectAccessReview)
		allowed []string
		unknown bool
	}{
		"nothing is allowed": {answer: func(*authorizationv1.SubjectAccessReview) {}},
		"everything is allowed": {
			answer:  func(r *authorizationv1.SubjectAccessReview) { r.Status.Allowed = true },
			allowed: []string{"create", "update"}},
		"only reading and patching, which elects no one": {
			answer: func(r *authorizationv1.SubjectAccessReview) {
				r.Status.Allowed = slices.Contains([]string{"get", "patch"}, r.Spec.ResourceAttributes.Verb)
			}},
		"by a group of all ServiceAccounts": {
			answer: func(r *authorizationv1.SubjectAccessReview) {
				r.Status.Allowed = len(r.Spec.Groups) == 3 && r.Spec.Groups[1] == "system:serviceaccounts:kube-system" &&
					r.Spec.ResourceAttributes.Verb == "update" && r.Spec.ResourceAttributes.Name == "cloud-controller-manager"
			}, allowed: []string{"update"}},
		"creating is asked without a name": {
			answer: func(r *authorizationv1.SubjectAccessReview) {
				r.Status.Allowed = r.Spec.ResourceAttributes.Name == "" && r.Spec.ResourceAttributes.Namespace == "kube-system"
			}, allowed: []string{"create"}},
		"an authorizer that could not answer": {
			answer:  func(r *authorizationv1.SubjectAccessReview) { r.Status.EvaluationError = "webhook is down" },
			unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := electionsWith(authorizer(tc.answer))
			fence := s.Fence(t.Context(), id)
			g.Expect(fence.IsUnknown()).To(Equal(tc.unknown))
			g.Expect(fence.Value().Allowed).To(Equal(tc.allowed))
		})
	}
}

func TestTheFenceOfAProviderThatNoOneKnows(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(authorizer(func(*authorizationv1.SubjectAccessReview) {}))
	g.Expect(s.Fence(t.Context(), manifest.Identity{}).Value().Open).To(BeFalse())
}
