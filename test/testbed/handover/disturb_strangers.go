package handover

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// renewDeadline is the CCM's; a leader that may not renew its Lease ends after it. The sampler and the kubelet need a
// moment more.
const (
	renewDeadline = 10 * time.Second
	samplingTime  = 3 * time.Second
)

const strangeCCM = "ccm-by-hand"

// startCCM starts a second CCM by hand, with every right and the usual Lease, beside a KCM that runs the loops.
func startCCM(ctx context.Context, p *Play) error {
	p.witness.note(PersonBegins, strangeCCM)
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: strangeCCM}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: strangeCCM},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: strangeCCM}},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: strangeCCM},
			Data:       map[string][]byte{"cloud.conf": p.User.CloudConf()},
		},
		p.strangePod(),
	} {
		if err := p.User.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return p.witness.until(
		ctx,
		"the CCM that was started by hand to lead",
		patience,
		func(w *witness) bool { return w.holders[ccmName] != "" },
	)
}

func (p *Play) strangePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: strangeCCM},
		Spec: corev1.PodSpec{
			ServiceAccountName: strangeCCM,
			Containers: []corev1.Container{{
				Name: ccmName, Image: bed.Image(ccmName),
				Args: []string{
					"--cloud-provider=simcloud", "--cloud-config=/etc/cloud/cloud.conf", "--bind-address=$(POD_IP)", "--secure-port=10258",
					"--cluster-name=kubernetes", "--allocate-node-cidrs=true", "--cluster-cidr=10.244.0.0/16", "--configure-cloud-routes=true",
				},
				Env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
				}}},
				VolumeMounts: []corev1.VolumeMount{{Name: "cloud-config", MountPath: "/etc/cloud", ReadOnly: true}},
			}},
			Volumes: []corev1.Volume{{Name: "cloud-config", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: strangeCCM},
			}}},
		},
	}
}

// contend is someone who puts KCM's old arguments back after the hand-over, and fixes that later.
func contend(ctx context.Context, p *Play) error {
	if err := p.finished(ctx); err != nil {
		return err
	}
	deployment, err := p.KCM(ctx)
	if err != nil {
		return err
	}
	fixed := deployment.Spec.Template.Spec.Containers[0].Command
	p.witness.note(PersonBegins, "putting KCM's old arguments back")
	if err := p.setCommand(ctx, p.command); err != nil {
		return err
	}
	if err := p.witness.until(ctx, "the fence to be closed", patience, func(w *witness) bool { return !w.open }); err != nil {
		return err
	}
	// The CCM ends by then; from there on exactly one side runs.
	if err := p.elapse(ctx, renewDeadline+samplingTime); err != nil {
		return err
	}
	p.witness.note(PersonEnds, "")
	if err := p.kcmServes(ctx); err != nil {
		return err
	}
	p.witness.note(Disturbed, "fixing KCM's arguments")
	if err := p.setCommand(ctx, fixed); err != nil {
		return err
	}
	return p.witness.until(ctx, "the hand-over to begin again", patience, func(w *witness) bool {
		handover := w.seen[len(w.seen)-1].Handover
		return handover.ContendedAt != nil && handover.FinishedAt != nil
	})
}

// kcmServes waits until KCM's loops do what they are there for.
func (p *Play) kcmServes(ctx context.Context) error {
	if err := p.WaitForDeployment(p.User.Namespace, kcmName); err != nil {
		return err
	}
	if err := p.load.createService(ctx, "contended"); err != nil {
		return err
	}
	return p.WaitFor(ctx, "KCM to serve Services again", patience, func(ctx context.Context) (string, error) {
		service := &corev1.Service{}
		if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(bed.LoadBalancer("contended")), service); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 {
			return "Service contended has no address", nil
		}
		return "", nil
	})
}

// setCommand replaces KCM's command line, as an owner that knows nothing of us does.
func (p *Play) setCommand(ctx context.Context, command []string) error {
	patch, err := json.Marshal(
		[]map[string]any{{"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": command}},
	)
	if err != nil {
		return err
	}
	return p.patchKCM(ctx, types.JSONPatchType, patch, client.FieldOwner("someone"))
}
