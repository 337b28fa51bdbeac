package providerprofile

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// afterConflict is when the cache should have the newer version.
const afterConflict = 500 * time.Millisecond

// Reconciler says what became of ProviderProfiles.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Catalogue that the profiles are judged by.
	Catalogue *provider.Catalogue
	Clock     clock.PassiveClock
}

// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=providerprofiles,verbs=get;list;watch
// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=providerprofiles/status,verbs=get;patch;update

// SetupWithManager wires the watch. What the catalogue has changes with the program only, which looks at all of them when
// it starts.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&ucv1.ProviderProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(r)
}

// Reconcile judges a profile and writes its status once, when it changed.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	profile := &ucv1.ProviderProfile{}
	if err := r.Client.Get(ctx, req.NamespacedName, profile); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	status := statusOf(profile, r.Catalogue.OverlayProblems(profile.Spec), r.Clock.Now())
	if equality.Semantic.DeepEqual(profile.Status, status) {
		return ctrl.Result{}, nil
	}
	err := r.report(ctx, profile, status)
	if apierrors.IsConflict(err) {
		// What was computed from an old version is computed again; a change of its labels alone would not wake us.
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// report applies the whole intent, with the resourceVersion and the uid that it was computed from.
func (r *Reconciler) report(ctx context.Context, profile *ucv1.ProviderProfile, status ucv1.ProviderProfileStatus) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "ProviderProfile", "status": content,
	}}
	object.SetName(profile.Name)
	object.SetUID(profile.UID)
	object.SetResourceVersion(profile.ResourceVersion)
	return r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
}
