package leases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// LeaseRight says whether we may free a Lease, and whether something of what we granted ourselves for it is there. What we may
// not read is absent only when the API server says that we have no such right, because then nothing that is there grants one.
func (e *Elections) LeaseRight(ctx context.Context, lease observation.Ref) observation.Observed[observation.LeaseRight] {
	if lease != e.rightTo {
		e.right, e.rightTo = &kept.Value[observation.LeaseRight]{}, lease
	}
	mark := e.watches.MarkOfWritten(render.KCMLeaseObjects(lease, "")[0].GetName(), rights()...)
	return e.right.Read(ctx, e.clock.Now(), mark, func() observation.Observed[observation.LeaseRight] {
		return e.readLeaseRight(ctx, lease)
	})
}

func (e *Elections) readLeaseRight(ctx context.Context, lease observation.Ref) observation.Observed[observation.LeaseRight] {
	may, unanswered := e.mayPatch(ctx, lease)
	if unanswered != nil && !answered(unanswered) {
		return observation.Unknown[observation.LeaseRight](reads.Because("asking whether we may patch "+lease.String(), unanswered))
	}
	right, denied := observation.LeaseRight{May: may}, unanswered == nil && !may
	for _, object := range render.KCMLeaseObjects(lease, "") {
		_, err := reads.Live(ctx, e.client, object)
		if err != nil && !apierrors.IsNotFound(err) && (!denied || !apierrors.IsForbidden(err)) {
			return observation.Unknown[observation.LeaseRight](reads.Because("reading "+reads.RefOf(object).String(), err))
		}
		if right.There = err == nil; right.There {
			break // One is enough for it.
		}
	}
	return observation.Known(right)
}

func (e *Elections) mayPatch(ctx context.Context, lease observation.Ref) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: lease.Namespace, Name: lease.Name, Verb: "patch",
		},
	}}
	err := e.client.Create(ctx, review)
	return err == nil && review.Status.Allowed, err
}

// grantTimeout leaves time in a pass: a webhook that hangs in the user cluster must not hold back a change of KCM, which is not
// there.
const grantTimeout = 5 * time.Second

// GrantLease lets us free a Lease, unless we may anyway. The right only makes a wait shorter, so whatever the API server answers,
// and an answer that does not come in time, is no error: the Lease is left alone. Only a user cluster that cannot be reached is
// one.
func (e *Elections) GrantLease(ctx context.Context, lease observation.Ref) error {
	inTime, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	err := e.grantLease(inTime, lease)
	if err == nil || answered(err) || ctx.Err() == nil && inTime.Err() != nil {
		return nil
	}
	return fmt.Errorf("let us free %s: %w", lease, err)
}

func (e *Elections) grantLease(ctx context.Context, lease observation.Ref) error {
	if may, err := e.mayPatch(ctx, lease); err != nil || may {
		return err
	}
	user, err := e.whoWeAre(ctx)
	if err != nil || user == "" {
		return err
	}
	for _, object := range render.KCMLeaseObjects(lease, user) {
		err := e.client.Apply(
			ctx,
			client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner(ucv1.FieldManager),
			client.ForceOwnership,
		)
		if err != nil {
			return fmt.Errorf("with %s: %w", reads.RefOf(object), err)
		}
	}
	return nil
}

// whoWeAre is what the API server says, from 1.28 on; before, what our credentials say.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review
func (e *Elections) whoWeAre(ctx context.Context) (string, error) {
	self := &authenticationv1.SelfSubjectReview{}
	err := e.client.Create(ctx, self)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return e.user, nil
	}
	return self.Status.UserInfo.Username, err
}

// answered says that an API server said no, whatever for: asked once more, it says so again. A webhook that fails has many codes.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) || meta.IsNoMatchError(err)
}

// RevokeLease takes that back. The binding goes first: it is what grants. Where that is refused, LeaseRight goes on showing what
// is left, which is no error, because asked at once it would be refused again.
func (e *Elections) RevokeLease(ctx context.Context, lease observation.Ref) error {
	for _, object := range slices.Backward(render.KCMLeaseObjects(lease, "")) {
		if err := e.client.Delete(ctx, object); err != nil && (!answered(err) || overloaded(err)) {
			return fmt.Errorf("take back our right to %s with %s: %w", lease, reads.RefOf(object), err)
		}
	}
	return nil
}

// overloaded says that an API server has no time now.
func overloaded(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err)
}
