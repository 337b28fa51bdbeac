package integration_test

import (
	"maps"
	"net"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// confidential is in Secrets that tests write; no status may show it.
const confidential = "example-only-hunter2"

// badInput is something that a Cluster refers to and that cannot be used.
type badInput struct {
	// spoil makes it so; the control plane is deployed before unless bare is set.
	spoil     func(w *world)
	bare      bool
	modifiers []modifier
	// origins that are tried; none means both.
	origins []ucv1.Origin
	// verdict, reason and says are what Ready says, and reachable what UserClusterReachable says if that is not that it is.
	verdict   kstatus.Status
	reason    string
	reachable string
	says      []string
	// fix makes it good again; nil where nothing can.
	fix func(w *world)
	// shared says that it is bad for the Clusters of other tests, too: no other may run beside this one.
	shared bool
}

func badInputs() map[string]badInput {
	inputs := map[string]badInput{
		"no cloud configuration": {
			spoil: func(w *world) { w.secret("cloud-config", nil) }, verdict: kstatus.FailedStatus, reason: "InputInvalid",
			says: []string{"/cloud-config with the cloud configuration does not exist"},
			fix:  func(w *world) { w.secret("cloud-config", simcloudConfig()) },
		},
		"a cloud configuration without keys": {
			spoil:   func(w *world) { w.secret("cloud-config", map[string][]byte{"token": []byte(confidential)}) },
			verdict: kstatus.FailedStatus, reason: "InputInvalid", says: []string{"/cloud-config: it lacks endpoint, cluster"},
			fix: func(w *world) { w.secret("cloud-config", simcloudConfig()) },
		},
		"a provider that no one knows": {
			modifiers: []modifier{ofProvider("nimbus")}, spoil: func(*world) {},
			verdict: kstatus.FailedStatus, reason: "NotSupported", says: []string{"Provider nimbus is not in the catalogue"},
		},
		"a version without a CCM": {
			modifiers: []modifier{version("1.27.16")}, spoil: func(*world) {},
			verdict: kstatus.FailedStatus, reason: "NotSupported",
			says: []string{"no simcloud cloud-controller-manager for Kubernetes 1.27"}, fix: func(w *world) { w.edit(version("1.30.14")) },
		},
		"no kube-controller-manager": {
			bare: true, spoil: func(w *world) { w.managementNode() },
			verdict: kstatus.FailedStatus, reason: "InputInvalid",
			says: []string{"/kube-controller-manager does not exist", "spec.controlPlane.kubeControllerManager"},
			fix:  func(w *world) { w.deploy(kcm, 1, kcm, "--cloud-provider=external") },
		},
		"a kube-controller-manager in a shell": {
			bare: true, spoil: func(w *world) {
				w.managementNode()
				w.deploy(kcm, 1, "sh", "-c", "exec kube-controller-manager $OPTIONS")
			},
			verdict: kstatus.FailedStatus, reason: "InputInvalid",
			says: []string{`argument "-c" of container kube-controller-manager is a shell script`},
			fix:  func(w *world) { w.rewrite(kcm, "--cloud-provider=external") },
		},
		"a kube-controller-manager with a variable": {
			bare: true, spoil: func(w *world) { w.managementNode(); w.deploy(kcm, 1, kcm, "--cloud-provider=$(PROVIDER)") },
			verdict: kstatus.FailedStatus, reason: "InputInvalid", says: []string{"argument --cloud-provider", "variable PROVIDER"},
			fix: func(w *world) { w.rewrite(kcm, "--cloud-provider=external") },
		},
		"a kube-controller-manager that another Cluster names": {
			spoil:   func(w *world) { w.rival("beta") },
			verdict: kstatus.FailedStatus, reason: "InputInvalid", says: []string{"is also named by Cluster ", "/beta"},
			fix: func(w *world) { w.removeRival("beta") },
		},
		"more than one thing": {
			modifiers: []modifier{version("1.27.16")},
			spoil:     func(w *world) { w.secret("cloud-config", nil); w.secret(alpha+"-kubeconfig", garbage()) },
			verdict:   kstatus.FailedStatus, reason: "PreflightFailed", reachable: "KubeconfigInvalid",
			says: []string{"cloud configuration does not exist", "2 more findings: ConnectionRefused, ProviderNotSupported"},
			fix: func(w *world) {
				w.edit(version("1.30.14"))
				w.secret("cloud-config", simcloudConfig())
				w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.user.kubeconfig})
			},
		},
	}
	maps.Copy(inputs, badKubeconfigs())
	maps.Copy(inputs, badProfiles())
	return inputs
}

func garbage() map[string][]byte { return map[string][]byte{"value": []byte("{" + confidential)} }

// kubeconfig is the good one with a change.
func kubeconfig(change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) func(*world) {
	return func(w *world) {
		w.t.Helper()
		g := NewWithT(w.t)
		file, err := clientcmd.Load(w.user.kubeconfig)
		g.Expect(err).NotTo(HaveOccurred())
		current := file.Contexts[file.CurrentContext]
		change(file.Clusters[current.Cluster], file.AuthInfos[current.AuthInfo])
		data, err := clientcmd.Write(*file)
		g.Expect(err).NotTo(HaveOccurred())
		w.secret(alpha+"-kubeconfig", map[string][]byte{"value": data})
	}
}

func expired(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
	*user = clientcmdapi.AuthInfo{Token: confidential}
}

func badKubeconfigs() map[string]badInput {
	renew := func(w *world) { w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.user.kubeconfig}) }
	inputs := map[string]badInput{
		"no kubeconfig": {
			spoil:   func(w *world) { w.secret(alpha+"-kubeconfig", nil) },
			verdict: kstatus.InProgressStatus, reason: "CouldNotLook", reachable: "KubeconfigMissing",
			says: []string{"/alpha-kubeconfig, key value is missing or empty"}, fix: renew,
		},
		"a kubeconfig under another key": {
			spoil:   func(w *world) { w.secret(alpha+"-kubeconfig", map[string][]byte{"kubeconfig": w.user.kubeconfig}) },
			verdict: kstatus.InProgressStatus, reason: "CouldNotLook", reachable: "KubeconfigMissing",
			says: []string{"key value is missing or empty"},
			fix: func(w *world) {
				w.edit(func(c *ucv1.Cluster) {
					c.Spec.KubeconfigSecretRef = &ucv1.SecretKeyReference{Name: alpha + "-kubeconfig", Key: "kubeconfig"}
				})
			},
		},
		"garbage for a kubeconfig": {
			spoil:   func(w *world) { w.secret(alpha+"-kubeconfig", garbage()) },
			verdict: kstatus.FailedStatus, reason: "KubeconfigInvalid", reachable: "KubeconfigInvalid",
			says: []string{"cannot be parsed"}, fix: renew,
		},
		"expired credentials": {
			spoil: kubeconfig(expired), verdict: kstatus.InProgressStatus, reason: "CouldNotLook", reachable: "Unauthorized",
			says: []string{"refuses the credentials in Secret", "renew them"}, fix: renew,
		},
		"an unreachable user cluster": {
			spoil: func(w *world) {
				kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + closedPort(w.t) })(w)
			},
			verdict: kstatus.InProgressStatus, reason: "CouldNotLook", reachable: "Unreachable",
			says: []string{"refuses connections"}, fix: renew,
		},
	}
	for what, change := range map[string]func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo){
		"exec": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{Command: "curl", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}
		},
		"auth-provider": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"}
		},
		"the file path tokenFile": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{TokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token"}
		},
		"the file path client-key": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientKey = "/etc/passwd" },
		"insecure-skip-tls-verify": func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.InsecureSkipTLSVerify, c.CertificateAuthorityData = true, nil
		},
		"proxy-url": func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.ProxyURL = "http://127.0.0.1:1" },
	} {
		inputs["a kubeconfig with "+what] = badInput{
			spoil: kubeconfig(change), verdict: kstatus.FailedStatus, reason: "KubeconfigRefused", reachable: "KubeconfigRefused",
			says: []string{"uses " + what + ", which is not allowed"}, fix: renew, origins: []ucv1.Origin{ucv1.OriginMigrating},
		}
	}
	return inputs
}

func closedPort(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(listener.Close()).To(Succeed())
	return listener.Addr().String()
}

// rewrite replaces the command line of a Deployment and has its pods replaced.
func (w *world) rewrite(name string, arguments ...string) {
	w.t.Helper()
	deployment := w.deployment(name)
	deployment.Spec.Template.Spec.Containers[0].Command = append([]string{name}, arguments...)
	deployment.Spec.Template.Spec.Containers[0].Args = nil
	NewWithT(w.t).Expect(suite.client.Update(w.t.Context(), deployment)).To(Succeed())
	for range 3 {
		w.playDeployment(name)
	}
}

func (w *world) rival(name string) {
	w.t.Helper()
	rival := newCluster(w.namespace)
	rival.GenerateName, rival.Name = "", name
	NewWithT(w.t).Expect(suite.client.Create(w.t.Context(), rival)).To(Succeed())
}

func (w *world) removeRival(name string) {
	w.t.Helper()
	rival := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	NewWithT(w.t).Expect(client.IgnoreNotFound(suite.client.Delete(w.t.Context(), rival))).To(Succeed())
}

func TestBadInputChangesNothingAndIsSaid(t *testing.T) {
	for name, input := range badInputs() {
		if len(input.origins) == 0 {
			input.origins = []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal}
		}
		if input.reachable == "" {
			input.reachable = "Reachable"
		}
		for _, origin := range input.origins {
			t.Run(name+", origin "+string(origin), func(t *testing.T) {
				if !input.shared {
					t.Parallel()
				}
				w := newWorld(t)
				w.spoiled(input, origin)
				user := w.userSnapshot()
				w.requests.take()
				w.passes(5)
				// A busy machine may miss the first attempt's deadline; the next one needs the clock to go on.
				w.reconnect(input.reachable)
				g := NewWithT(t)
				g.Expect(w.requests.take()).To(HaveEach(Or(ContainSubstring("/namespaces/"+w.namespace+"/clusters/"+alpha),
					HaveSuffix("/secrets/"+alpha+"-ccm-migration-record"))), "only the Cluster itself is written, and its record")
				g.Expect(w.userSnapshot()).To(Equal(user))
				w.expectSaid(input, origin)
				if input.verdict == kstatus.FailedStatus {
					g.Expect(w.status()).To(HaveField("Preflight.Findings", Not(BeEmpty())))
				}
				if input.fix != nil {
					input.fix(w)
					w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.Inherited != nil })
					g.Expect(w.condition("Stalled").Status).To(BeEmpty())
					g.Expect(w.condition("UserClusterReachable").Status).To(Equal(metav1.ConditionTrue))
				}
			})
		}
	}
}

// spoiled makes the cluster as the input wants it, one pass before it is looked at with the feature on.
func (w *world) spoiled(input badInput, origin ucv1.Origin) {
	w.t.Helper()
	arguments, modifiers := loopsOn(), input.modifiers
	if origin == ucv1.OriginExternal {
		arguments, modifiers = []string{"--cloud-provider=external"}, append([]modifier{feature(true)}, modifiers...)
	}
	if !input.bare {
		w.managementNode()
		w.deploy(kcm, 1, append([]string{kcm}, arguments...)...)
	}
	w.create(modifiers...)
	input.spoil(w)
	if origin == ucv1.OriginMigrating {
		w.pass()
		w.edit(feature(true))
	}
}

func (w *world) expectSaid(input badInput, origin ucv1.Origin) {
	w.t.Helper()
	g := NewWithT(w.t)
	w.expectVerdict(input.verdict)
	status := w.status()
	g.Expect(status.Origin).To(Equal(origin))
	g.Expect(status.StartedAt).To(BeNil())
	g.Expect(status.Inherited).To(BeNil())
	g.Expect(pretty(status)).NotTo(ContainSubstring(confidential))

	step := "PreflightPassed"
	if origin == ucv1.OriginExternal {
		step = "CloudControllerManagerReady"
	}
	for _, kind := range []string{"Ready", step} {
		g.Expect(w.condition(kind).Reason).To(Equal(input.reason), kind)
		for _, part := range input.says {
			g.Expect(w.condition(kind).Message).To(ContainSubstring(part), kind)
		}
	}
	if input.verdict == kstatus.InProgressStatus {
		g.Expect(w.condition(step).Status).To(Equal(metav1.ConditionUnknown), "we could not look")
		g.Expect(w.condition("Stalled").Status).To(BeEmpty())
	} else {
		g.Expect(w.condition(step).Status).To(Equal(metav1.ConditionFalse))
		g.Expect(w.condition("Stalled").Status).To(Equal(metav1.ConditionTrue), "a person must act")
	}
	g.Expect(w.condition("UserClusterReachable").Reason).To(Equal(input.reachable))
}
