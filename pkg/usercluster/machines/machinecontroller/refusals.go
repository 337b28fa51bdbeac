package machinecontroller

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// askedAgain is when a write that was refused is asked about again although its MachineDeployment did not change: it is the cloud
// that may have.
const askedAgain = time.Minute

// refusals are the writes of ours that a webhook or a policy refused, by the UID of the MachineDeployment that they are about:
// what is changed next is chosen among the others. A controller that starts knows of none, and is refused once more.
type refusals struct {
	mu      sync.Mutex
	refused map[string]refusal
}

// refusal of a write, which again does on the MachineDeployment as it is then.
type refusal struct {
	observation.Refusal

	again   write
	version string
	askedAt time.Time
}

// write is a write that rests on this version of its MachineDeployment.
type write func(ctx context.Context, c client.Client, version string) error

// tried notes how a write ended. An error that is no refusal tells nothing.
func (r *refusals) tried(ref observation.Ref, version string, now time.Time, again write, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.refused[ref.UID]
	switch {
	case err == nil || saysNoDryRun(err):
		delete(r.refused, ref.UID)
	case isRefusal(err):
		noted := refusal{observation.Refusal{By: refuser(err), Since: now}, again, version, now}
		if known {
			noted.Since = before.Since
		}
		if r.refused == nil {
			r.refused = map[string]refusal{}
		}
		r.refused[ref.UID] = noted
	case known:
		before.version, before.askedAt = version, now
		r.refused[ref.UID] = before
	}
}

// of those that are there; others are forgotten.
func (r *refusals) of(deployments []observation.MachineDeployment) map[string]refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	still := map[string]refusal{}
	for _, d := range deployments {
		if refused, known := r.refused[d.UID]; known {
			still[d.UID] = refused
		}
	}
	r.refused = still
	return still
}

// try a write, which is asked about again by a dry run when it is refused.
func (a *Adapter) try(ctx context.Context, ref observation.Ref, version string, do write) error {
	err := do(ctx, a.client, version)
	a.refusals.tried(ref, version, a.clock.Now(), do, err)
	return err
}

// noteRefusals says which MachineDeployments may not be changed. A refusal that is old, or of another version, is asked about.
func (a *Adapter) noteRefusals(ctx context.Context, deployments []observation.MachineDeployment) {
	asking, cancel := context.WithTimeout(ctx, writesTimeout)
	defer cancel()
	for i := range deployments {
		d, now := &deployments[i], a.clock.Now()
		refused, known := a.refusals.of(deployments)[d.UID]
		if known && (refused.version != d.Version || now.Sub(refused.askedAt) >= askedAgain) {
			a.refusals.tried(d.Ref, d.Version, now, refused.again, refused.again(asking, client.NewDryRunClient(a.client), d.Version))
			refused = a.refusals.of(deployments)[d.UID]
		}
		d.Refusal = refused.Refusal
	}
}

func isRefusal(err error) bool {
	return strings.Contains(err.Error(), "denied the request") || strings.Contains(err.Error(), "denied request")
}

// saysNoDryRun: only the write itself can tell whether such a webhook refuses it.
func saysNoDryRun(err error) bool { return strings.Contains(err.Error(), "does not support dry run") }

// refuser names the webhook or policy. What it says is not quoted: a providerSpec may have credentials in it.
func refuser(err error) string {
	if name := regexp.MustCompile(`(?:webhook "|\w*Policy ')[-.a-zA-Z0-9]+`).FindString(err.Error()); name != "" {
		return strings.NewReplacer(`"`, "", "'", "").Replace(name)
	}
	return "an admission plugin"
}
