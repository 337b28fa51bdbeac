package cluster

import (
	"cmp"
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// managementObserver reads what is beside the Cluster in the management cluster.
type managementObserver struct {
	client                  client.Reader
	live                    client.Reader
	catalogue               *provider.Catalogue
	requireCloudConfigLabel bool
	own                     ownObjects
}

// observeManagement reads what is in the namespace of the Cluster, and renders the addons from it.
func (o *Observer) observeManagement(ctx context.Context, s *scope) {
	o.management.observeBaseline(ctx, s)
	if profile, found := o.management.observeProvider(ctx, s); found {
		s.identity = profile.Identity()
		s.cloudConfig = o.management.observeCloudConfig(ctx, s, profile)
		o.renderer.render(s, profile, s.cloudConfig)
	}
}

// observeProvider reads what the catalogue and the ProviderProfile say, from the cache.
func (m *managementObserver) observeProvider(ctx context.Context, s *scope) (profile provider.Profile, found bool) {
	name := s.Cluster.Spec.Cloud.ProviderName
	if profile, found = m.catalogue.Lookup(name); !found {
		s.Observed.UnknownProvider = m.catalogue.Unknown(name)
		s.Observed.Provider = observation.Absent[observation.Provider]()
		return profile, false
	}
	facts, _ := m.catalogue.Facts(name, s.Cluster.Spec.Version)
	s.Observed.Provider = m.observeProfile(ctx, s, facts)
	return profile, true
}

// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=providerprofiles,verbs=get;list;watch

// observeProfile reads the ProviderProfile that is laid over the provider, from the cache. The provider is what both of
// them say, so it is not known while there may be a profile that could not be read.
func (m *managementObserver) observeProfile(
	ctx context.Context,
	s *scope,
	facts observation.Provider,
) observation.Observed[observation.Provider] {
	profile := &ucv1.ProviderProfile{}
	err := m.client.Get(ctx, client.ObjectKey{Name: facts.Name}, profile)
	switch {
	case apierrors.IsNotFound(err), err == nil && !profile.Used():
		return observation.Known(facts)
	case err != nil:
		s.profileProblem = "ProviderProfile " + facts.Name + " could not be read: " + err.Error()
		return observation.Unknown[observation.Provider](s.profileProblem)
	}
	if problems := m.catalogue.OverlayProblems(profile.Spec); len(problems) > 0 {
		s.profileProblem = profileUnusable(facts.Name, problems)
		facts.ProfileProblem = s.profileProblem
		return observation.Known(facts)
	}
	s.profile = &profile.Spec
	return observation.Known(facts)
}

func profileUnusable(name string, problems []string) string {
	return "ProviderProfile " + name + " cannot be used, and nothing of it is applied: " + strings.Join(problems, " ") +
		" Fix it, or delete it to have what is built in."
}

// observeCloudConfig keeps the values out of the observation: deciding needs the problem only.
func (m *managementObserver) observeCloudConfig(ctx context.Context, s *scope, profile provider.Profile) map[string][]byte {
	key := client.ObjectKey{Namespace: s.Cluster.Namespace, Name: s.Cluster.Spec.Cloud.ConfigSecretRef.Name}
	read := readOwn(ctx, m, s.Now, &m.own.of(s.Cluster).cloudConfig, key, mostForeign)
	seen, known := read.Get()
	if !known {
		s.Observed.CloudConfig = observation.Unknown[observation.CloudConfig](read.Why())
		if read.IsAbsent() {
			s.Observed.CloudConfig = observation.Absent[observation.CloudConfig]()
		}
		return nil
	}
	secret := &seen
	config := observation.CloudConfig{
		Ref:     observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)},
		Version: secret.ResourceVersion,
		Problem: cmp.Or(credentialOfTheManagementCluster(secret.Type), m.unlabeled(secret),
			provider.CloudConfigProblem(profile, secret.Data, s.Cluster.CCMInControlPlane())),
	}
	if config.Problem == "" {
		config.Changed = provider.ChangedSettings(profile, s.Cluster.Spec.Version, secret.Data)
	}
	s.Observed.CloudConfig = observation.Known(config)
	return secret.Data
}

// credentialOfTheManagementCluster is what is wrong with a Secret that Kubernetes itself authenticates callers by. Who may write
// a Cluster can name Secrets that he may not read, and what is named here is carried into a user cluster.
func credentialOfTheManagementCluster(kind corev1.SecretType) string {
	if kind == corev1.SecretTypeServiceAccountToken || kind == corev1.SecretTypeBootstrapToken {
		return "its type is " + string(kind) + ", a credential of the management cluster that is never copied into a user cluster; " +
			"name a Secret with the cloud configuration"
	}
	return ""
}

// unlabeled is what is wrong with a Secret whose writer does not say that it is for a user cluster, where the operator wants
// that.
func (m *managementObserver) unlabeled(secret *corev1.Secret) string {
	if !m.requireCloudConfigLabel || secret.Type == ucv1.CloudConfigSecretType || secret.Labels[ucv1.CloudConfigLabel] == "true" {
		return ""
	}
	return "it does not say that it is a cloud configuration; who may write it sets label " + ucv1.CloudConfigLabel + ": \"true\""
}

// observeBaseline reads the Secret with the inventory before the hand-over, and with the proofs of kubelets that pass.
func (m *managementObserver) observeBaseline(ctx context.Context, s *scope) {
	s.Observed.Baseline, s.Observed.Proofs = observation.Absent[observation.Inventory](),
		observation.Absent[observation.KeptProofs]()
	taken := s.Cluster.Status.Baseline
	if taken == nil {
		return
	}
	key := client.ObjectKey{Namespace: s.Cluster.Namespace, Name: taken.SecretName}
	read := readOwn(ctx, m, s.Now, &m.own.of(s.Cluster).baseline, key, kept.MostAge)
	secret, known := read.Get()
	if !known {
		if read.IsUnknown() {
			s.Observed.Baseline = observation.Unknown[observation.Inventory](read.Why())
			s.Observed.Proofs = observation.Unknown[observation.KeptProofs](read.Why())
		}
		return
	}
	s.Observed.Proofs = observation.Known(observation.KeptProofs{
		Secret:  observation.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name, UID: string(secret.UID)},
		Version: secret.ResourceVersion, ByNode: baseline.DecodeProofs(secret.Data[baseline.ProofsKey]),
	})
	inventory, err := baseline.Decode(secret.Data)
	if err != nil {
		// A baseline that cannot be read is not the one that was taken: its digest says so.
		inventory = observation.Inventory{Volumes: []observation.Volume{{Name: err.Error()}}}
	}
	s.Observed.Baseline = observation.Known(inventory)
}

func (m *managementObserver) readInventory(ctx context.Context, s *scope) ([]addons.InventoryEntry, error) {
	key := client.ObjectKey{Namespace: s.Cluster.Namespace, Name: inventoryName(s.Cluster)}
	read := readOwn(ctx, m, s.Now, &m.own.of(s.Cluster).inventory, key, kept.MostAge)
	if read.IsUnknown() {
		return nil, errors.New(read.Why())
	}
	configMap := read.Value()
	return addons.DecodeInventory([]byte(configMap.Data[inventoryKey]))
}
