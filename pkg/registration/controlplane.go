package registration

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Platform is who made the control planes.
type Platform string

// The platforms whose user clusters can be proposed.
const (
	KKP         Platform = "kkp"
	KubeOne     Platform = "kubeone"
	Gardener    Platform = "gardener"
	Deployments Platform = "deployments"
)

// The programs of a control plane.
const (
	controllerManager = "kube-controller-manager"
	apiServer         = "kube-apiserver"
	scheduler         = "kube-scheduler"
)

// Told is what an object of the platform says of a user cluster.
type Told struct {
	// Object that says it, for people.
	Object string
	// Name of the user cluster.
	Name string
	// Version of Kubernetes and Provider, with the fields that they are from.
	Version, VersionField, Provider, ProviderField string
	// External says why there is nothing to migrate, where the platform's own switch is on.
	External string
	// NoOperatingSystemManager is the field that says that there is none; empty: no field does.
	NoOperatingSystemManager string
	// Paused says that the platform does not reconcile the control plane at present.
	Paused bool
}

// Namespace is what was read of one namespace of the management cluster.
type Namespace struct {
	Name        string
	Deployments []appsv1.Deployment
	// Told is absent where the platform has no such object.
	Told observation.Observed[Told]
}

// ControlPlane is what runs for one user cluster.
type ControlPlane struct {
	platform  Platform
	namespace Namespace
	told      Told
	// alone says that no other control plane is in the namespace.
	alone     bool
	kcm       *appsv1.Deployment
	container *corev1.Container
	arguments observation.Arguments
	name      Field
}

// Relevant says whether a Deployment has a part in a proposal.
func Relevant(deployment *appsv1.Deployment) bool {
	for _, program := range []string{controllerManager, apiServer, scheduler} {
		if controlplane.ContainerRunning(deployment, program) != "" {
			return true
		}
	}
	return slices.ContainsFunc(machinePrograms(), func(p machineProgram) bool { return p.is(deployment) })
}

// Find the control planes in a namespace: one for each Deployment that runs kube-controller-manager.
func Find(platform Platform, namespace Namespace) []ControlPlane {
	var planes []ControlPlane
	for i := range namespace.Deployments {
		deployment := &namespace.Deployments[i]
		container := managerIn(deployment)
		if container == nil {
			continue
		}
		planes = append(planes, ControlPlane{
			platform: platform, namespace: namespace, told: namespace.Told.Value(), kcm: deployment, container: container,
			arguments: controlplane.ParseArguments(container),
		})
	}
	for i := range planes {
		planes[i].alone = len(planes) == 1
		planes[i].name = planes[i].nameField()
	}
	return planes
}

// managerIn is the container that is KCM. Labels such as component=controller-manager stand on many programs, so a container that
// does not name what it runs has to be called KCM, or to have KCM's image.
func managerIn(deployment *appsv1.Deployment) *corev1.Container {
	name := controlplane.ContainerRunning(deployment, controllerManager)
	containers := deployment.Spec.Template.Spec.Containers
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return name != "" && c.Name == name })
	if at < 0 {
		return nil
	}
	container := &containers[at]
	called := container.Name == controllerManager || imageName(container.Image) == controllerManager
	if controlplane.Executable(container) == "" && !called {
		return nil
	}
	return container
}

// imageName is the last part of an image's repository.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// imageVersion is the version of Kubernetes that an image's tag is; empty: it is none.
func imageVersion(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return asVersion(tag)
}

// asVersion is a version as spec.version takes it; empty: it is none.
func asVersion(text string) string {
	text = strings.TrimPrefix(text, "v")
	if !regexp.MustCompile(`^1\.[0-9]+\.[0-9]+$`).MatchString(text) {
		return ""
	}
	return text
}

// subject is the Deployment of KCM.
func (p ControlPlane) subject() string { return "Deployment " + p.namespace.Name + "/" + p.kcm.Name }

// where names KCM's container.
func (p ControlPlane) where() string {
	return "container " + p.container.Name + " of Deployment " + p.kcm.Name
}

func (p ControlPlane) nameField() Field {
	field := Field{Path: "metadata.name", Check: "You may choose another name. It never changes."}
	owner := metav1.GetControllerOf(p.kcm)
	switch {
	case p.told.Name != "":
		field.Value, field.From = p.told.Name, "metadata.name of "+p.told.Object+"."
	case owner != nil && owner.Kind == "TenantControlPlane":
		field.Value, field.From = owner.Name, "TenantControlPlane "+owner.Name+", which controls Deployment "+p.kcm.Name+"."
	case p.platform == Gardener:
		// A project's name has no two dashes in a row, so what follows the last ones is the shoot's.
		parts := strings.Split(p.namespace.Name, "--")
		field.Value, field.From = parts[len(parts)-1], "the name of the namespace, shoot--PROJECT--NAME."
	case p.platform == KKP:
		field.Value, field.From = strings.TrimPrefix(p.namespace.Name, kkpPrefix), "the name of the namespace, cluster-NAME."
	case p.alone:
		field.Value, field.From = p.namespace.Name, "chosen: the name of the namespace."
	default:
		field.Value = p.kcm.Name
		if prefix, has := strings.CutSuffix(p.kcm.Name, "-"+controllerManager); has && prefix != "" {
			field.Value = prefix
		}
		field.From = "chosen: the name of Deployment " + p.kcm.Name + ", because the namespace has several control planes."
	}
	return field
}

// Name of the proposed Cluster.
func (p ControlPlane) Name() string {
	name, _ := p.name.Value.(string)
	return name
}

// versionField prefers what the platform says: an image's tag is a name that anyone may choose.
func (p ControlPlane) versionField() Field {
	field, image := Field{Path: "spec.version"}, imageVersion(p.container.Image)
	told := asVersion(p.told.Version)
	switch {
	case told != "":
		field.Value, field.From = told, p.told.VersionField+" of "+p.told.Object+"."
		if image != "" && image != told {
			field.Check = "The image of " + p.where() + " is of " + image + ". Wait for the end of an upgrade."
		}
	case image != "":
		field.Value, field.From = image, "the tag of the image of "+p.where()+"."
		field.Check = "kubectl version of the user cluster says the same."
	default:
		field.From = "the image of " + p.where() + " has no tag that is a version of Kubernetes."
		field.Check = "the version that kubectl version of the user cluster says, such as 1.25.16."
	}
	return field
}

// providerField is what KCM runs with. The second value says why there is nothing to propose.
func (p ControlPlane) providerField(providers Providers) (field Field, refused string) {
	field = Field{Path: "spec.cloud.providerName"}
	told := providers.named(p.told.Provider)
	if !p.arguments.Understood() {
		field.From = "the arguments of KCM could not be read: " + p.arguments.Problem + "."
		field.Check = "the provider that KCM runs with. The controller cannot read the arguments either, so correct them first."
		if told != "" && providers.Unknown(told) == "" {
			field.Value, field.From = told, p.told.ProviderField+" of "+p.told.Object+"."
			field.Check = "The arguments of KCM could not be read, and finding ControlPlane will say so: " + p.arguments.Problem + "."
		}
		return field, ""
	}
	flag, _ := p.arguments.Flag("cloud-provider")
	if refused := p.noLoops(flag); refused != "" {
		return field, refused
	}
	name, known := providers.InTree[flag]
	if !known {
		never := p.where() + " runs --cloud-provider=" + flag + ", which never was in-tree."
		return field, cmp.Or(providers.Unknown(flag), never)
	}
	if told != "" && told != name {
		field.From = p.where() + " runs --cloud-provider=" + flag + ", but " + p.told.ProviderField + " of " + p.told.Object + " is " +
			p.told.Provider + "."
		field.Check = "the provider that is right. It is immutable."
		return field, ""
	}
	field.Value, field.From = name, "--cloud-provider="+flag+" of "+p.where()+"."
	field.Check = "It is immutable."
	return field, ""
}

// noLoops says why KCM has no cloud loops that could be handed over.
func (p ControlPlane) noLoops(flag string) string {
	switch {
	case flag == "":
		return p.where() + " has no --cloud-provider: there is no in-tree provider to migrate from."
	case flag == "external":
		return p.where() + " runs --cloud-provider=external already: there is nothing to migrate."
	case len(p.arguments.CloudLoops()) == 0:
		return p.where() + " runs no cloud loops of --cloud-provider=" + flag + ", by --controllers: someone else has begun to hand " +
			"them over."
	}
	return ""
}
