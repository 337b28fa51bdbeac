package bed

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Follow is the administrator, who does what an instruction says, to the letter: in the manifest of its Node, or in its
// Deployment.
func (u *UserCluster) Follow(instruction ucv1.Instruction) error {
	if instruction.Node == "" {
		return u.followInDeployment(instruction)
	}
	return u.followOnNode(instruction)
}

func (u *UserCluster) followOnNode(instruction ucv1.Instruction) error {
	node, component := instruction.Node, instruction.Component
	isRun := slices.ContainsFunc(u.staticPods(), func(w workload) bool { return w.name == component })
	if !isRun || !slices.Contains(u.ControlPlaneNodes(), node) {
		return errors.New("there is no " + component + " on Node " + node)
	}
	u.bed.options.Progress(fmt.Sprintf("%s: the administrator edits the manifest of %s on Node %s", u.Options.Name, component, node))
	return u.editManifest(node, component, func(pod *corev1.Pod) error {
		return follow(&pod.Spec, instruction, func(file ucv1.InstructedFile) (corev1.VolumeSource, error) {
			onNode := filepath.Join(u.bed.Kubelet(u.Options.Name).NodeRoot(node), file.Path)
			if err := os.MkdirAll(filepath.Dir(onNode), 0o755); err != nil {
				return corev1.VolumeSource{}, err
			}
			source := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: filepath.Dir(file.Path)}}
			return source, os.WriteFile(onNode, []byte(file.Content), 0o600)
		})
	})
}

// followInDeployment puts files into ConfigMaps.
func (u *UserCluster) followInDeployment(instruction ucv1.Instruction) error {
	b, deployment := u.bed, &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: u.Namespace, Name: path.Base(instruction.Object)}
	if err := b.Client.Get(b.ctx, key, deployment); err != nil {
		return err
	}
	before := deployment.DeepCopy()
	err := follow(&deployment.Spec.Template.Spec, instruction, func(file ucv1.InstructedFile) (corev1.VolumeSource, error) {
		stored := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: "administrators-" + file.Volume},
			Data:       map[string]string{path.Base(file.Path): file.Content},
		}
		source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: stored.Name},
		}}
		return source, client.IgnoreAlreadyExists(b.Client.Create(b.ctx, stored))
	})
	if err != nil {
		return err
	}
	b.options.Progress(u.Options.Name + ": the administrator edits Deployment " + deployment.Name)
	return b.Client.Patch(b.ctx, deployment, client.MergeFrom(before))
}

// follow changes a pod: its command line, and the folders of files that it reads, or does not read any more. place says where the
// content of a file comes from.
func follow(
	pod *corev1.PodSpec, instruction ucv1.Instruction, place func(ucv1.InstructedFile) (corev1.VolumeSource, error),
) error {
	container := &pod.Containers[0]
	container.Command = followed(container.Command, instruction)
	for _, removed := range instruction.RemoveFiles {
		at := slices.IndexFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
			return mount.MountPath == filepath.Dir(removed)
		})
		if at < 0 {
			continue
		}
		name := container.VolumeMounts[at].Name
		pod.Volumes = slices.DeleteFunc(pod.Volumes, func(volume corev1.Volume) bool { return volume.Name == name })
		container.VolumeMounts = slices.Delete(container.VolumeMounts, at, at+1)
	}
	for _, file := range instruction.Files {
		source, err := place(file)
		if err != nil {
			return err
		}
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: file.Volume, VolumeSource: source})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: file.Volume, MountPath: filepath.Dir(file.Path), ReadOnly: true,
		})
	}
	return nil
}

// followed is the command line after the change.
func followed(command []string, instruction ucv1.Instruction) []string {
	name := func(argument string) string {
		flag, _, _ := strings.Cut(argument, "=")
		return flag
	}
	after := slices.DeleteFunc(
		slices.Clone(command),
		func(argument string) bool { return slices.Contains(instruction.Remove, name(argument)) },
	)
	for _, set := range instruction.Set {
		if at := slices.IndexFunc(after, func(argument string) bool { return name(argument) == name(set) }); at >= 0 {
			after[at] = set
		} else {
			after = append(after, set)
		}
	}
	return after
}
