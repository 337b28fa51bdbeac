package handover

import (
	"context"
	"fmt"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// administer is an administrator who follows the instructions, in their order, until the hand-over is done.
func administer(ctx context.Context, p *Play) error {
	return p.followUntil(ctx, func(status *ucv1.ClusterStatus) bool { return resultOf(status) == HandedOver })
}

// administerToTheEnd goes on until the whole migration is.
func administerToTheEnd(ctx context.Context, p *Play) error {
	return p.followUntil(ctx, func(status *ucv1.ClusterStatus) bool { return status.Step == ucv1.StepFinished })
}

func (p *Play) followUntil(ctx context.Context, done func(*ucv1.ClusterStatus) bool) error {
	followed := map[string]bool{}
	for {
		var next *ucv1.Instruction
		err := p.witness.until(ctx, "the next instruction", patience, func(w *witness) bool {
			status := w.seen[len(w.seen)-1]
			if done(&status) {
				next = nil
				return true
			}
			next = firstRolledBack(status.Instructions)
			return next != nil && !followed[keyOf(next)]
		})
		if err != nil || next == nil {
			return err
		}
		followed[keyOf(next)] = true
		p.witness.note(Disturbed, "the administrator changes "+next.Object)
		if err := p.User.Follow(*next); err != nil {
			return err
		}
	}
}

func keyOf(instruction *ucv1.Instruction) string {
	return fmt.Sprint(instruction.Node, instruction.Object, instruction.Set, instruction.Remove)
}

// firstRolledBack is nil when there is nothing to do.
func firstRolledBack(instructions []ucv1.Instruction) *ucv1.Instruction {
	at := slices.IndexFunc(instructions, func(i ucv1.Instruction) bool { return !i.Done })
	if at < 0 || len(instructions[at].Set)+len(instructions[at].Remove) == 0 {
		return nil
	}
	return &instructions[at]
}
