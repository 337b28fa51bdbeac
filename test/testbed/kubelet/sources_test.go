package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

func testSources() sources {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "user-east", Name: name} }
	client := fake.NewClientset(
		&corev1.Secret{
			ObjectMeta: meta("cloud"), Data: map[string][]byte{"token": []byte("s3cret"), "cloud.conf": []byte("cluster=east")},
		},
		&corev1.ConfigMap{
			ObjectMeta: meta("settings"), Data: map[string]string{"LEVEL": "4"}, BinaryData: map[string][]byte{"blob": {1}},
		},
	)
	client.PrependReactor("create", "serviceaccounts/token", func(action clienttesting.Action) (bool, runtime.Object, error) {
		request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		request.Status.Token = "token-of-" + request.Spec.BoundObjectRef.Name
		return true, request, nil
	})
	return sources{client: client, ip: "127.2.0.10", hostIP: "192.0.2.1", pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "user-east", Name: "kcm-1", UID: "u", Labels: map[string]string{"app": "kcm", "a": "b"},
		},
		Spec: corev1.PodSpec{NodeName: "node-a", ServiceAccountName: "kcm"},
	}}
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func secret(name, key string, optional bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: new(optional),
	}}
}

func projected(sources ...corev1.VolumeProjection) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}
}

func TestEnv(t *testing.T) {
	tests := map[string]struct {
		container corev1.Container
		want      []string
		fails     string
	}{
		"later variables refer to earlier ones and to the API server's": {
			container: corev1.Container{Env: []corev1.EnvVar{
				{Name: "POD_IP", ValueFrom: field("status.podIP")},
				{Name: "URL", Value: "http://$(POD_IP):$(KUBERNETES_SERVICE_PORT)/$(LATER)"}, {Name: "LATER", Value: "x"},
			}},
			want: []string{"POD_IP=127.2.0.10", "URL=http://127.2.0.10:6443/$(LATER)", "LATER=x"},
		},
		"the downward API knows the pod": {
			container: corev1.Container{Env: []corev1.EnvVar{
				{Name: "N", ValueFrom: field("metadata.name")}, {Name: "NS", ValueFrom: field("metadata.namespace")},
				{Name: "NODE", ValueFrom: field("spec.nodeName")}, {Name: "APP", ValueFrom: field("metadata.labels['app']")},
			}},
			want: []string{"N=kcm-1", "NS=user-east", "NODE=node-a", "APP=kcm"},
		},
		"secrets and config maps give single keys and whole sets": {
			container: corev1.Container{
				EnvFrom: []corev1.EnvFromSource{{Prefix: "CFG_",
					ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
				Env: []corev1.EnvVar{{Name: "TOKEN", ValueFrom: secret("cloud", "token", false)}},
			},
			want: []string{"CFG_LEVEL=4", "CFG_blob=\x01", "TOKEN=s3cret"},
		},
		"an optional secret may be absent": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "TOKEN", ValueFrom: secret("other", "token", true)}}},
		},
		"a missing secret is named": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "TOKEN", ValueFrom: secret("other", "token", false)}}},
			fails:     "read secret other",
		},
		"a missing key is named": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "TOKEN", ValueFrom: secret("cloud", "absent", false)}}},
			fails:     "key absent is missing",
		},
		"an unknown field is refused": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: field("spec.what")}}},
			fails:     "field spec.what is not supported",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base := []corev1.EnvVar{{Name: "KUBERNETES_SERVICE_PORT", Value: "6443"}}
			env, err := testSources().env(t.Context(), &test.container, base)
			if test.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, variable := range env[len(base):] {
				got = append(got, variable.Name+"="+variable.Value)
			}
			g.Expect(got).To(Equal(test.want))
		})
	}
}

type volumeTest struct {
	source corev1.VolumeSource
	want   map[string]string
	fails  string
}

func volumeTests() map[string]volumeTest {
	settings := corev1.LocalObjectReference{Name: "settings"}
	return map[string]volumeTest{
		"a secret shows all its keys": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "cloud", DefaultMode: ptr.To[int32](0o400)}},
			want:   map[string]string{"token": "s3cret", "cloud.conf": "cluster=east"},
		},
		"items choose keys and paths": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: settings,
				Items: []corev1.KeyToPath{{Key: "LEVEL", Path: "deep/level"}}}}, want: map[string]string{"deep/level": "4"},
		},
		"projections are laid over each other": {
			source: projected(
				corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				corev1.VolumeProjection{
					ConfigMap: &corev1.ConfigMapProjection{
						LocalObjectReference: settings, Items: []corev1.KeyToPath{{Key: "LEVEL", Path: "ca.crt"}},
					},
				},
				corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
					{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
					{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
				}}}),
			want: map[string]string{"token": "token-of-kcm-1", "ca.crt": "4", "namespace": "user-east", "labels": "a=\"b\"\napp=\"kcm\""},
		},
		"an empty directory is empty": {source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, want: map[string]string{}},
		"a path of the node is in the run directory": {
			source: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/../../../etc/kubernetes"}},
			want:   map[string]string{},
		},
		"a missing config map is named": {
			source: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}},
			},
			fails: "volume v: read config map absent",
		},
		"a missing key is named": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: settings,
				Items: []corev1.KeyToPath{{Key: "absent", Path: "x"}}}}, fails: "key absent is missing",
		},
	}
}

func TestVolumes(t *testing.T) {
	for name, test := range volumeTests() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			k := &Kubelet{options: Options{Cluster: "east", RunDir: t.TempDir()}}
			from := testSources()
			from.pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: test.source}}
			err := k.makeVolumes(t.Context(), from)
			if test.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k.makeVolumes(t.Context(), from)).To(Succeed(), "a retry replaces the files")

			view, err := k.namespaces(from.pod,
				&corev1.Container{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/at"}}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(view.Hostname).To(Equal("kcm-1"))
			g.Expect(view.Binds).To(HaveLen(1))
			g.Expect(view.Binds[0].Target).To(Equal("/at"))
			g.Expect(view.Binds[0].Source).To(HavePrefix(k.options.RunDir))
			g.Expect(filesIn(t, view.Binds[0].Source)).To(Equal(test.want))
		})
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	found := map[string]string{}
	g.Expect(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir+"/")] = string(content)
		return err
	})).To(Succeed())
	return found
}

func TestMountsOfPartsOfVolumes(t *testing.T) {
	g := NewWithT(t)
	k := &Kubelet{options: Options{Cluster: "east", RunDir: t.TempDir(), ShimPath: "/shim"}}
	from := testSources()
	from.pod.Spec.Volumes = []corev1.Volume{
		{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "cloud"}}},
	}
	g.Expect(k.makeVolumes(t.Context(), from)).To(Succeed())
	view, err := k.namespaces(from.pod, &corev1.Container{Name: "c", VolumeMounts: []corev1.VolumeMount{
		{Name: "v", MountPath: "/etc/cloud/cloud.conf", SubPath: "cloud.conf"},
		{Name: "v", MountPath: "/data", SubPath: "../../made"},
	}})
	g.Expect(err).NotTo(HaveOccurred())
	volume := k.volumePath(from.pod, &from.pod.Spec.Volumes[0])
	g.Expect(view.Binds).To(Equal([]process.Bind{
		{Source: filepath.Join(volume, "cloud.conf"), Target: "/etc/cloud/cloud.conf"},
		{Source: filepath.Join(volume, "made"), Target: "/data"},
	}))
	g.Expect(filepath.Join(volume, "made")).To(BeADirectory())
	_, err = k.namespaces(from.pod, &corev1.Container{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "w", MountPath: "/x"}}})
	g.Expect(err).To(MatchError(ContainSubstring("volume w, which the pod does not have")))
}

func TestHostname(t *testing.T) {
	tests := map[string]struct {
		pod  corev1.Pod
		want string
	}{
		"it is the pod's name": {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kcm-1"}}, want: "kcm-1"},
		"a pod may ask for another": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kcm-1"}, Spec: corev1.PodSpec{Hostname: "other"}}, want: "other",
		},
		"on the host's network it is the node's": {
			pod:  corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kcm-1"}, Spec: corev1.PodSpec{HostNetwork: true, NodeName: "node-a"}},
			want: "node-a",
		},
		"a long one is cut, and does not end in a dash": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 61) + "--bcd"}}, want: strings.Repeat("a", 61),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(hostname(&test.pod)).To(Equal(test.want))
		})
	}
}
