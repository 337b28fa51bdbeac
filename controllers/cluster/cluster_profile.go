package cluster

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=providerprofiles,verbs=get;list;watch

// observeProfile reads the ProviderProfile that is laid over the provider, from the cache. The provider is what both of
// them say, so it is not known while there may be a profile that could not be read.
func (o *Observer) observeProfile(ctx context.Context, s *scope, facts observation.Provider) observation.Observed[observation.Provider] {
	profile := &ucv1.ProviderProfile{}
	err := o.client.Get(ctx, client.ObjectKey{Name: facts.Name}, profile)
	switch {
	case apierrors.IsNotFound(err), err == nil && !profile.Used():
		return observation.Known(facts)
	case err != nil:
		s.profileProblem = "ProviderProfile " + facts.Name + " could not be read: " + err.Error()
		return observation.Unknown[observation.Provider](s.profileProblem)
	}
	if problems := o.catalogue.OverlayProblems(profile.Spec); len(problems) > 0 {
		s.profileProblem = profileUnusable(facts.Name, problems)
		facts.ProfileProblem = s.profileProblem
		return observation.Known(facts)
	}
	s.profile = &profile.Spec
	return observation.Known(facts)
}

// overlaid are the addons with the profile, if there is one.
func (o *Observer) overlaid(s *scope, addons provider.Addons) (provider.Addons, error) {
	if s.profile == nil {
		return addons, nil
	}
	made, problems := o.catalogue.Overlay(addons, *s.profile, s.cluster.Spec.Version)
	if len(problems) > 0 {
		return provider.Addons{}, errors.New(profileUnusable(s.profile.ProviderName, problems))
	}
	return made, nil
}

func profileUnusable(name string, problems []string) string {
	return "ProviderProfile " + name + " cannot be used, and nothing of it is applied: " + strings.Join(problems, " ") +
		" Fix it, or delete it to have what is built in."
}
