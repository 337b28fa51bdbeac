package facts

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// rightsNeeded are those that a migration would miss only when it is under way: to open the fence, to replace Machines, and to
// see what became of a volume.
func rightsNeeded(id manifest.Identity, machines []authorizationv1.ResourceAttributes) []authorizationv1.ResourceAttributes {
	needed := append(slices.Clone(machines), []authorizationv1.ResourceAttributes{
		{Group: "storage.k8s.io", Resource: "csinodes", Verb: "list"},
		{Resource: "persistentvolumeclaims", Verb: "get"},
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: id.LeaseNamespace, Name: id.LeaseName, Verb: "get"},
		{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Verb: "create"},
	}...)
	if id.LeaseName == "" {
		return needed // The provider is not known, which is a finding of its own.
	}
	for _, object := range render.FenceObjects(id) {
		for _, verb := range []string{"create", "patch", "delete"} {
			needed = append(needed, authorizationv1.ResourceAttributes{
				Group: object.GroupVersionKind().Group, Resource: strings.ToLower(object.GetKind()) + "s", Verb: verb,
				Namespace: object.GetNamespace(), Name: object.GetName(),
			})
		}
	}
	return needed
}

// denied are the rights that our own credentials lack.
func (p *Preflight) denied(ctx context.Context, id manifest.Identity) observation.Observed[[]string] {
	denied := []string{}
	for _, attributes := range rightsNeeded(id, p.rights) {
		review := &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
		}
		if err := p.client.Create(ctx, review); err != nil {
			return observation.Unknown[[]string](reads.Because("asking whether we may "+attributes.Verb+" "+attributes.Resource, err))
		}
		if !review.Status.Allowed {
			denied = append(denied, strings.TrimSpace(attributes.Verb+" "+attributes.Resource+" "+
				strings.Trim(attributes.Namespace+"/"+attributes.Name, "/")))
		}
	}
	slices.Sort(denied)
	return observation.Known(denied)
}

// server asks the API server for its version, and for the time on the way: every answer of it has a date.
func (p *Preflight) server(ctx context.Context) observation.Observed[preflight.Server] {
	answered := p.network.version(ctx, p.clock)
	answer, known := answered.Get()
	if !known {
		return observation.Unknown[preflight.Server](answered.Why())
	}
	date, err := http.ParseTime(answer.header.Get("Date"))
	if err != nil {
		return observation.Unknown[preflight.Server](readingVersion + ": its answer has no date")
	}
	// The date has whole seconds: on average it is half of one too early.
	return observation.Known(preflight.Server{Version: answer.version, Skew: date.Add(time.Second / 2).Sub(answer.between)})
}
