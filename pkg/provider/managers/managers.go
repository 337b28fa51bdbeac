package managers

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	// Most programs of providers, in the catalogue or not, are called so, with the provider's name before it.
	managerProgram     = "cloud-controller-manager"
	nodeManagerProgram = "cloud-node-manager"
	// formerVSphereImage is what the image of vSphere's was called before it moved to registry.k8s.io: its last element alone says
	// nothing
	// (https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.28.0/releases/v1.28/vsphere-cloud-controller-manager.yaml).
	formerVSphereImage = "cpi/release/manager"
)

// Manager is what a pod was recognized as: a cloud-controller-manager, whoever made it.
type Manager struct {
	// KnownBy says by what, for people.
	KnownBy string
	// NodesOnly says that its program has the loop cloud-node only, and elects no leader.
	NodesOnly bool
	// Container that runs it.
	Container *corev1.Container
}

// Recognize says whether such pods are a cloud-controller-manager, of any provider: by the last element of an image's
// name, so that mirrors count, by the program that is started, by its arguments, or by what its labels call it.
//
// programs are the images of all CCMs of the catalogue, as contents.Contents has them.
func Recognize(programs map[string]bool, labels map[string]string, pod *corev1.PodSpec) (Manager, bool) {
	for i := range pod.Containers {
		if manager := recognize(programs, &pod.Containers[i]); manager.Container != nil {
			return manager, true
		}
	}
	for _, key := range []string{"app.kubernetes.io/name", "app.kubernetes.io/component", "k8s-app", "app", "component"} {
		if strings.HasSuffix(labels[key], managerProgram) && len(pod.Containers) > 0 {
			return Manager{"label " + key + "=" + labels[key], false, &pod.Containers[0]}, true
		}
	}
	return Manager{}, false
}

// recognize a container; without one in what it returns it is none.
func recognize(programs map[string]bool, container *corev1.Container) Manager {
	image, command := manifest.ImageName(container.Image), executable(container)
	nodesOnly, ours := programs[image]
	switch {
	case ours || isManager(image) || strings.HasSuffix(manifest.ContainerImage(container).Repository, formerVSphereImage):
		return Manager{"image " + image, nodesOnly || strings.HasSuffix(image, nodeManagerProgram), container}
	case isManager(command):
		return Manager{"command " + command, strings.HasSuffix(command, nodeManagerProgram), container}
	case image == kcmProgram || command == kcmProgram:
		return Manager{}
	}
	if known := knownByArguments(container); known != "" {
		return Manager{known, false, container}
	}
	return Manager{}
}

const kcmProgram = "kube-controller-manager"

func isManager(program string) bool {
	return strings.HasSuffix(program, managerProgram) || strings.HasSuffix(program, nodeManagerProgram)
}

// executable is the program that a container starts, also by a shell; empty where its image decides.
func executable(container *corev1.Container) string {
	words := slices.Concat(container.Command, container.Args)
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return ""
	}
	name := path.Base(words[0])
	if !slices.Contains([]string{"sh", "ash", "bash", "dash", "busybox"}, name) {
		return name
	}
	for _, script := range words[1:] {
		before := ""
		for word := range strings.FieldsSeq(script) {
			if program := path.Base(word); isManager(program) && (strings.Contains(word, "/") || before == "exec") &&
				!strings.HasPrefix(word, "-") {
				return program
			}
			before = word
		}
	}
	return name
}

// knownByArguments: --cloud-provider alone says little, and so does leader election beside it: the cluster-autoscaler has
// both. The other flags are those that only the two managers have.
func knownByArguments(container *corev1.Container) string {
	words := slices.Concat(container.Command, container.Args)
	isKCM := func(word string) bool {
		return path.Base(word) == kcmProgram || path.Base(word) == "controller-manager"
	}
	flags := manifest.FlagsOf(*container)
	if !flags["cloud-provider"] || slices.ContainsFunc(words, isKCM) || flags["service-account-private-key-file"] {
		return ""
	}
	for _, flag := range []string{"controllers", "configure-cloud-routes", "concurrent-service-syncs",
		"route-reconciliation-period"} {
		if flags[flag] {
			return "arguments --cloud-provider and --" + flag
		}
	}
	return ""
}
