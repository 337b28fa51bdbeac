package render

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Place is the namespace of a Cluster in the management cluster, where its hosted control plane is.
type Place struct {
	Namespace string
	// Cluster is its name, which the names of the objects begin with.
	Cluster string
	// Kubeconfig leads to the user cluster. Its only credential is TokenFile.
	Kubeconfig []byte
}

const (
	accessFolder  = "/etc/user-cluster"
	accessVolume  = "user-cluster"
	kubeconfigKey = "kubeconfig"
	tokenKey      = "token"
	// TokenFile is where pods beside the control plane have the token of their ServiceAccount.
	TokenFile = accessFolder + "/" + tokenKey
	// kubeconfigChecksum rolls the pods when the way into the user cluster changes; the token is read again by itself.
	kubeconfigChecksum = "ccm-migration.k8c.io/kubeconfig-checksum"
)

// Put moves a CCM, or its probe, beside the control plane: the Deployment and what its pods read. Its ServiceAccount and its
// rights stay in the user cluster, so that the fence, which is there, binds it as before. It comes last, after the profile
// was laid over the set and the CCM got the lock.
func (p Place) Put(ccm manifest.Set) (manifest.Set, error) {
	objects := make([]*unstructured.Unstructured, 0, len(ccm.Objects)+1)
	var access *manifest.Access
	for _, object := range ccm.Objects {
		object = object.DeepCopy()
		var err error
		switch object.GetKind() {
		case "Secret", "ConfigMap":
			p.move(object, p.read(object.GetName()))
		case "PodDisruptionBudget":
			err = p.budget(object)
		case "Deployment":
			access, err = p.deployment(object)
		}
		if err != nil {
			return manifest.Set{}, fmt.Errorf("put %s %s beside the control plane: %w", object.GetKind(), object.GetName(), err)
		}
		objects = append(objects, object)
	}
	if access == nil {
		return manifest.Set{}, errors.New("put the CCM beside the control plane: it has no Deployment")
	}
	partOf := ccm.Objects[0].GetLabels()[manifest.PartOfLabel]
	set := manifest.SetOf(partOf, ccm.Version, slices.Insert(objects, 0, p.kubeconfig(*access)))
	set.Access = access
	return set, nil
}

// move changes an object's metadata. Several Clusters may be in the namespace.
func (p Place) move(object *unstructured.Unstructured, name string) {
	object.SetNamespace(p.Namespace)
	object.SetName(name)
	object.SetLabels(
		map[string]string{manifest.PartOfLabel: object.GetLabels()[manifest.PartOfLabel], manifest.ClusterLabel: p.Label()},
	)
}

func (p Place) name(name string) string { return p.Cluster + "-" + name }

// read is the name of what pods read. The Secret that a Cluster's cloud configuration comes from may well have its name
// and that of the one in the catalogue.
func (p Place) read(name string) string { return p.name("ccm-" + name) }

// Label is the value of manifest.ClusterLabel: the Cluster's name, cut where that is longer than such a value may be.
func (p Place) Label() string {
	if len(p.Cluster) <= validation.LabelValueMaxLength {
		return p.Cluster
	}
	sum := sha256.Sum256([]byte(p.Cluster))
	return p.Cluster[:50] + "-" + hex.EncodeToString(sum[:6])
}

func (p Place) kubeconfig(access manifest.Access) *unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": string(corev1.SecretTypeOpaque),
		"data": map[string]any{kubeconfigKey: base64.StdEncoding.EncodeToString(p.Kubeconfig)},
	}}
	secret.SetNamespace(access.Secret.Namespace)
	secret.SetName(access.Secret.Name)
	secret.SetLabels(map[string]string{manifest.ClusterLabel: p.Label()})
	return secret
}

func (p Place) budget(object *unstructured.Unstructured) error {
	p.move(object, p.name(object.GetName()))
	budget := &policyv1.PodDisruptionBudget{}
	return changeTyped(object, budget, func() { p.mark(budget.Spec.Selector.MatchLabels) })
}

func (p Place) deployment(object *unstructured.Unstructured) (*manifest.Access, error) {
	secret := observation.Ref{Kind: "Secret", Namespace: p.Namespace, Name: p.name(object.GetName() + "-kubeconfig")}
	p.move(object, p.name(object.GetName()))
	object.SetAnnotations(nil)
	access := &manifest.Access{Secret: secret, Key: tokenKey}
	deployment := &appsv1.Deployment{}
	return access, changeTyped(object, deployment, func() {
		template := &deployment.Spec.Template
		access.Account = observation.Ref{
			Kind: "ServiceAccount", Namespace: manifest.Namespace, Name: template.Spec.ServiceAccountName,
		}
		p.mark(deployment.Spec.Selector.MatchLabels)
		p.mark(template.Labels)
		if template.Annotations == nil {
			template.Annotations = map[string]string{}
		}
		template.Annotations[kubeconfigChecksum] = manifest.Checksum(map[string][]byte{kubeconfigKey: p.Kubeconfig})
		p.pod(&template.Spec, secret.Name)
	})
}

func (p Place) mark(labels map[string]string) { labels[manifest.ClusterLabel] = p.Label() }

// pod is one like any other in the management cluster: what let it start on a Node of the user cluster that no one has
// initialized yet would only let it run where it should not.
func (p Place) pod(pod *corev1.PodSpec, secret string) {
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = "", new(false)
	pod.HostNetwork, pod.DNSPolicy, pod.EnableServiceLinks = false, corev1.DNSClusterFirst, new(false)
	pod.Tolerations = slices.DeleteFunc(pod.Tolerations, manifest.ToleratesBootstrap)
	if pod.PriorityClassName == manifest.ClusterCritical {
		// That of the user cluster's own; a profile can give one of the management cluster.
		pod.PriorityClassName = ""
	}
	if pod.Affinity != nil {
		for _, term := range pod.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			p.mark(term.PodAffinityTerm.LabelSelector.MatchLabels)
		}
	}
	for i := range pod.Volumes {
		switch volume := &pod.Volumes[i]; {
		case volume.Secret != nil:
			volume.Secret.SecretName = p.read(volume.Secret.SecretName)
		case volume.ConfigMap != nil:
			volume.ConfigMap.Name = p.read(volume.ConfigMap.Name)
		}
	}
	for i := range pod.Containers {
		p.container(&pod.Containers[i])
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: accessVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
	})
	ccm, file := &pod.Containers[len(pod.Containers)-1], accessFolder+"/"+kubeconfigKey
	ccm.VolumeMounts = append(ccm.VolumeMounts, corev1.VolumeMount{Name: accessVolume, MountPath: accessFolder, ReadOnly: true})
	ccm.Args = append(ccm.Args, "--kubeconfig="+file, "--authentication-kubeconfig="+file, "--authorization-kubeconfig="+file)
}

func (p Place) container(container *corev1.Container) {
	for i := range container.Env {
		if from := container.Env[i].ValueFrom; from != nil && from.SecretKeyRef != nil {
			from.SecretKeyRef.Name = p.read(from.SecretKeyRef.Name)
		}
	}
	for _, probe := range []*corev1.Probe{container.ReadinessProbe, container.LivenessProbe} {
		if probe != nil && probe.HTTPGet != nil {
			probe.HTTPGet.Host = ""
		}
	}
}

// changeTyped changes an object in its own type.
func changeTyped(object *unstructured.Unstructured, typed any, change func()) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return err
	}
	change()
	changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return err
	}
	delete(changed, "status")
	object.Object = changed
	return nil
}
