package supportbundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// unmarked is a secret in words around which no rule sees one: the scan alone finds it.
const unmarked = "correct-horse-battery"

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}
}

func alpha() *ucv1.Cluster {
	cluster := &ucv1.Cluster{ObjectMeta: meta("user-alpha", "alpha")}
	cluster.Annotations = map[string]string{"example.com/token": planted}
	cluster.Spec.Cloud = ucv1.CloudSpec{ProviderName: "openstack", ConfigSecretRef: ucv1.SecretReference{Name: "alpha-cloud"}}
	cluster.Status.Admission = &ucv1.AdmissionStatus{FleetMigration: "fleet"}
	cluster.Status.Baseline = &ucv1.BaselineStatus{SecretName: "alpha-baseline"}
	cluster.Status.Conditions = []metav1.Condition{{Type: "Ready", Message: "dial https://admin:" + planted + "@api.example.com"}}
	return cluster
}

// workload is a Deployment and its Pod with a secret in an argument and a variable.
func workload(namespace, name string) []client.Object {
	pod := &corev1.Pod{ObjectMeta: meta(namespace, name)}
	pod.Name += "-1"
	pod.Spec.Containers = []corev1.Container{{
		Name: "main", Args: []string{"--cloud-password", planted}, Env: []corev1.EnvVar{{Name: "A", Value: planted}},
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8443}},
	}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 1}}
	deployment := &appsv1.Deployment{ObjectMeta: meta(namespace, name)}
	deployment.Labels["app.kubernetes.io/name"] = "ccm-migration-controller"
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	deployment.Spec.Template.Spec = *pod.Spec.DeepCopy()
	return []client.Object{deployment, pod}
}

func secretsOfAlpha() []client.Object {
	kubeconfig := "apiVersion: v1\nkind: Config\nusers:\n- name: someone\n  user: {token: " + planted + "}\n"
	return []client.Object{
		&corev1.Secret{ObjectMeta: meta("user-alpha", "alpha-kubeconfig"), Data: map[string][]byte{"value": []byte(kubeconfig)}},
		&corev1.Secret{ObjectMeta: meta("user-alpha", "alpha-cloud"), Data: map[string][]byte{"cloud-config": []byte(
			"[Global]\nregion = RegionOne\npassword = " + unmarked + "\n")}},
		&corev1.Secret{ObjectMeta: meta("user-alpha", "alpha-baseline"), Data: map[string][]byte{"inventory": []byte("a-Node-of-it")}},
	}
}

// world is a management cluster with secrets in all places.
type world struct {
	*testing.T
	*options
	// log is what each container says, and metrics how the manager answers. The API server refuses paths that end with refused.
	log     string
	metrics int
	refused string
	// older API servers forward ports by SPDY alone; spoken is what was.
	older   bool
	spoken  string
	manager *httptest.Server
	funcs   interceptor.Funcs
	out     bytes.Buffer
	plan    error
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, log: "started with Bearer " + planted + "\n" + pemBlock, metrics: http.StatusOK}
	w.manager = w.endpoint()
	w.options = &options{outputFile: filepath.Join(t.TempDir(), "out.tar.gz"), progress: io.Discard, results: &w.out, logLines: 7,
		managerNamespace: "system", flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	w.root = func() *cobra.Command {
		root := &cobra.Command{Use: "program", SilenceUsage: true}
		for _, name := range []string{"version", "status", "why", "handover", "inventory", "plan"} {
			root.AddCommand(&cobra.Command{Use: name, RunE: func(command *cobra.Command, args []string) error {
				fmt.Fprintln(command.OutOrStdout(), name, args, "password="+planted)
				if name == "plan" {
					return w.plan
				}
				return nil
			}, FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}})
		}
		return root
	}
	return w
}

// ServeHTTP is the API server's way to logs and metrics of Pods.
func (w *world) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	switch path := request.URL.Path; {
	case w.refused != "" && strings.HasSuffix(path, w.refused):
		out.WriteHeader(http.StatusForbidden)
	case path == "/api/v1/namespaces/system/serviceaccounts/ccm-migration-controller-metrics-reader/token":
		w.giveToken(out, request)
	case path == "/api/v1/namespaces/system/pods/manager-1/portforward":
		w.forwardPort(out, request)
	default:
		fmt.Fprintln(out, request.URL.String(), w.log)
	}
}

// make a bundle.
func (w *world) make() error {
	w.Helper()
	g := NewWithT(w)
	scheme, err := management.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(w)
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	clientset, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	event := &corev1.Event{ObjectMeta: meta("user-alpha", "e"), Message: "token: " + planted, Reason: "Moved",
		InvolvedObject: corev1.ObjectReference{Kind: "Cluster", Name: "alpha"}}
	indexed := func(of func(*corev1.Event) string) client.IndexerFunc {
		return func(object client.Object) []string { return []string{of(object.(*corev1.Event))} }
	}
	objects := slices.Concat(secretsOfAlpha(), workload("user-alpha", "kube-controller-manager"), workload("system", "manager"),
		[]client.Object{alpha(), event, &ucv1.FleetMigration{ObjectMeta: meta("", "fleet")}})
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(w.funcs).
		WithIndex(event, "involvedObject.kind", indexed(func(e *corev1.Event) string { return e.InvolvedObject.Kind })).
		WithIndex(event, "involvedObject.name", indexed(func(e *corev1.Event) string { return e.InvolvedObject.Name })).Build()
	r := &reader{client: c, core: clientset.CoreV1(), config: config, cluster: alpha()}
	return w.collect(w.Context(), r, time.Unix(0, 0))
}

// files of the archive, without their folder.
func (w *world) files() map[string]string {
	w.Helper()
	g := NewWithT(w)
	data, err := os.Open(w.outputFile)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = data.Close() }()
	unzipped, err := gzip.NewReader(data)
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(text)
	}
}

func TestABundleHasEverythingButSecrets(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	g.Expect(w.make()).To(Succeed())
	files := w.files()
	g.Expect(slices.Sorted(maps.Keys(files))).To(Equal([]string{
		"README.md", "cluster.yaml", "control-plane/deployment-kube-controller-manager.yaml",
		"control-plane/pod-kube-controller-manager-1.yaml", "events.txt", "fleetmigration.yaml", "handover.txt", "inventory.txt",
		"manager/deployment-manager.yaml", "manager/log-manager-1-main-previous.txt", "manager/log-manager-1-main.txt",
		"manager/metrics-manager-1.txt", "manager/pod-manager-1.yaml", "plan.txt", "secrets.txt", "status.txt", "version.txt", "why.txt",
	}))
	for name, text := range files {
		g.Expect(text).NotTo(Or(ContainSubstring(planted), ContainSubstring(unmarked), ContainSubstring("TUlJRXBB"),
			ContainSubstring("a-Node-of-it")), name)
		if name != readmeName {
			g.Expect(files[readmeName]).To(ContainSubstring("| "+name+" | "), name)
		}
	}
	g.Expect(files["cluster.yaml"]).To(And(ContainSubstring("kind: Cluster\n"), ContainSubstring("https://[redacted]@api.example.com")))
	g.Expect(files["events.txt"]).To(ContainSubstring("Moved"))
	g.Expect(files["manager/log-manager-1-main-previous.txt"]).To(And(ContainSubstring("previous=true"),
		ContainSubstring("tailLines=7"), ContainSubstring("Bearer [redacted]\n[redacted PEM]")))
	g.Expect(files["secrets.txt"]).To(ContainSubstring("Secret user-alpha/alpha-kubeconfig, type \n  key value, "))
	g.Expect(files["status.txt"]).To(ContainSubstring("status [user-alpha/alpha] password=[redacted]"))
	g.Expect(files[readmeName]).To(And(
		ContainSubstring("## Could not be read\n\nWhether these exist is not known.\n\nNothing.\n"),
		ContainSubstring("* providerprofile.yaml: openstack does not exist"),
		ContainSubstring("(user-alpha/alpha-kubeconfig, user-alpha/alpha-cloud), raw or in base64")))
	g.Expect(w.out.String()).To(And(HavePrefix("Wrote "+w.outputFile+": 18 files"), ContainSubstring("No file has one of the ")))
	info, err := os.Stat(w.outputFile)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode()).To(Equal(os.FileMode(0o600)))
}

func TestAnArchiveWithAValueOfASecretIsNotWritten(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.log = "the cloud said " + unmarked
	err := w.make()
	g.Expect(err).To(MatchError(And(ContainSubstring("no archive was written: file "),
		ContainSubstring("manager/log-manager-1-main.txt has a value of Secret user-alpha/alpha-cloud"), Not(ContainSubstring(unmarked)))))
	g.Expect(terminal.ExitCode(err)).To(Equal(terminal.ExitRefused))
	g.Expect(w.outputFile).NotTo(BeAnExistingFile())

	w.leaveOut = []string{"manager/log-manager-1-main.txt", "manager/log-manager-1-main-previous.txt"}
	g.Expect(w.make()).To(Succeed())
	g.Expect(w.files()).NotTo(HaveKey("manager/log-manager-1-main.txt"))
	g.Expect(w.files()[readmeName]).To(ContainSubstring("* manager/log-manager-1-main.txt: --leave-out names it"))

	err = w.make()
	g.Expect(err).To(MatchError(ContainSubstring("exists already")))
	g.Expect(terminal.ExitCode(err)).To(Equal(terminal.ExitRefused))
	w.outputFile, w.leaveOut = w.outputFile+"2", []string{"log"}
	g.Expect(w.make()).To(MatchError(ContainSubstring("--leave-out names log, which is no file of this archive")))
}

// What could not be read never looks as if it were not there.
func TestWhatCouldNotBeReadIsSaid(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	w.metrics, w.plan = http.StatusServiceUnavailable, errors.New("dial: secret="+planted)
	w.funcs.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
		switch object.(type) {
		case *corev1.Secret, *ucv1.FleetMigration:
			return errors.New("refused")
		}
		return c.Get(ctx, key, object, o...)
	}
	w.funcs.List = func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
		switch list.(type) {
		case *corev1.PodList, *corev1.EventList:
			return errors.New("refused")
		}
		return c.List(ctx, list, o...)
	}
	err := w.make()
	g.Expect(terminal.ExitCode(err)).To(Equal(1))
	readme := w.files()[readmeName]
	unread, _, _ := strings.Cut(readme, "## Left out")
	for _, what := range []string{
		"fleetmigration.yaml: refused", "events.txt: refused", "the Pods of Deployment user-alpha/kube-controller-manager: refused",
		"the Pods of Deployment system/manager: refused", "all of plan.txt: dial: secret=[redacted]",
		"the scan for the values of Secret user-alpha/alpha-kubeconfig: refused",
	} {
		g.Expect(unread).To(ContainSubstring("* " + what + "\n"))
		g.Expect(err).To(MatchError(ContainSubstring(strings.Split(what, ": ")[0])))
	}
	g.Expect(readme).To(And(ContainSubstring("No Secret was searched for."), ContainSubstring(
		"NOT searched for: the values of user-alpha/alpha-kubeconfig, user-alpha/alpha-cloud, user-alpha/alpha-baseline, which could not")))
	g.Expect(w.out.String()).To(ContainSubstring("NOT searched for"))
}

func TestALongFileKeepsItsEnd(t *testing.T) {
	g := NewWithT(t)
	b := &bundle{redactor: newRedactor(), files: map[string]file{}}
	b.add("a.txt", "", "", "first "+strings.Repeat(". ", fileLimit/2)+"last")
	g.Expect(b.files["a.txt"].text).To(And(HavePrefix("[The first 10 bytes are left out.]\n"), HaveSuffix("last")))
	g.Expect(b.gaps).To(HaveLen(1))
}

func TestDeploymentsOfACluster(t *testing.T) {
	g, cluster := NewWithT(t), alpha()
	g.Expect(deploymentsOf(cluster)).To(Equal([]string{"kube-apiserver", "kube-controller-manager", "kube-scheduler",
		"machine-controller", "machine-controller-webhook", "operating-system-manager"}))
	cluster.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
	cluster.Spec.MachineController.Location = ucv1.UserClusterLocation
	cluster.Spec.MachineController.Webhook = ucv1.LocatedDeployment{Location: ucv1.ManagementLocation}
	cluster.Spec.MachineController.Webhook.Name = "webhook"
	g.Expect(deploymentsOf(cluster)).To(Equal([]string{"webhook"}))
}
