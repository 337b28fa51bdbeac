package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// patience bounds each wait; a Slow scenario waits for a deadline of ten minutes.
const (
	patience     = 6 * time.Minute
	slowPatience = 14 * time.Minute
)

// Play is a scenario that runs. Its methods are what those who disturb need.
type Play struct {
	*bed.Bed
	User     *bed.UserCluster
	Scenario Scenario

	dir       string
	survivors *survivors
	witness   *witness
	load      *load
	random    *rand.Rand
	// kcmBefore, podBefore and command are the generation, the pods and the command line of KCM's Deployment before the feature
	// is switched on.
	kcmBefore int64
	podBefore corev1.PodSpec
	command   []string
	cleanups  []func(context.Context) error
}

// atEnd does something before the cluster is removed.
func (p *Play) atEnd(cleanup func(context.Context) error) { p.cleanups = append(p.cleanups, cleanup) }

// clean does it, once.
func (p *Play) clean(ctx context.Context) error {
	var failed error
	for _, cleanup := range p.cleanups {
		failed = errors.Join(failed, cleanup(ctx))
	}
	p.cleanups = nil
	return failed
}

// run plays the scenario from the set-up of its cluster to the records in its folder.
func (p *Play) run(ctx context.Context) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	var err error
	if p.User, err = p.AddUserCluster(p.Scenario.Setup.userCluster(p.Scenario.Name)); err != nil {
		return err
	}
	if p.witness, err = newWitness(ctx, p.Bed, p.User, p.dir); err != nil {
		return err
	}
	p.load = newLoad(p)
	if err := p.act(ctx); err != nil {
		return err
	}
	if err := p.witness.close(); err != nil {
		return err
	}
	if err := p.export(); err != nil {
		return err
	}
	if err := p.clean(ctx); err != nil {
		return err
	}
	return p.RemoveUserCluster(p.User)
}

func (p *Play) act(ctx context.Context) error {
	if err := p.load.prepare(ctx); err != nil {
		return err
	}
	if before := p.Scenario.Setup.Before; before != nil {
		if err := before(ctx, p); err != nil {
			return err
		}
	}
	if err := p.create(ctx); err != nil {
		return err
	}
	ended := p.load.start(ctx)
	disturbed := p.disturbed(ctx)
	if disturbed == nil {
		disturbed = p.awaitResult(ctx)
	}
	if err := ended(); err != nil {
		return err
	}
	if disturbed != nil {
		return disturbed
	}
	if after := p.Scenario.After; after != nil {
		if err := after(ctx, p); err != nil {
			return err
		}
	}
	return p.settle(ctx)
}

// create makes the Cluster object in-tree and switches the feature on.
func (p *Play) create(ctx context.Context) error {
	cluster := p.User.NewCluster(false)
	cluster.Spec.Handover.Protocol = p.Scenario.Setup.Protocol
	if p.Scenario.Setup.Across != "" {
		cluster.Spec.Handover.LeaderMigration = acrossMinors
	}
	if p.Scenario.Setup.Instruct {
		cluster.Spec.ControlPlane.Change = ucv1.InstructChange
	}
	if err := p.Client.Create(ctx, cluster); err != nil {
		return err
	}
	err := p.witness.until(ctx, "Ready with reason InTree", patience, func(w *witness) bool {
		if len(w.seen) == 0 {
			return false
		}
		ready := meta.FindStatusCondition(w.seen[len(w.seen)-1].Conditions, ucv1.ReadyCondition)
		return ready != nil && ready.Reason == ucv1.InTreeReason
	})
	if err != nil {
		return err
	}
	if p.Scenario.Setup.Topology != External {
		kcm, err := p.KCM(ctx)
		if err != nil {
			return err
		}
		p.kcmBefore, p.podBefore = kcm.Generation, kcm.Spec.Template.Spec
		p.command = p.podBefore.Containers[0].Command
	}
	p.witness.note(Flipped, cluster.Name)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"features":{"externalCloudProvider":true}}}`))
	return p.Client.Patch(ctx, cluster, patch)
}

func (p *Play) disturbed(ctx context.Context) error {
	if p.Scenario.Disturb == nil {
		return nil
	}
	return p.Scenario.Disturb(ctx, p)
}

// awaitResult waits for the result that is wanted. Another one is found by the judge.
func (p *Play) awaitResult(ctx context.Context) error {
	limit := patience
	if p.Scenario.Slow {
		limit = slowPatience
	}
	err := p.witness.until(ctx, "result "+string(p.Scenario.Want), limit, func(w *witness) bool {
		return len(w.seen) > 0 && resultOf(&w.seen[len(w.seen)-1]) == p.Scenario.Want
	})
	if err != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// resultOf is what the newest status says; a hand-over that waits has no result yet.
func resultOf(status *ucv1.ClusterStatus) Result {
	switch {
	case status.Step == ucv1.StepRolledBack:
		return RolledBack
	case status.Handover != nil && status.Handover.FinishedAt != nil && meta.IsStatusConditionTrue(status.Conditions,
		ucv1.HandoverCompletedCondition):
		return HandedOver
	case !meta.IsStatusConditionTrue(status.Conditions, ucv1.StalledCondition):
		return Unfinished
	case status.StartedAt == nil:
		return Refused
	}
	return Stalled
}

// settle waits until what was changed is served; what is not served in the end, the judge finds in the state.
func (p *Play) settle(ctx context.Context) error {
	state, err := p.served(ctx)
	if ctx.Err() != nil || p.Err() != nil {
		return err
	}
	if err != nil {
		p.Options().Progress(err.Error())
	}
	content, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, stateFile), content, 0o644)
}

// served waits until everything is; with an error comes the last state.
func (p *Play) served(ctx context.Context) (State, error) {
	state := State{}
	err := p.WaitFor(ctx, "everything to be served in "+p.Scenario.Name, patience, func(ctx context.Context) (string, error) {
		var err error
		if state, err = p.state(ctx); err != nil {
			return "", err
		}
		for _, lost := range unserved(state) {
			return lost, nil
		}
		return "", nil
	})
	return state, err
}

func (p *Play) state(ctx context.Context) (State, error) {
	state, err := p.load.state(ctx)
	if err != nil {
		return State{}, err
	}
	if p.Scenario.Setup.Topology != External {
		kcm, err := p.KCM(ctx)
		if err != nil {
			return State{}, err
		}
		state.KCMChanges = kcm.Generation - p.kcmBefore
	}
	state.Routes = !p.Scenario.Bars.NoRoutes
	return state, nil
}

// export copies what concerns the cluster from the records of the whole testbed.
func (p *Play) export() error {
	calls, err := loops.ReadFile(p.File(callsFile), loops.ReadCalls)
	if err != nil {
		return err
	}
	samples, err := loops.ReadFile(p.File(samplesFile), loops.ReadSamples)
	if err != nil {
		return err
	}
	processes, err := p.User.History()
	if err != nil {
		return err
	}
	if err := writeLines(filepath.Join(p.dir, historyFile), processes); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(p.dir, callsFile), loops.OfCluster(calls, p.Scenario.Name)); err != nil {
		return err
	}
	return writeLines(filepath.Join(p.dir, samplesFile), loops.OfCluster(samples, p.Scenario.Name))
}

// KCM is its Deployment.
func (p *Play) KCM(ctx context.Context) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, p.Client.Get(ctx, client.ObjectKey{Namespace: p.User.Namespace, Name: kcmName}, deployment)
}

// AtLine waits until a line of the hand-over's table is current, or was, or one behind it: a status that met a conflict is
// not written, and no one sees its line.
func (p *Play) AtLine(ctx context.Context, line string) error {
	table := lines(p.Scenario.Setup.Protocol)
	behind := table[max(slices.Index(table, line), 0):]
	return p.witness.untilAny(ctx, "line "+line, patience, func(status *ucv1.ClusterStatus) bool {
		handover := status.Handover
		return handover != nil && (slices.Contains(behind, handover.Stage) || handover.FinishedAt != nil)
	})
}

// Stays fails when within the time anything opens the fence.
func (p *Play) Stays(ctx context.Context, closed time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := p.witness.until(ctx, "the fence to be opened too early", closed, func(w *witness) bool { return w.open })
	if err == nil {
		return fmt.Errorf("the fence of %s was opened", p.Scenario.Name)
	}
	return ctx.Err()
}

// patchKCM patches its Deployment.
func (p *Play) patchKCM(ctx context.Context, kind types.PatchType, patch []byte, options ...client.PatchOption) error {
	return p.patchComponent(ctx, kcmName, kind, patch, options...)
}

// patchComponent patches a Deployment of the control plane.
func (p *Play) patchComponent(
	ctx context.Context, component string, kind types.PatchType, patch []byte, options ...client.PatchOption,
) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: component}}
	return p.Client.Patch(ctx, deployment, client.RawPatch(kind, patch), options...)
}
