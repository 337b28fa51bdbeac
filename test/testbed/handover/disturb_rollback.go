package handover

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// rollbackAtEveryLine has a migration rolled back at each line of its table, and once more when the loops are handed over. Each
// time it is redone from the start, through the line at which it was rolled back; the last one is left to its end.
func rollbackAtEveryLine(ctx context.Context, p *Play) error {
	for _, line := range lines(p.Scenario.Setup.Protocol) {
		if err := p.AtLine(ctx, line); err != nil {
			return err
		}
		if err := p.rollback(ctx); err != nil {
			return fmt.Errorf("at line %s: %w", line, err)
		}
		if err := p.redo(ctx); err != nil {
			return err
		}
	}
	if err := rollbackAfterwards(ctx, p); err != nil {
		return err
	}
	return p.redo(ctx)
}

// rollbackAfterwards lets the CCM work for a while: KCM gets load balancers back that it did not make.
func rollbackAfterwards(ctx context.Context, p *Play) error {
	if err := p.finished(ctx); err != nil {
		return err
	}
	if err := p.elapse(ctx, 10*time.Second); err != nil {
		return err
	}
	return p.rollback(ctx)
}

// rollback is there when the migration is rolled back.
func (p *Play) rollback(ctx context.Context) error {
	latest := p.witness.latest()
	at := "after the hand-over"
	if handover := latest.Handover; handover != nil && handover.FinishedAt == nil {
		at = "at line " + handover.Stage
	}
	p.witness.note(Disturbed, "rolling back "+at)
	if err := p.setRollback(ctx, true); err != nil {
		return err
	}
	err := p.witness.until(ctx, "the end of the rollback", patience, func(w *witness) bool {
		return resultOf(&w.seen[len(w.seen)-1]) == RolledBack
	})
	if err != nil {
		latest = p.witness.latest()
		return fmt.Errorf("%w; step %s, %s", err, latest.Step, reasonOf(&latest, ucv1.ReadyCondition))
	}
	p.witness.note(Disturbed, "rolled back")
	kcm, err := p.KCM(ctx)
	if err != nil {
		return err
	}
	if different := differences(p.podBefore, kcm.Spec.Template.Spec); different != "" {
		p.witness.note(KCMDiffers, different)
	}
	return nil
}

// redo begins the migration again.
func (p *Play) redo(ctx context.Context) error {
	p.witness.forget()
	p.witness.note(Disturbed, "redoing")
	return p.setRollback(ctx, false)
}

func (p *Play) setRollback(ctx context.Context, on bool) error {
	// What is rolled back starts again after a time only that is later.
	retryAfter := time.Now().Add(time.Second).UTC().Format(time.RFC3339)
	patch := client.RawPatch(
		types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"handover":{"rollback":%t,"retryAfter":%q}}}`, on, retryAfter),
	)
	return p.Client.Patch(ctx, p.User.NewCluster(false), patch)
}

// differences between the arguments and volumes of two pods, in whatever order they are; empty when there is none.
func differences(before, after corev1.PodSpec) string {
	was, is := launched(before), launched(after)
	var different []string
	for _, lost := range only(was, func(part string) bool { return !slices.Contains(is, part) }) {
		different = append(different, "without "+lost)
	}
	for _, added := range only(is, func(part string) bool { return !slices.Contains(was, part) }) {
		different = append(different, "with "+added)
	}
	if len(different) == 0 && len(was) != len(is) {
		different = []string{"with something twice"}
	}
	return strings.Join(different, ", ")
}

// launched is what the first container is started with.
func launched(pod corev1.PodSpec) []string {
	container := pod.Containers[0]
	parts := slices.Concat(container.Command, container.Args)
	for _, mount := range container.VolumeMounts {
		parts = append(parts, "mount "+mount.Name)
	}
	for _, volume := range pod.Volumes {
		parts = append(parts, "volume "+volume.Name)
	}
	return parts
}
