package demo

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi"
)

// chapterPatience bounds each wait of the story; a whole one takes a few minutes.
const chapterPatience = 10 * time.Minute

// csiDriver is simcloud's.
const csiDriver = "csi.simcloud.k8c.io"

// Story is the running demo.
type Story struct {
	Bed    *bed.Bed
	screen *Screen
	ctx    context.Context
	stop   context.CancelFunc

	clusters  map[string]*bed.UserCluster
	witnesses map[string]*Witness
	manager   ManagerCost
	flippedAt time.Time
}

// names of the user clusters, in the order of the report.
func names() []string { return []string{"alpha", "beta", "gamma", "delta"} }

// Begin starts the testbed with the four clusters, in-tree but for beta, and the manager.
func Begin(ctx context.Context, options bed.Options, screen *Screen) (*Story, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	options.Audited = true // The report counts the manager's requests.
	b, err := bed.Start(ctx, options)
	if err != nil {
		stop()
		return nil, err
	}
	s := &Story{
		Bed:       b,
		screen:    screen,
		ctx:       ctx,
		stop:      stop,
		clusters:  map[string]*bed.UserCluster{},
		witnesses: map[string]*Witness{},
	}
	if err := s.setUp(); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// End ends every process.
func (s *Story) End() {
	s.Bed.Stop()
	s.stop()
}

// setUp installs the manager and starts the user clusters side by side: most of that is waiting.
func (s *Story) setUp() error {
	group, _ := errgroup.WithContext(s.ctx)
	group.Go(s.Bed.InstallManager)
	added := make([]*bed.UserCluster, len(names()))
	for at, name := range names() {
		group.Go(func() (err error) {
			added[at], err = s.Bed.AddUserCluster(bed.UserClusterOptions{
				Name: name, External: name == "beta", CCMBesideControlPlane: name == "gamma", WholeControlPlane: name == wholeControlPlane,
			})
			if err != nil {
				return err
			}
			return s.populate(added[at])
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, cluster := range added {
		s.clusters[cluster.Options.Name] = cluster
		// The canary's claim needs a volume.
		go func() { _ = csi.ServeVolumes(s.ctx, cluster.Client, csiDriver) }()
	}
	for _, name := range []string{"alpha", "gamma", "delta"} {
		if err := s.create(name, false); err != nil {
			return err
		}
	}
	for _, name := range []string{"alpha", "gamma", "delta"} {
		if err := s.waitForReady(name, ucv1.InTreeReason); err != nil {
			return err
		}
	}
	return s.create("beta", true)
}

// create makes the Cluster object, with a canary first, as it is unless a person says otherwise.
func (s *Story) create(name string, external bool) error {
	cluster := s.clusters[name].NewCluster(external)
	cluster.Spec.Rollout.Canary = ""
	return s.Bed.Client.Create(s.ctx, cluster)
}

// Tell is the story itself.
func (s *Story) Tell() error {
	for _, name := range names() {
		witness, err := Watch(s.ctx, s.Bed, s.clusters[name], s.screen)
		if err != nil {
			return err
		}
		s.witnesses[name] = witness
	}
	s.screen.Say("beta was created with the feature: waiting for its addons")
	if err := s.waitForReady("beta", ucv1.ExternalReason); err != nil {
		return err
	}
	s.screen.Say("setting spec.features.externalCloudProvider on alpha, gamma and delta")
	s.flippedAt = time.Now()
	for _, name := range []string{"alpha", "gamma", "delta"} {
		if err := s.flip(name); err != nil {
			return err
		}
	}
	group, _ := errgroup.WithContext(s.ctx)
	group.Go(s.tellAlpha)
	group.Go(s.tellGamma)
	group.Go(s.tellDelta)
	if err := group.Wait(); err != nil {
		return err
	}
	return s.measureManager()
}

func (s *Story) flip(name string) error {
	patch := []byte(`{"spec":{"features":{"externalCloudProvider":true}}}`)
	cluster := &ucv1.Cluster{}
	cluster.Namespace, cluster.Name = s.clusters[name].Namespace, name
	return s.Bed.Client.Patch(s.ctx, cluster, client.RawPatch(types.MergePatchType, patch))
}

// tellAlpha kills the manager in the middle of the roll.
func (s *Story) tellAlpha() error {
	if err := s.waitFor("alpha", "the middle of the roll", func(c *ucv1.Cluster) string {
		if c.Status.Step == ucv1.StepRoll && c.Status.Machines != nil && c.Status.Machines.UpToDate >= 2 {
			return ""
		}
		return "step " + string(c.Status.Step)
	}); err != nil {
		return err
	}
	if err := s.killManager(); err != nil {
		return err
	}
	return s.waitForFinished("alpha")
}

// tellGamma waits for a person to be called, and is that person.
func (s *Story) tellGamma() error {
	if err := s.waitFor("gamma", "Stalled with both names", func(c *ucv1.Cluster) string {
		stalled := meta.FindStatusCondition(c.Status.Conditions, ucv1.StalledCondition)
		if stalled == nil {
			return "it is not Stalled"
		}
		if !strings.Contains(stalled.Message, gammaPaused) || !strings.Contains(stalled.Message, gammaStandalone) {
			return "its message is: " + stalled.Message
		}
		return ""
	}); err != nil {
		return err
	}
	s.screen.Say("gamma: unpausing " + gammaPaused + " and deleting Machine " + gammaStandalone)
	user := s.clusters["gamma"].Client
	deployment := bed.MachineDeployment(gammaPaused, 1)
	if err := user.Patch(s.ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":false}}`))); err != nil {
		return err
	}
	if err := user.Delete(s.ctx, bed.Machine(gammaStandalone)); err != nil {
		return err
	}
	return s.waitForFinished("gamma")
}

// tellDelta gets its first Machine when it is done, with pods of the CCM that kube-scheduler has not tried often yet. It tries
// one again and again while there is no Node, after a backoff that grows to ten seconds, so that it would be the backoff that is
// measured (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/scheduler/internal/queue/scheduling_queue.go#L754).
func (s *Story) tellDelta() error {
	if err := s.waitForFinished("delta"); err != nil {
		return err
	}
	user := s.clusters["delta"].Client
	s.screen.Say("delta: creating its first MachineDeployment")
	if err := user.Create(s.ctx, bed.MachineDeployment("first", 1)); err != nil {
		return err
	}
	// From here on the instance boots.
	if err := s.Bed.WaitFor(s.ctx, "delta's first instance", chapterPatience, func(context.Context) (string, error) {
		if len(s.Bed.Cloud.Snapshot("delta").Instances) == 0 {
			return "there is none", nil
		}
		return "", nil
	}); err != nil {
		return err
	}
	if err := deletePending(s.ctx, user); err != nil {
		return err
	}
	return s.waitForNodes(s.clusters["delta"], 1, true)
}

// deletePending pods of the CCM; others come in their place.
func deletePending(ctx context.Context, user client.Client) error {
	pods := &corev1.PodList{}
	if err := user.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem)); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !strings.HasPrefix(pod.Name, ccmName) || pod.Spec.NodeName != "" {
			continue
		}
		if err := client.IgnoreNotFound(user.Delete(ctx, pod)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Story) waitForFinished(name string) error {
	return s.waitFor(name, "the end of its migration", func(c *ucv1.Cluster) string {
		if meta.IsStatusConditionTrue(c.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition) &&
			c.Status.Step == ucv1.StepFinished {
			return ""
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, ucv1.ReadyCondition)
		return fmt.Sprintf("step %s: %s", c.Status.Step, ready.Message)
	})
}

func (s *Story) waitForReady(name, reason string) error {
	return s.waitFor(name, "Ready with reason "+reason, func(c *ucv1.Cluster) string {
		ready := meta.FindStatusCondition(c.Status.Conditions, ucv1.ReadyCondition)
		if ready == nil {
			return "it has no condition Ready"
		}
		if ready.Status != "True" || ready.Reason != reason {
			return string(ready.Status) + " " + ready.Reason + ": " + ready.Message
		}
		return ""
	})
}

func (s *Story) waitFor(name, what string, holds func(*ucv1.Cluster) string) error {
	return s.Bed.WaitFor(s.ctx, "Cluster "+name+": "+what, chapterPatience, func(ctx context.Context) (string, error) {
		cluster, err := s.clusters[name].Get(ctx)
		if err != nil {
			return "", err
		}
		if cluster.Status.Step == "" && !slices.Contains(names(), cluster.Name) {
			return "it has no status", nil
		}
		return holds(cluster), nil
	})
}

// Kubeconfigs writes kubeconfigs for people and returns their paths, the management cluster's first.
func (s *Story) Kubeconfigs() ([]string, error) {
	path, err := s.Bed.WriteKubeconfig(bed.ManagementName, s.Bed.Management, s.Bed.Management.AdminConfig())
	if err != nil {
		return nil, err
	}
	paths := []string{path}
	for _, name := range names() {
		cluster := s.clusters[name]
		path, err := s.Bed.WriteKubeconfig(name, cluster.Cluster, cluster.AdminConfig())
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
