package suite

import (
	"context"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Testbed is that of one container: its manager, and a user cluster for each story that is being told.
type Testbed struct {
	*bed.Bed
	Stories   Stories
	Survivors Survivors
	verdicts  *Verdicts
	// installed is closed when there is a manager.
	installed chan struct{}

	mu    sync.Mutex
	names []string
}

// NewTestbed is called when the tree of specs is built, and starts nothing.
func NewTestbed() *Testbed { return &Testbed{installed: make(chan struct{})} }

// Start is for BeforeAll. It begins with the stories while the manager is being installed: the start of a user cluster
// is mostly waiting, too. Everything ends with the container.
func (h *Testbed) Start(ctx SpecContext, options bed.Options) {
	GinkgoHelper()
	outlasting, cancel, release := Outlasting(ctx)
	defer release()
	options.OutliveForceDelete = h.Survivors.outlive
	var err error
	h.Bed, err = bed.Start(outlasting, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(SpecContext) {
		ExpectStopped(h.Bed, func() {
			cancel()
			h.Stories.Wait()
			h.Stop()
		})
	}, NodeTimeout(StartTime))
	h.Stories.Start(outlasting)
	Expect(h.InstallManager()).To(Succeed())
	h.verdicts = WatchClusters(outlasting, h.Bed)
	close(h.installed)
}

// Installed waits for the manager.
func (h *Testbed) Installed(ctx context.Context, s *Scene) {
	GinkgoHelper()
	h.Passes(ctx, s, h.installed)
}

// Passes waits until a gate is closed behind what had to come first.
func (h *Testbed) Passes(ctx context.Context, s *Scene, gate <-chan struct{}) {
	GinkgoHelper()
	select {
	case <-gate:
	case <-ctx.Done():
		s.Expect(context.Cause(ctx)).NotTo(HaveOccurred(), "the testbed ended while others had to come first")
	}
}

// With tells of a user cluster of its own, which exists as long as its story, has a Node and a load balancer, and whose
// Cluster object is made when all gates are open.
func (h *Testbed) With(
	options bed.UserClusterOptions, tell func(context.Context, *Scene, *bed.UserCluster), gates ...<-chan struct{},
) func(context.Context, *Scene) {
	return func(ctx context.Context, s *Scene) {
		u, err := h.AddUserCluster(options)
		s.Expect(err).NotTo(HaveOccurred())
		h.mu.Lock()
		h.names = append(h.names, options.Name)
		h.mu.Unlock()
		ended := false
		defer func() {
			// The next story needs its place also when this one failed, which is what has to be said then.
			if !ended {
				_ = h.RemoveUserCluster(u)
			}
		}()
		s.Expect(h.furnish(ctx, u)).To(Succeed())
		for _, gate := range append(gates, h.installed) {
			h.Passes(ctx, s, gate)
		}
		s.Expect(h.Client.Create(ctx, u.NewCluster(false))).To(Succeed())
		tell(ctx, s, u)
		ended = true
		s.Expect(h.RemoveUserCluster(u)).To(Succeed())
	}
}

// furnish gives a cluster a Node for the CCM and a Service for its service loop.
func (h *Testbed) furnish(ctx context.Context, u *bed.UserCluster) error {
	for _, object := range []client.Object{bed.MachineDeployment("pool", 1), bed.LoadBalancer("web")} {
		if err := u.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	what := "user cluster " + u.Options.Name + ": load balancer and Node"
	return h.WaitFor(ctx, what, Patience, func(ctx context.Context) (string, error) {
		service, nodes := &corev1.Service{}, &corev1.NodeList{}
		if err := u.Client.Get(ctx, client.ObjectKeyFromObject(bed.LoadBalancer("web")), service); err != nil {
			return "", err
		}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 || len(nodes.Items) == 0 {
			return "there is no address or no Node yet", nil
		}
		return "", nil
	})
}

// ExpectNothingRanTwice asks about the user clusters of the stories.
func (h *Testbed) ExpectNothingRanTwice(s *Scene) {
	GinkgoHelper()
	h.mu.Lock()
	names := slices.Clone(h.names)
	h.mu.Unlock()
	ExpectNothingRanTwice(s, h.Bed, names...)
}

// ExpectNothingForbidden reads the logs of all processes of the manager.
func (h *Testbed) ExpectNothingForbidden(s *Scene) {
	GinkgoHelper()
	ExpectNothingForbidden(s, h.Bed)
}

// ExpectGoodVerdicts on every version of every Cluster.
func (h *Testbed) ExpectGoodVerdicts(s *Scene) {
	GinkgoHelper()
	h.verdicts.ExpectGood(s)
}
