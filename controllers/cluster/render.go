package cluster

import (
	"cmp"
	"errors"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// renderer makes what the user cluster is compared with.
type renderer struct {
	catalogue *provider.Catalogue
}

// render makes the addons that the user cluster is compared with, from what was observed in the management cluster. Before the
// start there is nothing that a CCM would inherit, and nothing is rendered.
func (r renderer) render(s *scope, profile provider.Profile, cloudConfig map[string][]byte) {
	if s.Cluster.Status.Inherited == nil {
		return
	}
	if s.renderProblem = cmp.Or(s.profileProblem, s.cloudConfigProblem()); s.renderProblem != "" {
		return
	}
	addons, err := r.rendered(s, profile, cloudConfig)
	if err != nil {
		s.renderProblem = err.Error()
		return
	}
	addons.CCM.WorkloadWithheld = s.needs().WithholdWorkload
	addons.CCM.Withdrawn = s.needs().WithdrawAddons
	addons.CSI.Withdrawn = addons.CCM.Withdrawn
	s.addons = addons
}

// rendered: the profile comes before the probe is made and the CCM gets the lock, which go on with what it made of the CCM; the
// place comes last, because nothing else needs to know it.
func (r renderer) rendered(s *scope, profile provider.Profile, cloudConfig map[string][]byte) (manifest.Addons, error) {
	none, needs := manifest.Addons{}, s.needs()
	addons, err := profile.Render(manifest.RenderInput{
		Version:     s.Cluster.Spec.Version,
		Inherited:   *s.Cluster.Status.Inherited,
		CloudConfig: cloudConfig,
		ClusterUID:  migration.ClusterUID(s.Cluster),
	})
	if err != nil {
		return none, err
	}
	if addons, err = r.overlaid(s, addons); err != nil {
		return none, err
	}
	if needs.WithholdCloudNode {
		if addons.CCM, err = render.WithoutCloudNode(addons.CCM, s.identity); err != nil {
			return none, err
		}
	}
	if addons.Probe, err = render.Probe(addons.CCM, s.identity); err != nil {
		return none, err
	}
	if addons.CCM, err = s.withLock(addons.CCM); err != nil {
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

// overlaid are the addons with the profile, if there is one.
func (r renderer) overlaid(s *scope, addons manifest.Addons) (manifest.Addons, error) {
	if s.profile == nil {
		return addons, nil
	}
	made, problems := r.catalogue.Overlay(addons, *s.profile, s.Cluster.Spec.Version)
	if len(problems) > 0 {
		return manifest.Addons{}, errors.New(profileUnusable(s.profile.ProviderName, problems))
	}
	return made, nil
}

// withLock is the CCM with the lock, while it is to have that.
func (s *scope) withLock(ccm manifest.Set) (manifest.Set, error) {
	if !s.needs().Lock {
		return ccm, nil
	}
	configuration, problems := handover.RenderLock(s.Cluster, s.Observed.Provider.Value().InTreeName)
	if len(problems) > 0 {
		return manifest.Set{}, errors.New("render the migration lock: " + strings.Join(problems, " "))
	}
	return render.WithLock(ccm, s.identity, configuration)
}

// What a CCM beside the control plane consists of is deleted there, too. The role that allows it is its own:
// config/rbac/control_plane_placement_role.yaml.

// placed puts the CCM and its probe beside the control plane, where the Cluster wants that.
func (s *scope) placed(addons manifest.Addons) (manifest.Addons, error) {
	if !s.Cluster.CCMInControlPlane() {
		return addons, nil
	}
	if s.session == nil {
		return manifest.Addons{}, errors.New("the user cluster is not reachable: " + s.Observed.Connection.Message)
	}
	kubeconfig, err := s.session.KubeconfigWith(render.TokenFile)
	if err != nil {
		return manifest.Addons{}, err
	}
	place := render.Place{Namespace: s.Cluster.Namespace, Cluster: s.Cluster.Name, Kubeconfig: kubeconfig}
	for _, set := range []*manifest.Set{&addons.CCM, &addons.Probe} {
		if *set, err = place.Put(*set); err != nil {
			return manifest.Addons{}, err
		}
	}
	return addons, nil
}

// cloudConfigProblem names the Secret without which nothing is rendered; empty when it can be used.
func (s *scope) cloudConfigProblem() string {
	config := s.Observed.CloudConfig
	secret := "Secret " + s.Cluster.Namespace + "/" + s.Cluster.Spec.Cloud.ConfigSecretRef.Name
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
