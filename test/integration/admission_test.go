package integration_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// attempt is a write with the rights of the manager; refused is a part of the message, empty for one that passes.
type attempt struct {
	write   func(ctx context.Context, c client.Client) error
	refused string
}

// The suite installs config/admission, so every test of a migration shows that what the manager really writes passes.
func TestTheAdmissionPolicyRefusesWhatTheManagerNeverWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.managementNode()
	w.deploy(kcm, 1, kcm, "--cloud-provider=simcloud")
	w.deploy("shell", 1, "/bin/sh", "-c", "exec something --flag")
	w.deploy(
		"wrapped", 1, "/usr/local/bin/http-prober", `-command={"command":"/usr/local/bin/kube-controller-manager","args":["-v=2"]}`,
	)
	w.secret("foreign", map[string][]byte{"token": []byte(confidential)})
	policies := &admissionregistrationv1.ValidatingAdmissionPolicyList{}
	g := NewWithT(t)
	g.Expect(suite.client.List(t.Context(), policies)).To(Succeed())
	g.Expect(policies.Items).To(HaveLen(4))
	for _, attempts := range []map[string]attempt{
		w.deploymentAttempts(), w.metadataAttempts(), w.fileAttempts(), w.podAttempts(),
	} {
		for name, tc := range attempts {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				if tc.refused == "" {
					g.Expect(tc.write(t.Context(), w.manager)).To(Succeed())
					return
				}
				// The API server reads policies from a watch.
				g.Eventually(func() error { return tc.write(t.Context(), w.manager) }, deadline, interval).Should(And(
					Satisfy(func(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) }),
					MatchError(ContainSubstring(tc.refused))))
			})
		}
	}
}

// changing patches a Deployment of the world, in a dry run.
func (w *world) changing(name string, change func(*appsv1.Deployment)) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		before := &appsv1.Deployment{}
		if err := suite.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, before); err != nil {
			return err
		}
		after := before.DeepCopy()
		change(after)
		return c.Patch(ctx, after, client.MergeFrom(before), client.DryRunAll)
	}
}

func configMapVolume(name string) corev1.VolumeSource {
	return corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
	}
}

func (w *world) deploymentAttempts() map[string]attempt {
	pod := func(name string, change func(*corev1.PodSpec)) func(context.Context, client.Client) error {
		return w.changing(name, func(d *appsv1.Deployment) { change(&d.Spec.Template.Spec) })
	}
	const (
		program   = "changes flags of a program"
		container = "changes only command, args"
		nothing   = "changes nothing but its containers"
	)
	lock := configMapVolume("lock")
	unlabeled := w.aDeployment(w.namespace, nil)
	labeled := w.aDeployment(w.namespace, map[string]string{manifest.ClusterLabel: alpha})
	ofTheSystem := w.aDeployment(metav1.NamespaceSystem, map[string]string{manifest.ClusterLabel: alpha})
	existing := w.deployment(kcm)
	return map[string]attempt{
		"a flag":        {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Command[1] = "--cloud-provider=external" }), ""},
		"flags in args": {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Args = []string{"--controllers=*"} }), ""},
		"a flag within http-prober": {pod("wrapped", func(p *corev1.PodSpec) {
			p.Containers[0].Command[1] = `-command={"command":"/usr/local/bin/kube-controller-manager","args":["-v=3"]}`
		}), ""},
		"a program within http-prober": {pod("wrapped", func(p *corev1.PodSpec) { p.Containers[0].Command[1] = `-command={"command":"/bin/nc","args":["-v=3"]}` }), program},
		"another program":              {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Command[0] = "/bin/nc" }), program},
		"a shell around the program":   {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Command = []string{"/bin/sh", "-c", "nc"} }), program},
		"what a shell runs":            {pod("shell", func(p *corev1.PodSpec) { p.Containers[0].Command[2] = "nc" }), program},
		"the image":                    {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Image = "evil.example/image" }), container},
		"a variable":                   {pod(kcm, func(p *corev1.PodSpec) { p.Containers[0].Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "/x"}} }), container},
		"another container":            {pod(kcm, func(p *corev1.PodSpec) { p.Containers = append(p.Containers, corev1.Container{Name: "x", Image: "x"}) }), container},
		"a privileged container": {pod(kcm, func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		}), container},
		"a container that begins first": {pod(kcm, func(p *corev1.PodSpec) { p.InitContainers = []corev1.Container{{Name: "x", Image: "x"}} }), nothing},
		"the processes of the node":     {pod(kcm, func(p *corev1.PodSpec) { p.HostPID = true }), nothing},
		"a ServiceAccount":              {pod(kcm, func(p *corev1.PodSpec) { p.ServiceAccountName = "admin" }), nothing},
		"replicas":                      {w.changing(kcm, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }), nothing},
		"labels of pods":                {w.changing(kcm, func(d *appsv1.Deployment) { d.Spec.Template.Labels["x"] = "y" }), nothing},
		"a volume of the node": {pod(kcm, func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}), "adds no volume"},
		"a Secret under the name of the lock": {pod(kcm, func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{
				{Name: "ccm-migration-lock", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}}},
			}
		}), "adds no volume"},
		"the migration lock": {pod(kcm, func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{{Name: "ccm-migration-lock", VolumeSource: lock}}
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "ccm-migration-lock", MountPath: "/etc/lock"}}
		}), ""},
		"a Deployment of its own": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, unlabeled, client.DryRunAll)
		}, "makes and deletes only Deployments with label"},
		"a Deployment with a token": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, labeled, client.DryRunAll)
		}, "no token of the management cluster"},
		"a Deployment in kube-system": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, ofTheSystem, client.DryRunAll)
		}, "namespaces of the management cluster itself"},
		"the end of a Deployment": {func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, existing, client.DryRunAll)
		}, "makes and deletes only Deployments with label"},
	}
}

func (w *world) metadataAttempts() map[string]attempt {
	w.t.Helper()
	annotated := w.deployment("shell")
	annotated.Annotations = map[string]string{"theirs": "a"}
	NewWithT(w.t).Expect(suite.client.Update(w.t.Context(), annotated)).To(Succeed())
	annotations := func(wanted map[string]string) func(context.Context, client.Client) error {
		return w.changing("shell", func(d *appsv1.Deployment) { d.Annotations = wanted })
	}
	const nothing = "metadata of a Deployment"
	return map[string]attempt{
		"the label of ours": {w.changing(kcm, func(d *appsv1.Deployment) {
			d.Labels = map[string]string{manifest.ClusterLabel: alpha}
		}), nothing},
		"a touch":                        {annotations(map[string]string{"theirs": "a", ucv1.TouchedAnnotation: "now"}), ""},
		"another annotation":             {annotations(map[string]string{"theirs": "a", "more": "b"}), nothing},
		"another value of an annotation": {annotations(map[string]string{"theirs": "b"}), nothing},
		"an annotation less":             {annotations(map[string]string{ucv1.TouchedAnnotation: "now"}), nothing},
		"the first annotation":           {w.changing(kcm, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "b"} }), nothing},
	}
}

func (w *world) aDeployment(namespace string, labels map[string]string) *appsv1.Deployment {
	w.t.Helper()
	source := w.deployment(kcm)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "made", Labels: labels}, Spec: source.Spec}
}

func (w *world) fileAttempts() map[string]attempt {
	ours := map[string]string{"app.kubernetes.io/managed-by": "ccm-migration-controller"}
	create := func(secret corev1.Secret) func(context.Context, client.Client) error {
		return func(ctx context.Context, c client.Client) error {
			secret.Namespace, secret.Name = w.namespace, "made"
			return c.Create(ctx, secret.DeepCopy(), client.DryRunAll)
		}
	}
	const own = "its own, by their labels"
	return map[string]attempt{
		"a Secret that says whose it is":    {create(corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: ours}}), ""},
		"a Secret that does not":            {create(corev1.Secret{}), own},
		"a token of a ServiceAccount":       {create(corev1.Secret{Type: corev1.SecretTypeServiceAccountToken, ObjectMeta: metav1.ObjectMeta{Labels: ours, Annotations: map[string]string{corev1.ServiceAccountNameKey: "admin"}}}), "no token of the management cluster"},
		"a token that lets a machine join":  {create(corev1.Secret{Type: corev1.SecretTypeBootstrapToken, ObjectMeta: metav1.ObjectMeta{Labels: ours}}), "no token of the management cluster"},
		"a Secret of others":                {w.patching(&corev1.Secret{}, "foreign", `{"data":{"token":""}}`), own},
		"a Secret of others with our label": {w.patching(&corev1.Secret{}, "foreign", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"ccm-migration-controller"}}}`), own},
		"a ConfigMap of others": {func(ctx context.Context, c client.Client) error {
			file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "foreign"}}
			if err := suite.client.Create(ctx, file); client.IgnoreAlreadyExists(err) != nil {
				return err
			}
			return c.Delete(ctx, file, client.DryRunAll)
		}, own},
	}
}

func (w *world) podAttempts() map[string]attempt {
	name := w.pods(kcm)[0].Name
	const nothing = "changes nothing else of a pod"
	return map[string]attempt{
		"the pod that is to go last": {w.patching(&corev1.Pod{}, name, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1000"}}}`), ""},
		"another annotation":         {w.patching(&corev1.Pod{}, name, `{"metadata":{"annotations":{"a":"b"}}}`), nothing},
		"the image of a pod":         {w.patching(&corev1.Pod{}, name, `{"spec":{"containers":[{"name":"kube-controller-manager","image":"evil.example/image"}]}}`), nothing},
	}
}

func (w *world) patching(object client.Object, name, patch string) func(context.Context, client.Client) error {
	object.SetNamespace(w.namespace)
	object.SetName(name)
	return func(ctx context.Context, c client.Client) error {
		target := object.DeepCopyObject().(client.Object)
		return c.Patch(ctx, target, client.RawPatch("application/strategic-merge-patch+json", []byte(patch)), client.DryRunAll)
	}
}
