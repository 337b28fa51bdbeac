package components

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// maxInstructions is the bound of status.instructions.
const maxInstructions = 60

// Instructions is the list of what is to be done, in its order.
type Instructions []ucv1.Instruction

// And adds what is to be done to the target; done says that this was seen, and proven.
func (list Instructions) And(t Target, change outcome.ArgumentChange, done bool) Instructions {
	if len(list) == maxInstructions {
		return list
	}
	instruction := ucv1.Instruction{
		Order: int32(len(list) + 1), Component: t.Component.Container, Object: t.Component.String(), Node: t.Process.NodeName,
		Leader: t.Leads, Done: done,
	}
	if t.Process.PodName != "" {
		instruction.Object = "Pod " + t.Component.Namespace + "/" + t.Process.PodName
	}
	for _, flag := range change.Set {
		instruction.Set = append(instruction.Set, flag.Name+"="+flag.Value)
	}
	for _, name := range change.Remove {
		instruction.Remove = append(instruction.Remove, "--"+name)
	}
	if file := change.Mount; file != nil {
		instruction.Files = []ucv1.InstructedFile{{Path: file.Folder + "/" + file.Key, Volume: file.Volume, Content: file.Data}}
	}
	if change.Unmount {
		instruction.RemoveFiles = []string{handover.LockPath}
	}
	return append(list, instruction)
}

// With is the outcome with the list.
func (list Instructions) With(out outcome.Outcome) outcome.Outcome {
	out.Instructions = list
	return out
}

// WaitingSince is from when on no one may be running the cloud loops, or nil. Where someone else changes KCM that begins
// with its first part: until then its leader runs them, however long the administrator takes. From then on its leader may
// be one that does not: the one that does may restart at any time, and the rest has to follow within the deadline. A KCM
// that has the migration lock has to get it, until the fence is open. Across minors the owner upgrades in the middle, however
// long that takes.
func WaitingSince(in pass.Input) *time.Time {
	recorded := in.Facts.Handover
	since := recorded.StartedAt
	armed := recorded.LockArmedAt
	if recorded.UpgradeAllowedTo != "" && recorded.ContendedAt == nil {
		since, armed = recorded.WorkloadAllowedAt, recorded.WorkloadAllowedAt
	}
	if in.Cluster.Spec.ControlPlane.Instructed() && in.Facts.Origin != ucv1.OriginExternal && recorded.ContendedAt == nil {
		since = recorded.ChangingSince
		if since == nil && recorded.FenceOpenedAt == nil {
			since = armed
		}
	}
	if since == nil {
		return nil
	}
	return &since.Time
}
