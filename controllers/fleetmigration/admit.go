package fleetmigration

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// claimsAtOnce bounds the claims of a pass: a commit may flip thousands, and a claim is in no hurry.
const claimsAtOnce = 20

var errOlderDefinition = errors.New("the CustomResourceDefinition of FleetMigrations dropped status.admitting: " +
	"apply the one of this release")

// admit writes the admission of each Cluster that is to have another one.
func (p *pass) admit(ctx context.Context) {
	claims := 0
	for i := range p.plan.Members {
		m, planned := &p.seen.Members[i], &p.plan.Members[i]
		wanted := planned.Admission(p.plan, m, p.now)
		if wanted == nil || p.keptBack(wanted) {
			continue
		}
		if wanted.State == ucv1.AdmissionQueued {
			if claims++; claims > claimsAtOnce {
				p.lookAfter(time.Second)
				continue
			}
		}
		err := p.write(ctx, &p.seen.clusters[i], *wanted, planned.SetFeature)
		switch {
		case err == nil || apierrors.IsNotFound(err):
		case apierrors.IsConflict(err):
			p.lookAfter(settles) // The cache will have the newer version.
		default:
			p.lookAfter(retries)
			log.FromContext(ctx).Error(err, "The admission of a Cluster could not be written", "cluster", m.String())
		}
	}
}

// keptBack says that what was decided may not be written, because it does not stand in the status of its FleetMigration. A roll
// is held all the same, unless the decision is older than the FleetMigration: that starts no Cluster, and a halt must not wait.
func (p *pass) keptBack(wanted *ucv1.AdmissionStatus) bool {
	err, holds := p.refused[wanted.UID], wanted.Directive == ucv1.DirectiveHoldRoll
	return err != nil && (!holds || apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// write the admission, after the feature where that is set with it, which is after the claim: a Cluster that is claimed does not
// start because of the feature alone, whatever becomes of its FleetMigration. The version makes sure that it did not start, and
// was claimed by no one else, meanwhile.
func (p *pass) write(ctx context.Context, cluster *ucv1.Cluster, wanted ucv1.AdmissionStatus, setFeature bool) error {
	var err error
	version := cluster.ResourceVersion
	if setFeature && !cluster.ExternalCloudProvider() {
		if cluster.Status.Admission == nil {
			claim := wanted
			claim.State, claim.AdmittedAt, claim.Directive = ucv1.AdmissionQueued, nil, ""
			if version, err = p.writeAdmission(ctx, cluster, version, claim); err != nil {
				return err
			}
		}
		if version, err = p.writeFeature(ctx, cluster, version, wanted.FleetMigration); err != nil {
			return err
		}
	}
	_, err = p.writeAdmission(ctx, cluster, version, wanted)
	return err
}

// writeFeature returns the version that the Cluster has then.
func (p *pass) writeFeature(ctx context.Context, cluster *ucv1.Cluster, version, fleetMigration string) (string, error) {
	object := applied(cluster, version, "spec", map[string]any{"features": map[string]any{"externalCloudProvider": true}})
	err := p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FleetFieldManager))
	if apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		p.Recorder.Eventf(cluster, nil, corev1.EventTypeWarning, ucv1.FeatureOwnedElsewhereReason, "Admit",
			"FleetMigration %s could not set spec.features.externalCloudProvider. Take the field out of what applies the Cluster.",
			fleetMigration)
	}
	return object.GetResourceVersion(), err
}

// writeAdmission returns the version that the Cluster has then.
func (p *pass) writeAdmission(ctx context.Context, c *ucv1.Cluster, version string, wanted ucv1.AdmissionStatus) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&wanted)
	if err != nil {
		return "", err
	}
	object := applied(c, version, "status", map[string]any{"admission": content})
	err = p.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.FleetFieldManager), client.ForceOwnership)
	return object.GetResourceVersion(), err
}

func applied(cluster *ucv1.Cluster, version, field string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster", field: content,
	}}
	object.SetNamespace(cluster.Namespace)
	object.SetName(cluster.Name)
	object.SetUID(cluster.UID)
	object.SetResourceVersion(version)
	return object
}
