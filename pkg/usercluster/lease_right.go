package usercluster

import (
	"context"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// LeaseRight says whether we may free a Lease, and whether something of what we granted ourselves for it is there.
func (s *Session) LeaseRight(ctx context.Context, lease migration.Ref) migration.Observed[migration.LeaseRight] {
	right := migration.LeaseRight{}
	for _, object := range provider.KCMLeaseObjects(lease, "") {
		_, err := s.get(ctx, object)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
			return migration.Unknown[migration.LeaseRight](because("reading "+refOf(object).String(), err))
		}
		right.There = right.There || err == nil
	}
	may, err := s.mayPatch(ctx, lease)
	if err != nil {
		return migration.Unknown[migration.LeaseRight](because("asking whether we may patch "+lease.String(), err))
	}
	right.May = may
	return migration.Known(right)
}

func (s *Session) mayPatch(ctx context.Context, lease migration.Ref) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: lease.Namespace, Name: lease.Name, Verb: "patch",
		},
	}}
	err := s.client.Create(ctx, review)
	return review.Status.Allowed, err
}

// GrantLease lets us free a Lease, unless we may anyway. Where we may not grant that, or no one tells who we are, the Lease is left alone,
// which is no error.
func (s *Session) GrantLease(ctx context.Context, lease migration.Ref) error {
	if may, err := s.mayPatch(ctx, lease); err != nil || may {
		return leftAlone(err)
	}
	user, err := s.whoWeAre(ctx)
	if err != nil || user == "" {
		return leftAlone(err)
	}
	for _, object := range provider.KCMLeaseObjects(lease, user) {
		err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
		if err != nil {
			return leftAlone(fmt.Errorf("let us free %s with %s: %w", lease, refOf(object), err))
		}
	}
	return nil
}

// whoWeAre is what the API server says, from 1.28 on; before, what our credentials say.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review
func (s *Session) whoWeAre(ctx context.Context) (string, error) {
	self := &authenticationv1.SelfSubjectReview{}
	err := s.client.Create(ctx, self)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return s.credentials.user, nil
	}
	return self.Status.UserInfo.Username, err
}

// leftAlone is no error where we are refused.
func leftAlone(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

// RevokeLease takes that back. The binding goes first: it is what grants.
func (s *Session) RevokeLease(ctx context.Context, lease migration.Ref) error {
	for _, object := range slices.Backward(provider.KCMLeaseObjects(lease, "")) {
		if err := leftAlone(s.client.Delete(ctx, object)); err != nil {
			return fmt.Errorf("take back our right to %s with %s: %w", lease, refOf(object), err)
		}
	}
	return nil
}
