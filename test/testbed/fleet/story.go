package fleet

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
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
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// patience bounds each wait of the story.
const patience = 10 * time.Minute

// managerName is the beginning of the names of the manager's pods.
const managerName = "ccm-migration-controller-manager-"

// Story is a running fleet.
type Story struct {
	Bed  *bed.Bed
	cast Cast
	say  func(string)
	ctx  context.Context
	stop context.CancelFunc

	clusters map[string]*bed.UserCluster
	// closes and opens are when the windows of north do.
	closes, opens time.Time
	seen          *seen
	kills         []time.Time
	resumed       []time.Time
	approved      []time.Time
}

// Begin starts the testbed with its clusters, all in-tree, and the manager.
func Begin(ctx context.Context, options bed.Options, cast Cast) (*Story, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	options.Audited = true
	b, err := bed.Start(ctx, options)
	if err != nil {
		stop()
		return nil, err
	}
	s := &Story{
		Bed: b, cast: cast, say: b.Options().Progress, ctx: ctx, stop: stop, clusters: map[string]*bed.UserCluster{}, seen: newSeen(),
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

func (s *Story) setUp() error {
	group, _ := errgroup.WithContext(s.ctx)
	group.SetLimit(4) // Control planes that start all at once take longer than one after the other.
	group.Go(s.Bed.InstallManager)
	added := make([]*bed.UserCluster, len(s.cast.Members))
	for i, m := range s.cast.Members {
		group.Go(func() (err error) {
			if added[i], err = s.Bed.AddUserCluster(bed.UserClusterOptions{Name: m.Name, KCMReplicas: 1}); err != nil {
				return err
			}
			return s.populate(added[i])
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, m := range s.cast.Members {
		s.clusters[m.Name] = added[i]
		cluster := added[i].NewCluster(false)
		cluster.Labels = m.labels()
		if err := s.Bed.Client.Create(s.ctx, cluster); err != nil {
			return err
		}
	}
	for _, m := range s.cast.Members {
		if err := s.waitForReady(m.Name, ucv1.InTreeReason); err != nil {
			return err
		}
	}
	return nil
}

// populate gives a user cluster one Machine and a load balancer.
func (s *Story) populate(u *bed.UserCluster) error {
	for _, object := range []client.Object{bed.MachineDeployment("pool", 1), bed.LoadBalancer("web")} {
		if err := u.Client.Create(s.ctx, object); err != nil {
			return err
		}
	}
	what := "user cluster " + u.Options.Name + ": a Ready Node"
	return s.Bed.WaitFor(s.ctx, what, patience, func(ctx context.Context) (string, error) {
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		if !slices.ContainsFunc(nodes.Items, isReady) {
			return fmt.Sprintf("none of %d", len(nodes.Items)), nil
		}
		return "", nil
	})
}

func isReady(node corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// Tell the story: the FleetMigrations come with all flips, as from one commit.
func (s *Story) Tell() error {
	if s.cast.Breaks != "" {
		s.Bed.Cloud.AddFault(simcloud.Fault{
			Cluster: s.cast.Breaks, Method: "InstanceMetadata", ErrorStatus: http.StatusInternalServerError,
		})
	}
	// The window closes while the canary migrates, and the next one opens two minutes later.
	s.closes = time.Now().Add(90 * time.Second).Truncate(time.Minute)
	s.opens = s.closes.Add(2 * time.Minute)
	watching, stop := context.WithCancel(s.ctx)
	defer stop()
	group, ctx := errgroup.WithContext(watching)
	group.Go(func() error { return s.watch(ctx) })
	s.say("creating the FleetMigrations, and setting spec.features.externalCloudProvider on all Clusters")
	if err := s.begin(); err != nil {
		return err
	}
	parts := []func() error{s.tellKill, s.tellApproval}
	if s.cast.Breaks != "" {
		parts = append(parts, s.tellHalt)
	}
	for _, part := range parts {
		group.Go(part)
	}
	group.Go(func() error {
		defer stop()
		return s.waitForAll()
	})
	return group.Wait()
}

func (s *Story) begin() error {
	migrations := []*ucv1.FleetMigration{s.cast.northMigration(s.closes, s.opens)}
	if len(s.cast.of(south)) > 0 {
		migrations = append(migrations, southMigration())
	}
	for _, fm := range migrations {
		if err := s.Bed.Client.Create(s.ctx, fm); err != nil {
			return err
		}
	}
	for _, m := range s.cast.Members {
		cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.clusters[m.Name].Namespace, Name: m.Name}}
		if err := s.patch(cluster, `{"spec":{"features":{"externalCloudProvider":true}}}`); err != nil {
			return err
		}
	}
	return nil
}

func (s *Story) patch(object client.Object, patch string) error {
	return s.Bed.Client.Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// tellKill ends the manager at the first sight of a Cluster that is being admitted.
func (s *Story) tellKill() error {
	fleet := s.cast.Members[len(s.cast.Members)-1].Fleet
	if err := s.waitForMigration(fleet, "a Cluster that is being admitted", func(fm *ucv1.FleetMigration) string {
		if len(fm.Status.Admitting) == 0 {
			return "none"
		}
		return ""
	}); err != nil {
		return err
	}
	entries, err := s.Bed.Processes(bed.ManagementName, managerName)
	if err != nil || len(entries) == 0 {
		return fmt.Errorf("no process of the manager: %w", err)
	}
	s.say("killing the manager (SIGKILL) while it admits")
	s.kills = append(s.kills, time.Now())
	return syscall.Kill(entries[0].PID, syscall.SIGKILL)
}

// tellApproval approves wave prod as a person does who has read the report.
func (s *Story) tellApproval() error {
	digest := ""
	if err := s.waitForMigration(north, "a wave that waits for its approval", func(fm *ucv1.FleetMigration) string {
		for _, wave := range fm.Status.Waves {
			if wave.State == ucv1.WaveAwaitingApproval && wave.Gate != nil {
				digest = wave.Gate.Digest
				return ""
			}
		}
		return fmt.Sprintf("%+v", fm.Status.Waves)
	}); err != nil {
		return err
	}
	s.say("approving wave " + prod + " with digest " + digest)
	s.approved = append(s.approved, time.Now())
	return s.patch(&ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: north}},
		fmt.Sprintf(`{"spec":{"approvals":[{"wave":%q,"gateDigest":%q,"reason":"the canary is well"}]}}`, prod, digest))
}

// tellHalt waits for the halt, repairs what broke, and resumes when the Cluster has recovered.
func (s *Story) tellHalt() error {
	if err := s.waitForMigration(north, "the halt", func(fm *ucv1.FleetMigration) string {
		if fm.Status.Halt == nil {
			return "it is not halted"
		}
		return ""
	}); err != nil {
		return err
	}
	if err := s.waitForAlert(); err != nil {
		return err
	}
	s.say("north halted; repairing what keeps the CCM of " + s.cast.Breaks + " from initializing Nodes")
	s.Bed.Cloud.ClearFaultsOf(s.cast.Breaks)
	if err := s.clusters[s.cast.Breaks].WakeCCM(s.ctx); err != nil {
		return err
	}
	if err := s.waitForCluster(s.cast.Breaks, "its recovery", func(c *ucv1.Cluster) string {
		if stalled := meta.FindStatusCondition(c.Status.Conditions, ucv1.StalledCondition); stalled != nil {
			return stalled.Message
		}
		return ""
	}); err != nil {
		return err
	}
	now := time.Now().UTC()
	s.say("resuming: spec.failures.countSince")
	s.resumed = append(s.resumed, now)
	return s.patch(&ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: north}},
		fmt.Sprintf(`{"spec":{"failures":{"countSince":%q}}}`, now.Format(time.RFC3339)))
}

// waitForAlert leaves the halt alone for as long as config/prometheus waits before it calls a person.
func (s *Story) waitForAlert() error {
	const before = 75 * time.Second
	began := time.Now()
	return s.Bed.WaitFor(s.ctx, "the halt to last for longer than a minute", 2*before, func(context.Context) (string, error) {
		if left := before - time.Since(began); left > 0 {
			return fmt.Sprintf("%.0f s are left", left.Seconds()), nil
		}
		return "", nil
	})
}

func (s *Story) waitForAll() error {
	for _, m := range s.cast.Members {
		err := s.waitForCluster(m.Name, "the end of its migration", func(c *ucv1.Cluster) string {
			if meta.IsStatusConditionTrue(c.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition) {
				return ""
			}
			ready := meta.FindStatusCondition(c.Status.Conditions, ucv1.ReadyCondition)
			return fmt.Sprintf("step %s: %s", c.Status.Step, ready.Message)
		})
		if err != nil {
			return err
		}
	}
	for _, name := range []string{north, south} {
		if len(s.cast.of(name)) == 0 {
			continue
		}
		if err := s.waitForMigration(name, "that the last wave has passed", func(fm *ucv1.FleetMigration) string {
			ready := meta.FindStatusCondition(fm.Status.Conditions, ucv1.ReadyCondition)
			if ready == nil || ready.Status != metav1.ConditionTrue {
				return fmt.Sprintf("%+v", ready)
			}
			return ""
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Story) waitForReady(name, reason string) error {
	return s.waitForCluster(name, "Ready with reason "+reason, func(c *ucv1.Cluster) string {
		ready := meta.FindStatusCondition(c.Status.Conditions, ucv1.ReadyCondition)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.Reason != reason {
			return fmt.Sprintf("%+v", ready)
		}
		return ""
	})
}

func (s *Story) waitForCluster(name, what string, lacks func(*ucv1.Cluster) string) error {
	return s.Bed.WaitFor(s.ctx, "Cluster "+name+": "+what, patience, func(ctx context.Context) (string, error) {
		c, err := s.clusters[name].Get(ctx)
		if err != nil {
			return "", err
		}
		return lacks(c), nil
	})
}

func (s *Story) waitForMigration(name, what string, lacks func(*ucv1.FleetMigration) string) error {
	return s.Bed.WaitFor(s.ctx, "FleetMigration "+name+": "+what, patience, func(ctx context.Context) (string, error) {
		fm := &ucv1.FleetMigration{}
		if err := s.Bed.Client.Get(ctx, client.ObjectKey{Name: name}, fm); err != nil {
			return "", err
		}
		return lacks(fm), nil
	})
}
