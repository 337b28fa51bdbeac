package usercluster

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines/machinecontroller"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Session is the way into one user cluster with one set of credentials. It has the rooms: they remember what the API does not
// tell for as long as the session is there, and keep what they read while watches show no change.
type Session struct {
	// Machines are what the Nodes run on, by whoever makes them; Canary is the extra one that comes first.
	Machines machines.API
	Canary   *machines.Canary
	// Leases of managers, and who may hold them.
	Leases *leases.Elections
	// Addons are the CCM and the CSI driver.
	Addons *addons.Installer
	// Facts are read again in each pass, Preflight seldom; Others are managers that are not ours.
	Facts     *facts.Reader
	Preflight *facts.Preflight
	Others    *facts.Others
	// lookForMachines is for after a probe.
	lookForMachines func(context.Context)

	parts

	// authenticated says that the API server was seen to know who we are.
	authenticated atomic.Bool
}

// parts are what a session is made of.
type parts struct {
	client      client.Client
	clock       clock.Clock
	log         logr.Logger
	watches     *watches.Watches
	credentials credentials
	network     *network
	beside      addons.Beside
	// endpoint is how pods beside the control plane get into the user cluster.
	endpoint *clientcmdapi.Cluster
}

// network is what only a session with a real API server has.
type network struct {
	http    *http.Client
	bounds  *bounded
	probe   rest.Interface
	clients watches.Clients
}

func newSession(p parts) *Session {
	machineController := machinecontroller.New(p.client, p.clock, p.watches)
	s := &Session{
		parts: p, Machines: machineController, Canary: machines.NewCanary(p.client, machineController, p.clock, p.watches),
		lookForMachines: machineController.LookForKinds,
	}
	s.Leases = leases.New(leases.Options{
		Client: p.client, Management: p.beside.Live, Clock: p.clock, Watches: p.watches, User: p.credentials.user,
	})
	options := facts.Options{
		Client: p.client, Clock: p.clock, Log: p.log, Watches: p.watches, Leases: s.Leases,
		Machines: machineController, Rights: machinecontroller.Rights(), Expires: p.credentials.expires,
	}
	if p.network != nil {
		options.Network = &facts.Network{HTTP: p.network.http, Probe: p.network.probe}
	}
	s.Facts, s.Others = facts.New(options), facts.NewOthers(options)
	s.Preflight = facts.NewPreflight(options, s.Facts)
	s.Addons = addons.New(addons.Options{
		Client: p.client, Beside: p.beside, Clock: p.clock, Watches: p.watches, Leases: s.Leases, Nodes: s.Facts.Nodes,
	})
	return s
}

// connect makes a session; nothing is sent yet.
func connect(config *rest.Config, options Options, mapper meta.RESTMapper, wake func(),
	management addons.Beside, endpoint *clientcmdapi.Cluster,
) (*Session, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = ucv1.FieldManager
	config.WarningHandler = rest.NoWarnings{}
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(options.QPS, options.Burst)

	transport, bounds, err := newTransport(config, options)
	if err != nil {
		return nil, fmt.Errorf("make the transport: %w", err)
	}
	telling := &writes{RoundTripper: transport}
	network, err := newNetwork(config, &http.Client{Transport: telling})
	if err != nil {
		return nil, err
	}
	c, err := newClient(config, network.http, options.Scheme, mapper)
	if err != nil {
		return nil, err
	}
	network.bounds = bounds
	watching := watches.New(network.clients, wake, options.Log)
	telling.wrote = watching.Wrote
	if options.Kept != nil {
		watching.Keep(options.Kept)
	}
	return newSession(parts{
		client: c, clock: options.Clock, log: options.Log, watches: watching,
		credentials: credentialsOf(config), network: network, beside: management, endpoint: endpoint,
	}), nil
}

func newClient(
	config *rest.Config,
	httpClient *http.Client,
	scheme *runtime.Scheme,
	mapper meta.RESTMapper,
) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = reads.RequestTimeout // Told to the API server, too.
	discovering, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make the REST mapper: %w", err)
	}
	c, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: scheme,
		Mapper: meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{mapper, discovering}}})
	if err != nil {
		return nil, fmt.Errorf("make the client: %w", err)
	}
	return c, nil
}

func newNetwork(config *rest.Config, httpClient *http.Client) (*network, error) {
	probeConfig := rest.CopyConfig(config)
	probeConfig.RateLimiter = flowcontrol.NewFakeAlwaysRateLimiter() // A busy session must not look like a dead cluster.
	probeConfig.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	probe, err := rest.UnversionedRESTClientForConfigAndClient(probeConfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make the probe: %w", err)
	}
	metadataClient, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make the metadata client: %w", err)
	}
	leaseClient, err := coordinationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make the lease client: %w", err)
	}
	pods, err := coreclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make the pod client: %w", err)
	}
	clients := watches.Clients{Metadata: metadataClient, Leases: leaseClient.RESTClient(), Pods: pods.RESTClient()}
	return &network{http: httpClient, probe: probe, clients: clients}, nil
}

// Client is an uncached client of the user cluster, for the machine-controller's Deployments in it, and for static pods.
func (s *Session) Client() client.Client {
	return reads.Smaller{Client: s.client}
}

// close ends the watches and the connections. It waits for the watches.
func (s *Session) close() {
	s.watches.Close()
	if s.network != nil {
		utilnet.CloseIdleConnectionsFor(s.network.http.Transport)
	}
}

// knownKinds maps the kinds that we use to their resources. Discovery would cost two large requests and 100 KiB for
// each user cluster, and it may leave a group out for a moment; with the path at hand, "not found" is the API server's
// own word. Kinds that are not in this list are still discovered.
func knownKinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	add := func(version schema.GroupVersion, scope meta.RESTScope, kinds ...string) {
		for _, kind := range kinds {
			mapper.Add(version.WithKind(kind), scope)
		}
	}
	add(corev1.SchemeGroupVersion, meta.RESTScopeRoot, "Node", "PersistentVolume", "Namespace")
	add(
		corev1.SchemeGroupVersion,
		meta.RESTScopeNamespace,
		"Service",
		"Pod",
		"PersistentVolumeClaim",
		"ConfigMap",
		"Secret",
		"ServiceAccount",
		"Event",
	)
	add(appsv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeRoot, "ClusterRole", "ClusterRoleBinding")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Role", "RoleBinding")
	add(policyv1.SchemeGroupVersion, meta.RESTScopeNamespace, "PodDisruptionBudget")
	add(storagev1.SchemeGroupVersion, meta.RESTScopeRoot, "CSIDriver", "CSINode", "StorageClass", "VolumeAttachment")
	add(coordinationv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Lease")
	add(authorizationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SubjectAccessReview", "SelfSubjectAccessReview")
	add(authenticationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SelfSubjectReview")
	add(
		admissionregistrationv1.SchemeGroupVersion,
		meta.RESTScopeRoot,
		"ValidatingWebhookConfiguration",
		"MutatingWebhookConfiguration",
	)
	add(discoveryv1.SchemeGroupVersion, meta.RESTScopeNamespace, "EndpointSlice")
	add(facts.RegistrationGroupVersion(), meta.RESTScopeRoot, facts.RegistrationKind)
	for _, kind := range machinecontroller.Kinds() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return mapper
}
