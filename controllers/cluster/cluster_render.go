package cluster

import (
	"cmp"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// render makes the addons that the user cluster is compared with, from what was observed in the management cluster. Before the start
// there is nothing that a CCM would inherit, and nothing is rendered.
func (o *Observer) render(s *scope, profile provider.Profile, cloudConfig map[string][]byte) {
	if s.cluster.Status.Inherited == nil {
		return
	}
	if s.renderProblem = cmp.Or(s.profileProblem, s.cloudConfigProblem()); s.renderProblem != "" {
		return
	}
	addons, err := o.rendered(s, profile, cloudConfig)
	if err != nil {
		s.renderProblem = err.Error()
		return
	}
	addons.CCM.WorkloadWithheld = s.needs().WithholdWorkload
	addons.CCM.Withdrawn = s.needs().WithdrawAddons
	addons.CSI.Withdrawn = addons.CCM.Withdrawn
	s.addons = addons
}

// rendered: the profile comes before the probe is made and the CCM gets the lock, which go on with what it made of the CCM; the place
// comes last, because nothing else needs to know it.
func (o *Observer) rendered(s *scope, profile provider.Profile, cloudConfig map[string][]byte) (provider.Addons, error) {
	none, needs := provider.Addons{}, s.needs()
	addons, err := profile.Render(provider.RenderInput{
		Version: s.cluster.Spec.Version, Inherited: *s.cluster.Status.Inherited, CloudConfig: cloudConfig, ClusterUID: migration.ClusterUID(s.cluster),
	})
	if err != nil {
		return none, err
	}
	if addons, err = o.overlaid(s, addons); err != nil {
		return none, err
	}
	if needs.WithholdCloudNode {
		if addons.CCM, err = provider.WithoutCloudNode(addons.CCM, s.identity); err != nil {
			return none, err
		}
	}
	if addons.Probe, err = provider.Probe(addons.CCM, s.identity); err != nil {
		return none, err
	}
	if addons.CCM, err = o.withLock(s, addons.CCM); err != nil {
		return none, err
	}
	if addons, err = s.placed(addons); err != nil {
		return none, err
	}
	if needs.NodeAgents {
		addons.CCM = addons.WithNodes()
	}
	return addons, nil
}

// cloudConfigProblem names the Secret without which nothing is rendered; empty when it can be used.
func (s *scope) cloudConfigProblem() string {
	config := s.observed.CloudConfig
	secret := "Secret " + s.cluster.Namespace + "/" + s.cluster.Spec.Cloud.ConfigSecretRef.Name
	switch {
	case config.IsAbsent():
		return secret + " with the cloud configuration does not exist; create it"
	case !config.IsKnown():
		return secret + ": " + config.Why()
	case config.Value().Problem != "":
		return secret + ": " + config.Value().Problem
	}
	return ""
}
