//go:build realmachinecontroller

package integration_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/upstream"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	// realPatience bounds each wait for the real programs: they look again every 30 seconds at what they made.
	realPatience = 4 * time.Minute
	// realHold is how long no new Node is initialized: longer than any of their waits.
	realHold = 100 * time.Second
	realTick = 500 * time.Millisecond
	// realPause is how long a person pauses the MachineDeployment in the middle.
	realPause = 40 * time.Second

	// realTenant is the cluster as simcloud knows it.
	realTenant = "real"
)

// What the breaker is for: without it the machine-controller replaces everything by Nodes that no one initializes.
func TestTheRealMachineControllerNeedsABreaker(t *testing.T) {
	w := newWorld(t)
	m := newRealMachines(w)
	m.create("pool", 3)
	m.until("3 Machines with Nodes", func(c realCount) bool { return c.serving == 3 })
	m.external = true
	m.start()
	patch := fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"annotations":{%q:"1"}}}}}`, ucv1.ForceRestartAnnotation)
	write := func() error {
		return w.user.client.Patch(t.Context(), m.deployment("pool"), client.RawPatch(types.MergePatchType, patch))
	}
	NewWithT(t).Eventually(write, deadline, interval).Should(Succeed(), "the webhook starts again")
	m.until("nothing that serves", func(c realCount) bool { return c.serving == 0 && c.unproven == 3 })
}

// The breaker beside the real machine-controller and its webhook: while no new Node
// is initialized every old Machine stays, whatever the machine-controller calls available; then the roll goes on and ends.
func TestBreakerHoldsBesideTheRealMachineController(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	m := newRealMachines(w)
	m.create("pool", 3)
	m.until("3 Machines with Nodes", func(c realCount) bool { return c.old == 3 && c.serving == 3 })
	w.playKCM(kcm + "-r1-0")
	w.create(func(c *ucv1.Cluster) {
		// The clock of the test runs ahead of that of the API server, which dates Machines and Nodes.
		c.Spec.Rollout.InitializationDeadlineSeconds, c.Spec.Rollout.NodeDeadlineSeconds = new(int32(3600)), new(int32(7200))
	})
	w.pass()
	w.edit(feature(true))
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
	w.prepareAddons()
	w.handOver()
	w.until("the roll", at(ucv1.StepRoll), w.playControlPlane, w.playAddons, func() { w.playCCM() })
	m.rolls, m.began = true, time.Now()
	m.until("a new Machine that is not proven", func(c realCount) bool { return c.created == 1 })
	held := time.Now()
	m.until("that time went by", func(c realCount) bool {
		g.Expect(c.old).To(Equal(3), "no old Machine goes")
		g.Expect(c.created).To(BeNumerically("<=", 1), "no more than maxSurge is made")
		return time.Since(held) > realHold
	})
	deployment := m.deployment("pool")
	g.Expect(deployment.Spec.MinReadySeconds).To(HaveValue(BeEquivalentTo(rollout.EndlessMinReadySeconds)))

	m.initializes = true
	m.until("a new Machine in the place of an old one", func(c realCount) bool { return c.old == 2 && c.proven >= 1 })
	m.pause("pool", true)
	paused := time.Now()
	m.until("that it was paused for a while", func(c realCount) bool {
		g.Expect(c.old).To(Equal(2), "a pause by others grants nothing")
		g.Expect(c.serving).To(BeNumerically(">=", 3))
		return time.Since(paused) > realPause
	})
	m.pause("pool", false)
	m.until("the end of the roll", func(c realCount) bool {
		g.Expect(c.serving).To(BeNumerically(">=", 3), "maxUnavailable is 0")
		g.Expect(c.unproven).To(BeNumerically("<=", 1), "maxSurge is 1")
		return c.old == 0 && c.proven == 3 && w.status().CompletedAt != nil
	})
	g.Expect(m.deployment("pool").Spec.MinReadySeconds).To(HaveValue(BeEquivalentTo(0)), "given back")
}

// realMachines are the real programs and simcloud, and the test in the place of kubelets, the CCM and the
// operating-system-manager.
type realMachines struct {
	w                       *world
	kubeconfig, cloudConfig string
	cloud                   *simcloud.Server
	webhook                 envtest.WebhookInstallOptions
	supervisor              *process.Supervisor
	controller, admission   *process.Process
	// external is the flag that both have; rolls says that our controller passes, and initializes that the CCM does its work.
	external, rolls, initializes bool
	began                        time.Time
	last                         realCount
}

// realCount counts Machines: those of before, those made since, those of them that are proven; serving are old and proven ones.
type realCount struct{ old, created, proven, unproven, serving int }

func newRealMachines(w *world) *realMachines {
	w.t.Helper()
	g := NewWithT(w.t)
	m := &realMachines{w: w, began: time.Now(), supervisor: process.NewSupervisor(), cloud: simcloud.New(simcloud.Options{Log: io.Discard})}
	url, err := m.cloud.Start("127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() { _ = m.cloud.Stop() })
	m.cloud.AddCluster(realTenant, "token")
	m.cloudConfig = filepath.Join(w.t.TempDir(), "cloud.conf")
	content := fmt.Appendf(nil, "endpoint=%s\ncluster=%s\ntoken=token\n", url, realTenant)
	g.Expect(os.WriteFile(m.cloudConfig, content, 0o600)).To(Succeed())
	w.t.Cleanup(m.supervisor.Close)
	identity, err := w.user.plane.AddUser(envtest.User{Name: "machine-controller", Groups: []string{"system:masters"}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	content, err = identity.KubeConfig()
	g.Expect(err).NotTo(HaveOccurred())
	m.kubeconfig = filepath.Join(w.t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(m.kubeconfig, content, 0o600)).To(Succeed())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: machines.BootstrapNamespace}}
	g.Expect(client.IgnoreAlreadyExists(w.user.client.Create(w.t.Context(), namespace))).To(Succeed())

	configuration := upstream.Webhooks("", nil)
	for at := range configuration.Webhooks {
		// What installs it makes an address of this.
		asked := &configuration.Webhooks[at].ClientConfig
		asked.Service = &admissionregistrationv1.ServiceReference{Namespace: metav1.NamespaceSystem, Name: "webhook", Path: asked.URL}
		asked.URL = nil
	}
	m.webhook = envtest.WebhookInstallOptions{
		LocalServingHost: "127.0.0.1", LocalServingPort: lowPort(g),
		MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{configuration},
	}
	g.Expect(m.webhook.Install(w.user.config)).To(Succeed())
	w.t.Cleanup(func() { _ = m.webhook.Cleanup() })
	m.start()
	played := &boot.Machines{
		Client: w.user.client, Instances: m.instances, Version: "1.30.14", Clock: clock.RealClock{}, Log: logr.Discard(),
	}
	ctx, stop := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = played.Run(ctx) }()
	w.t.Cleanup(func() { stop(); <-ended })
	return m
}

func (m *realMachines) instances() []cloud.Instance {
	var all []cloud.Instance
	for _, instance := range m.cloud.Snapshot(realTenant).Instances {
		all = append(all, cloud.Instance{
			Name: instance.Name, ID: instance.ID, ProviderID: instance.ProviderID, Addresses: instance.Addresses, UserData: instance.UserData,
		})
	}
	return all
}

// lowPort is free: the webhook reads its port as an integer of 16 bits with a sign.
func lowPort(g Gomega) int {
	for port := 20000; port < 32767; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			g.Expect(listener.Close()).To(Succeed())
			return port
		}
	}
	g.Expect(false).To(BeTrue(), "a port is free")
	return 0
}

// start starts both, with the flag that they have now; what runs ends first, as a Deployment of one does it.
func (m *realMachines) start() {
	m.w.t.Helper()
	g := NewWithT(m.w.t)
	for _, former := range []*process.Process{m.controller, m.admission} {
		if former != nil {
			g.Expect(former.Stop(m.w.t.Context(), 10*time.Second)).To(Succeed())
		}
	}
	flag := fmt.Sprintf("-node-external-cloud-provider=%t", m.external)
	run := func(program string, arguments ...string) *process.Process {
		log := filepath.Join(suite.folder, "..", "real-machine-controller", fmt.Sprintf("%s-external-%t.log", program, m.external))
		g.Expect(os.MkdirAll(filepath.Dir(log), 0o755)).To(Succeed())
		started, err := m.supervisor.Start(process.Options{
			Name: program, Command: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), program), LogFile: log,
			Args: append(arguments, "-kubeconfig", m.kubeconfig, "-cloud-config", m.cloudConfig, "-log-debug", flag),
		})
		g.Expect(err).NotTo(HaveOccurred())
		return started
	}
	m.controller = run("machine-controller", "-health-probe-address=127.0.0.1:0", "-metrics-address=127.0.0.1:0",
		"-enable-leader-election=false", "-node-csr-approver=false")
	certificates := m.webhook.LocalServingCertDir
	m.admission = run("machine-controller-webhook", fmt.Sprintf("-listen-address=127.0.0.1:%d", m.webhook.LocalServingPort), "-namespace=kube-system",
		"-tls-cert-path="+filepath.Join(certificates, "tls.crt"), "-tls-key-path="+filepath.Join(certificates, "tls.key"))
}

// follow starts them again when the Deployments that stand for them have other flags.
func (m *realMachines) follow() {
	if external := m.w.external(); external != m.external {
		m.external = external
		m.start()
	}
}

// create waits for the webhook, which is asked.
func (m *realMachines) create(name string, replicas int32) {
	m.w.t.Helper()
	labels := map[string]string{"pool": name}
	provider := `{"cloudProvider":"simcloud","operatingSystem":"ubuntu"}`
	deployment := &machines.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		Spec: machines.MachineDeploymentSpec{
			Replicas: &replicas, Selector: metav1.LabelSelector{MatchLabels: labels},
			Strategy: &machines.Strategy{Type: "RollingUpdate", RollingUpdate: &machines.RollingUpdate{
				MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
			}},
			Template: machines.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: machines.MachineSpec{
				Versions:     machines.Versions{Kubelet: "1.30.14"},
				ProviderSpec: machines.ProviderSpec{Value: &runtime.RawExtension{Raw: []byte(provider)}},
			}},
		},
	}
	attempt := func() error { return m.w.user.client.Create(m.w.t.Context(), deployment.DeepCopy()) }
	NewWithT(m.w.t).Eventually(attempt, deadline, interval).Should(Succeed())
}

func (m *realMachines) deployment(name string) *machines.MachineDeployment {
	m.w.t.Helper()
	deployment := &machines.MachineDeployment{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}
	NewWithT(m.w.t).Expect(m.w.user.client.Get(m.w.t.Context(), key, deployment)).To(Succeed())
	return deployment
}

// pause is what a person does.
func (m *realMachines) pause(name string, paused bool) {
	m.w.t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"paused":%t}}`, paused))
	NewWithT(m.w.t).Expect(m.w.user.client.Patch(m.w.t.Context(), m.deployment(name), patch)).To(Succeed())
}

// until lets everybody play, and the controller pass, in real time.
func (m *realMachines) until(what string, holds func(realCount) bool) {
	m.w.t.Helper()
	NewWithT(m.w.t).Eventually(func() bool {
		m.bootstrap()
		m.join()
		if m.rolls {
			m.follow()
			m.w.playControlPlane()
			m.w.clock.Step(2 * realTick)
			m.w.playAddons()
			if m.w.playCCM() && m.initializes {
				m.initializeNodes()
			}
			m.w.pass()
		}
		count := m.count()
		if count != m.last {
			m.w.t.Logf("%6.1f s  %+v", time.Since(m.began).Seconds(), count)
		}
		m.last = count
		return holds(count)
	}).WithTimeout(realPatience).WithPolling(realTick).Should(BeTrue(), what)
}

// bootstrap makes the Secrets of the operating-system-manager: of the newest revision of each MachineDeployment.
func (m *realMachines) bootstrap() {
	m.w.t.Helper()
	g, c := NewWithT(m.w.t), m.w.user.client
	list := &machines.MachineDeploymentList{}
	g.Expect(c.List(m.w.t.Context(), list)).To(Succeed())
	for _, deployment := range list.Items {
		if machines.Revision(&deployment) == 0 {
			continue
		}
		for _, wanted := range machines.RenderBootstrap(&deployment, m.external).Secrets() {
			secret := &corev1.Secret{}
			err := c.Get(m.w.t.Context(), client.ObjectKeyFromObject(wanted), secret)
			g.Expect(client.IgnoreNotFound(err)).To(Succeed())
			if err == nil && machines.BootstrapIsCurrent(&deployment, secret) {
				continue
			}
			g.Expect(client.IgnoreNotFound(c.Delete(m.w.t.Context(), wanted.DeepCopy()))).To(Succeed())
			g.Expect(c.Create(m.w.t.Context(), wanted)).To(Succeed())
		}
	}
}

// join is what the kubelet of each new Node does after it registered.
func (m *realMachines) join() {
	m.w.t.Helper()
	g, c := NewWithT(m.w.t), m.w.user.client
	nodes := &corev1.NodeList{}
	g.Expect(c.List(m.w.t.Context(), nodes)).To(Succeed())
	for _, node := range nodes.Items {
		if len(node.Status.Conditions) > 0 {
			continue
		}
		if node.Spec.ProviderID == "" {
			m.w.registerDriver(node.Name)
		}
		before := node.DeepCopy()
		node.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now(),
		}}
		g.Expect(c.Status().Patch(m.w.t.Context(), &node, client.MergeFrom(before))).To(Succeed())
	}
}

// initializeNodes is what the CCM does to new Nodes, to which the machine-controller writes as well.
func (m *realMachines) initializeNodes() {
	m.w.t.Helper()
	g, c := NewWithT(m.w.t), m.w.user.client
	nodes := &corev1.NodeList{}
	g.Expect(c.List(m.w.t.Context(), nodes)).To(Succeed())
	for _, node := range nodes.Items {
		if node.Spec.ProviderID == "" {
			before := node.DeepCopy()
			node.Spec.ProviderID, node.Spec.Taints = "simcloud://"+realTenant+"/"+node.Name, nil
			owner := client.FieldOwner("simcloud-cloud-controller-manager")
			g.Expect(c.Patch(m.w.t.Context(), &node, client.MergeFrom(before), owner)).To(Succeed())
		}
	}
}

func (m *realMachines) count() (count realCount) {
	m.w.t.Helper()
	g, c := NewWithT(m.w.t), m.w.user.client
	list := &machines.MachineList{}
	g.Expect(c.List(m.w.t.Context(), list)).To(Succeed())
	for _, machine := range list.Items {
		node := &corev1.Node{}
		ref := machine.Status.NodeRef
		joined := ref != nil && c.Get(m.w.t.Context(), client.ObjectKey{Name: ref.Name}, node) == nil
		external := machine.Annotations[ucv1.ExternalCloudProviderAnnotation] == "true"
		waits := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized })
		proven := joined && !waits && strings.HasPrefix(node.Spec.ProviderID, "simcloud://")
		switch {
		case machine.DeletionTimestamp != nil:
		case !external:
			count.old++
			if proven {
				count.serving++
			}
		case proven:
			count.created++
			count.proven++
			count.serving++
		default:
			count.created++
			count.unproven++
		}
	}
	return count
}
