package provider_test

import (
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// cumulus is a provider that exists only here: what docs/adding-a-provider.md asks for is enough to pass every test of the
// catalogue.
type cumulus struct{}

const cumulusName, cumulusDriver, cumulusMinor = "cumulus", "csi.cumulus.example.com", 30

// The catalogues of the tests are made once: what one has to read of its providers takes a while, and nothing changes it.
var (
	builtIn       = sync.OnceValue(provider.New)
	everyProvider = sync.OnceValue(func() *provider.Catalogue { return provider.New().With(cumulusName, cumulus{}) })
)

func (cumulus) Describe() manifest.Description {
	return manifest.Description{
		Title: "Cumulus", ProviderID: "^cumulus://[0-9]+$", NodeNames: "The machine has the Node's name.",
		LoadBalancers: "They are named after the Service's UID.",
		Keys:          []manifest.Key{{Name: "token", Required: true, Text: "The token of the project."}},
		Rules: []manifest.VersionRule{
			{
				Operations: []manifest.Operation{manifest.Migrate},
				Reason:     "Cumulus was never a part of Kubernetes.",
				Link:       "https://cumulus.example.com/",
			},
		},
	}
}

func (cumulus) Release(version string) (manifest.Release, error) {
	switch minor, err := manifest.Minor(version); {
	case err != nil:
		return manifest.Release{}, err
	case minor != cumulusMinor:
		return manifest.Release{}, fmt.Errorf(
			"there is no Cumulus cloud-controller-manager for Kubernetes 1.%d: upgrade to 1.30",
			minor,
		)
	}
	return manifest.Release{CCM: "v1.0.0", CSI: "v2.0.0"}, nil
}

func (p cumulus) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name: cumulusName, ProviderIDPrefix: "cumulus://", CSIDrivers: []string{cumulusDriver},
	}
	if _, err := p.Release(version); err != nil {
		facts.VersionProblem = err.Error()
	}
	return facts
}

func (cumulus) Example() map[string][]byte { return map[string][]byte{"token": []byte("example-only")} }

func (cumulus) CloudConfigProblem(data map[string][]byte) string {
	if len(data["token"]) == 0 {
		return "it lacks token: add the token of the project"
	}
	return ""
}

func (cumulus) Identity() manifest.Identity {
	return manifest.Identity{
		ServiceAccountNamespace: manifest.Namespace, ServiceAccountName: "cloud-controller-manager",
		LeaseNamespace: manifest.Namespace, LeaseName: "cloud-controller-manager",
	}
}

func (p cumulus) Render(in manifest.RenderInput) (manifest.Addons, error) {
	release, err := p.Release(in.Version)
	if problem := p.CloudConfigProblem(in.CloudConfig); err == nil && problem != "" {
		err = errors.New(problem)
	}
	made := manifest.Addons{}
	if err == nil {
		made.CCM, err = p.ccm(in, release).Set(in, release.CCM)
	}
	if err == nil {
		made.CSI, err = p.csi(release).Set(in, release.CSI)
	}
	return made, err
}

func (p cumulus) ccm(in manifest.RenderInput, release manifest.Release) manifest.CCM {
	const name, secret = "cumulus-cloud-controller-manager", "cumulus"
	return manifest.CCM{
		Provider: cumulusName, Name: name, Identity: p.Identity(), Image: manifest.ImageOf("registry.example.com/"+name, release.CCM),
		LibraryMinor: cumulusMinor, User: 65532, Env: []corev1.EnvVar{manifest.SecretEnv("TOKEN", secret, "token")},
		Secrets: []manifest.Secret{{Name: secret, Data: in.CloudConfig}},
	}
}

func (p cumulus) csi(release manifest.Release) manifest.CSI {
	plugin := manifest.Plugin{
		Container: "cumulus-csi", Image: manifest.ImageOf("registry.example.com/cumulus-csi", release.CSI), User: 65532,
		Arguments: []string{"--endpoint=" + manifest.Endpoint},
	}
	controller, node := plugin, plugin
	controller.Name, node.Name = "cumulus-csi-controller", "cumulus-csi-node"
	return manifest.CSI{
		Provider:   cumulusName,
		Controller: controller,
		Node:       node,
		Driver: &storagev1.CSIDriver{
			ObjectMeta: metav1.ObjectMeta{Name: cumulusDriver},
			Spec:       storagev1.CSIDriverSpec{AttachRequired: new(true)},
		},
		Sidecars: manifest.Sidecars{
			Attacher: manifest.Sidecar{Tag: "v4.11.0"}, Provisioner: manifest.Sidecar{Tag: "v6.2.0"},
			LivenessProbe: manifest.Sidecar{Tag: "v2.18.0"}, Registrar: manifest.Sidecar{Tag: "v2.16.0"},
		},
	}
}
