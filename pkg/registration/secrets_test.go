package registration

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// mounting is KCM with a volume at /etc/cloud.
func mounting(mount corev1.VolumeMount, volume corev1.VolumeSource) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		mount.Name = "cloud"
		pod := &d.Spec.Template.Spec
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "etc", MountPath: "/etc"}, mount}
		pod.Volumes = []corev1.Volume{
			{Name: "etc", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "cloud", VolumeSource: volume},
		}
	}
}

// configTest is where the file of --cloud-config may come from.
type configTest struct {
	kcm    appsv1.Deployment
	change func(*appsv1.Deployment)
	look   Look
	want   string
}

// fromVolume is where the name of the Secret is from, up to the key.
const fromVolume = "cloud; the volume with the file of --cloud-config in container kube-controller-manager of Deployment " +
	"kube-controller-manager, key "

func cloudSecret(items ...corev1.KeyToPath) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "cloud", Items: items}}
}

func projectedSecret(items ...corev1.KeyToPath) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "cloud"}, Items: items}},
	}}}
}

func config(file string) appsv1.Deployment { return inTree("--cloud-config=" + file) }

func TestTheCloudConfigurationIsWhatKCMReads(t *testing.T) {
	folder := corev1.VolumeMount{MountPath: "/etc/cloud/"}
	renamed := corev1.KeyToPath{Key: "cloud.conf", Path: "config"}
	good := nothing().with("cloud", observation.Known(Secret{Keys: []string{"cloud.conf"}}))
	runConfigTests(t, map[string]configTest{
		"a Secret as a folder": {
			kcm: config("/etc/cloud/cloud.conf"), change: mounting(folder, cloudSecret()), look: good, want: fromVolume + "cloud.conf.",
		},
		"a Secret whose key has another name": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, cloudSecret(renamed)), look: good, want: fromVolume + "cloud.conf.",
		},
		"a Secret's file": {
			kcm: config("/etc/cloud.conf"), change: mounting(
				corev1.VolumeMount{MountPath: "/etc/cloud.conf", SubPath: "cloud.conf"}, cloudSecret(),
			), look: good, want: "cloud; the volume",
		},
		"a projected Secret": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, projectedSecret(renamed)), look: good, want: "cloud; the volume",
		},
		"a projected Secret as it is": {
			kcm: config("/etc/cloud/cloud.conf"), change: mounting(folder, projectedSecret()), look: good, want: "cloud; the volume",
		},
		"no projected Secret without the file": {
			kcm: config("/etc/cloud/other"), change: mounting(folder, projectedSecret(renamed)), look: good,
			want: "missing: the file of --cloud-config in container kube-controller-manager of Deployment kube-controller-manager " +
				"is no Secret's, but from projected volume.",
		},
		"no ConfigMap": {
			kcm: config("/etc/cloud/config"), look: nothing(), change: mounting(
				folder,
				corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}},
			),
			want: "missing: the file of --cloud-config in container kube-controller-manager of Deployment kube-controller-manager " +
				"is no Secret's, but from ConfigMap cm. a Secret with key cloud.conf",
		},
		"no file of a Node": {
			kcm: config("/etc/cloud/config"), look: nothing(), change: mounting(
				folder, corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}},
			),
			want: "missing: the file of --cloud-config in container kube-controller-manager of Deployment kube-controller-manager " +
				"is no Secret's, but from hostPath /srv.",
		},
		"no file that no volume has": {
			kcm: config("/srv/config"), change: mounting(folder, cloudSecret()), look: good, want: "missing: no volume of container",
		},
		"nothing, without the flag": {
			kcm: inTree(), change: mounting(folder, cloudSecret()), look: good,
			want: "missing: container kube-controller-manager of Deployment kube-controller-manager has no --cloud-config.",
		},
		"nothing, without a flag and a look": {
			kcm: inTree(), change: mounting(folder, cloudSecret()), look: nothing().with(
				"user-alpha-cloud-config", observation.Unknown[Secret]("forbidden"),
			),
			want: "missing: container kube-controller-manager of Deployment kube-controller-manager has no --cloud-config. Secret " +
				"user-alpha-cloud-config could not be looked at: forbidden.",
		},
	})
}

func TestWhatIsSaidOfTheCloudConfiguration(t *testing.T) {
	folder := corev1.VolumeMount{MountPath: "/etc/cloud"}
	runConfigTests(t, map[string]configTest{
		"a Secret that cannot be used": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, cloudSecret()), look: nothing().with(
				"cloud", observation.Known(Secret{Problem: "it lacks key cloud.conf."}),
			),
			want: fromVolume + "config. The Secret cannot be used as it is: it lacks key cloud.conf. Make a Secret " +
				"with key cloud.conf, for example user-alpha-cloud-config.",
		},
		"a Secret that does not exist": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, cloudSecret()), look: nothing(),
			want: fromVolume + "config. The Secret does not exist.",
		},
		"a Secret that could not be looked at": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, cloudSecret()), look: nothing().with(
				"cloud", observation.Unknown[Secret]("forbidden"),
			),
			want: fromVolume + "config. The Secret could not be looked at: forbidden. It needs key cloud.conf.",
		},
		"the Secret that someone made for the controller": {
			kcm: config("/etc/cloud/config"), change: mounting(folder, cloudSecret()), look: nothing().with(
				"user-alpha-cloud-config", observation.Known(Secret{Problem: "it lacks key cloud.conf."}),
			),
			want: "user-alpha-cloud-config; Secret user-alpha-cloud-config exists, with the name that the documentation gives it. " +
				"It cannot be used as it is: it lacks key cloud.conf.",
		},
	})
}

func runConfigTests(t *testing.T, tests map[string]configTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			made := only(t, Deployments, toldNothing(), test.look, changed(test.kcm, test.change))
			NewWithT(t).Expect(field(made, "spec.cloud.configSecretRef.name")).To(HavePrefix(test.want))
		})
	}
}

func TestTheKubeconfig(t *testing.T) {
	const path = "spec.kubeconfigSecretRef."
	kamaji := controlledBy("kamaji.clastix.io/v1alpha1", "TenantControlPlane", "web")
	has := func(keys ...string) observation.Observed[Secret] { return observation.Known(Secret{Keys: keys}) }
	for name, test := range map[string]struct {
		platform  Platform
		change    func(*appsv1.Deployment)
		look      Look
		want, key string
	}{
		"is the one for the controller": {
			look: nothing().with("user-alpha-kubeconfig", has("value")),
			want: "user-alpha-kubeconfig; Secret user-alpha-kubeconfig, key value, exists.", key: "value;",
		},
		"is that one before KKP's own": {
			platform: KKP, look: nothing().with("user-alpha-kubeconfig", has("value")).with("admin-kubeconfig", has("kubeconfig")),
			want: "user-alpha-kubeconfig;", key: "value;",
		},
		"is KKP's": {
			platform: KKP, look: nothing().with("admin-kubeconfig", has("kubeconfig")),
			want: "admin-kubeconfig; Secret admin-kubeconfig, key kubeconfig, exists; KKP writes it. It is an administrator's.",
			key:  "kubeconfig;",
		},
		"is Kamaji's": {
			change: kamaji, look: nothing().with("web-admin-kubeconfig", has("admin.conf")), want: "web-admin-kubeconfig;",
			key: "admin.conf;",
		},
		"is none without its key": {
			look: nothing().with("user-alpha-kubeconfig", has("kubeconfig")),
			want: "missing: there is no Secret user-alpha-kubeconfig, key value. make Secret user-alpha-kubeconfig",
		},
		"is missing": {look: nothing(), want: "missing: there is no Secret user-alpha-kubeconfig, key value."},
		"was not looked at": {
			platform: KKP, look: nothing().with("admin-kubeconfig", observation.Unknown[Secret]("forbidden")),
			want: "missing: Secret admin-kubeconfig could not be looked at: forbidden. the Secret with the kubeconfig",
		},
		"was forgotten": {
			look: Look{}, want: "missing: Secret user-alpha-kubeconfig could not be looked at: it was not looked at.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kcm := inTree()
			if test.change != nil {
				test.change(&kcm)
			}
			if test.platform == "" {
				test.platform = Deployments
			}
			made := only(t, test.platform, toldNothing(), test.look, kcm)
			g.Expect(field(made, path+"name")).To(HavePrefix(test.want))
			g.Expect(field(made, path+"key")).To(HavePrefix(test.key))
			g.Expect(field(made, path+"key")).To(sameEmptiness(test.key))
		})
	}
}

// Whoever reads Secrets for a proposal reads these, and no others.
func TestTheSecretsThatAreReadAreFew(t *testing.T) {
	g := NewWithT(t)
	kcm := changed(inTree(
		"--cloud-config=/etc/cloud/config",
	), mounting(corev1.VolumeMount{MountPath: "/etc/cloud"}, corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: "cloud"},
	}))
	read := Namespace{Name: "cluster-a", Deployments: []appsv1.Deployment{kcm}}
	g.Expect(Find(KKP, read)[0].Secrets()).To(Equal([]string{
		"a-cloud-config", "a-kubeconfig", "admin-kubeconfig", "cloud", "internal-admin-kubeconfig",
	}))
	g.Expect(Find(Deployments, read)[0].Secrets()).To(Equal([]string{"cloud", "cluster-a-cloud-config", "cluster-a-kubeconfig"}))
}
