package manifest

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CCM is what a provider says of its cloud-controller-manager. Everything else is the same for all.
type CCM struct {
	// Provider is its name in the catalogue, and what the names of the roles begin with.
	Provider string
	// Name of the Deployment and of its container.
	Name string
	// Identity that it has, and the Lease that it is elected by.
	Identity Identity
	// Image with its tag.
	Image string
	// Command; empty: the image's own.
	Command []string
	// LibraryMinor is the minor of k8s.io/cloud-provider that it is built with, which decides about its flags.
	LibraryMinor int
	// Arguments beyond those that all have.
	Arguments []string
	// Controllers are further entries of --controllers, such as -nodeipam for a loop that only this provider has.
	Controllers []string
	// Env of its container.
	Env []corev1.EnvVar
	// ConfigFile is the value of --cloud-config; empty: none.
	ConfigFile string
	// Secrets that it reads.
	Secrets []Secret
	// Rules that its provider needs beyond those of the cloud loops.
	Rules []rbacv1.PolicyRule
	// User that it runs as.
	User int64
	// PodNetwork keeps it off its Node's network: for a cloud whose Nodes have a pod network before they are initialized.
	PodNetwork bool
	// Flag is the value of --cloud-provider; empty: Provider.
	Flag string
	// NamespaceRules are rules that its provider needs in the namespace of the catalogue only.
	NamespaceRules []rbacv1.PolicyRule
	// NoWebhooks says that its main has no flags for webhooks, although its library has.
	NoWebhooks bool
}

const healthPort = 10258

// ClusterCritical is the priority class of what a cluster cannot do without.
const ClusterCritical = "system-cluster-critical"

// Set makes its objects.
func (c CCM) Set(in RenderInput, version string) (Set, error) {
	arguments, err := c.arguments(in)
	if err != nil {
		return Set{}, err
	}
	account := c.Identity.ServiceAccountName
	role := c.Provider + "-cloud-controller-manager"
	objects := objectsOf(c.Secrets)
	objects = append(objects, ServiceAccount(account))
	objects = append(objects, ClusterAccess(role, account, append(LoopRules(), c.Rules...))...)
	if len(c.NamespaceRules) > 0 {
		objects = append(objects, NamespaceAccess(role, account, c.NamespaceRules)...)
	}
	objects = append(objects,
		// With the RoleBinding below: requests to /metrics are authenticated and authorized by the API server, and without the
		// second one the process ends at its start:
		// https://github.com/kubernetes/apiserver/blob/v0.30.14/pkg/server/options/authentication.go#L361-L376
		clusterRoleBinding(role+":auth-delegator", "system:auth-delegator", account),
		roleBinding(role+":authentication-reader", "extension-apiserver-authentication-reader", account),
	)
	objects = append(append(objects, disruptionBudget(c.Name, role, in)...), c.deployment(role, arguments))
	return NewSet(c.Provider+"-ccm", version, objects)
}

// LoopRules are what the loops of k8s.io/cloud-provider ask for, of every minor from 1.24 on. Not among them:
//   - Leases, which the fence grants, later.
//   - ServiceAccounts, their tokens and Secrets: with --use-service-account-credentials=false they are not needed, and whoever
//     may mint tokens may borrow an identity that the fence does not bind.
//
// Facts from controllers/ and service/helpers of https://github.com/kubernetes/cloud-provider, tags v0.24.17 to v0.36.2: Nodes
// are initialized by an update, labelled and tainted by patches, and deleted; finalizers and addresses of load balancers both
// go through the status of the Service.
func LoopRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		Rule("", "nodes", "get", "list", "watch", "update", "patch", "delete"),
		Rule("", "nodes/status", "patch"),
		Rule("", "services", "list", "watch"),
		Rule("", "services/status", "patch"),
		Rule("", "events", "create", "patch"),
	}
}

func (c CCM) arguments(in RenderInput) ([]string, error) {
	inherited, err := InheritedArguments(in.Inherited, c.Controllers...)
	if err != nil {
		return nil, err
	}
	arguments := []string{"--cloud-provider=" + cmp.Or(c.Flag, c.Provider)}
	if c.ConfigFile != "" {
		arguments = append(arguments, "--cloud-config="+c.ConfigFile)
	}
	arguments = append(arguments,
		"--leader-elect=true",
		"--leader-elect-resource-name="+c.Identity.LeaseName,
		"--leader-elect-resource-namespace="+c.Identity.LeaseNamespace,
		// A candidate waits for 1 to 2.2 of these periods before it asks for its Lease again, and once the fence is open no one
		// runs the cloud loops for that long. The default is 2s:
		// https://github.com/kubernetes/client-go/blob/v0.30.14/tools/leaderelection/leaderelection.go
		"--leader-elect-retry-period=1s",
		"--use-service-account-credentials=false",
		"--secure-port="+strconv.Itoa(healthPort),
	)
	if c.PodNetwork {
		arguments = append(arguments, "--bind-address=$(POD_IP)")
	} else {
		// Not $(POD_IP): with hostNetwork it is empty while the Node has no addresses, and the CCM would not start on the very
		// Nodes that wait for it. Everything but health asks for authentication.
		arguments = append(arguments, "--bind-address=0.0.0.0", "--permit-port-sharing=true")
	}
	if c.LibraryMinor >= 27 && !c.NoWebhooks {
		// Up to 1.31 the port of the webhooks is bound although there are none, and cannot be shared by two replicas on a Node:
		// https://github.com/kubernetes/cloud-provider/blob/v0.31.14/options/webhook.go#L159
		arguments = append(arguments, "--webhook-secure-port=0")
	}
	return append(append(arguments, c.Arguments...), inherited...), nil
}

// deployment has no node selector, where some projects have a DaemonSet of the control plane's Nodes: a hosted control plane
// has none.
func (c CCM) deployment(name string, arguments []string) *appsv1.Deployment {
	container := corev1.Container{
		Name: c.Name, Image: c.Image, Command: c.Command, Args: arguments, Env: c.Env,
		ReadinessProbe: c.health(corev1.Probe{PeriodSeconds: 5, TimeoutSeconds: 5}),
		LivenessProbe:  c.health(corev1.Probe{InitialDelaySeconds: 20, TimeoutSeconds: 15, FailureThreshold: 6}),
		Resources:      Requests("100m", "64Mi"), SecurityContext: Unprivileged(),
	}
	if c.PodNetwork {
		container.Env = append(container.Env, FieldEnv("POD_IP", "status.podIP"))
		// With hostNetwork none is declared, or the scheduler would keep the second replica, and with it every rollout, waiting
		// for a second Node.
		container.Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: healthPort, Protocol: corev1.ProtocolTCP}}
	}
	pod := corev1.PodSpec{
		ServiceAccountName: c.Identity.ServiceAccountName,
		PriorityClassName:  ClusterCritical,
		// It must start on a Node that is not initialized, whose pod network may itself wait for the addresses that only the CCM
		// writes; and the cluster's DNS does not run on such Nodes.
		HostNetwork: !c.PodNetwork, DNSPolicy: corev1.DNSDefault,
		Affinity: apart(name), Tolerations: bootstrapTolerations(), NodeSelector: linux(),
		SecurityContext: RunAs(c.User), Containers: []corev1.Container{container},
	}
	Mount(&pod, 0, c.Secrets...)
	made := deployment(c.Name, name, pod, c.Secrets)
	if pod.HostNetwork {
		// The Node's network is more than even the level in the middle allows.
		made.Annotations = Needing(Privileged)
	}
	return made
}

// health is asked on the Node's own address where it shares the Node's network. There a probe may be answered by the other
// replica of the same Node, as both share the port.
func (c CCM) health(probe corev1.Probe) *corev1.Probe {
	probe.HTTPGet = &corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTPS, Path: "/healthz", Port: intstr.FromInt32(healthPort)}
	if !c.PodNetwork {
		probe.HTTPGet.Host = "127.0.0.1"
	}
	return &probe
}

// ToleratesBootstrap says whether a toleration is one of those.
func ToleratesBootstrap(toleration corev1.Toleration) bool {
	return slices.ContainsFunc(
		bootstrapTolerations(),
		func(other corev1.Toleration) bool { return other.MatchToleration(&toleration) },
	)
}

// bootstrapTolerations let the CCM start where nothing else does.
func bootstrapTolerations() []corev1.Toleration {
	var tolerations []corev1.Toleration
	for _, key := range []string{
		"node.cloudprovider.kubernetes.io/uninitialized", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master",
		"node.kubernetes.io/not-ready",
		// The route loop is what takes this one away.
		"node.kubernetes.io/network-unavailable",
	} {
		tolerations = append(tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
	return append(tolerations, corev1.Toleration{
		// A Node that is gone must not keep the leader for the five minutes that are the default.
		Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		TolerationSeconds: new(int64(30)),
	})
}

// deployment has two replicas, so that draining one's Node costs one lease duration. They prefer, but do not need, a Node
// each; a surge of none and one unavailable roll out on a single Node too, and on one that is full.
func deployment(workload, label string, pod corev1.PodSpec, secrets []Secret) *appsv1.Deployment {
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: workload},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &none, MaxUnavailable: &one},
			},
			Selector: &metav1.LabelSelector{MatchLabels: named(label)},
			Template: template(label, pod, secrets),
		},
	}
}

// disruptionBudget lets a drain take one replica at a time. There is none before 1.27, from which on it can let pods go that are
// not healthy: a CCM that is broken must not keep its Nodes from being drained.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
func disruptionBudget(workload, label string, in RenderInput) []Object {
	if minor, err := Minor(in.Version); err != nil || minor < 27 {
		return nil
	}
	return []Object{&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: workload},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: named(label)},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}}
}
