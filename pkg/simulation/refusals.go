package simulation

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// answersFor is how long the machine-controller's webhook keeps what the cloud said of a providerSpec.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/cache/cloudprovidercache.go#L36
const answersFor = 5 * time.Minute

// Webhook is what admission says of writes of one MachineDeployment, and of new Machines of it.
type Webhook struct {
	// RefusesFrom and RefusesUntil: its providerSpec is none that the cloud accepts, or a policy refuses it. That of a change goes
	// for new Machines, too.
	RefusesFrom, RefusesUntil time.Time
	Refuses                   observation.RefusedWrite
	// RewritesFrom: it is another one from then on, which stores the providerSpec in another form, at the next write. Zero: never.
	RewritesFrom time.Time
	// refused is the last answer of the cloud, which is kept; closed is the last one about each kind of write.
	refused    bool
	answeredAt time.Time
	closed     [observation.RefusedStep + 1]bool
}

// refuses a write. That it does no more is like the end of any fault: what waited for it comes at once.
func (ms *Machines) refuses(d *MachineDeployment, of observation.RefusedWrite) bool {
	before := d.Webhook.closed[of]
	d.Webhook.closed[of] = d.Webhook.isClosed(of, ms.w.Now) || of != observation.RefusedStep && ms.invalid(d)
	if before && !d.Webhook.closed[of] {
		ms.w.Hooks.Witness.Disturbed()
	}
	return d.Webhook.closed[of]
}

func (h *Webhook) isClosed(of observation.RefusedWrite, now time.Time) bool {
	concerns := h.Refuses == of || h.Refuses == observation.RefusedChange && of == observation.RefusedCanary
	return concerns && !now.Before(h.RefusesFrom) && now.Before(h.RefusesUntil)
}

// Stored is a write of a MachineDeployment, which makes a new revision where a webhook changes the template. Without the breaker,
// the Machines are then replaced by the machine-controller alone.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments.go#L62-L76
func (d *MachineDeployment) Stored(now time.Time) {
	d.Generation++
	if from := d.Webhook.RewritesFrom; !from.IsZero() && !now.Before(from) {
		d.Revision, d.Webhook.RewritesFrom = d.Revision+1, time.Time{}
		d.Guard.Exempt = d.Guard.Exempt || !d.Guard.Ours
	}
}

// invalid: the machine-controller's webhook asks the cloud whether a MachineDeployment or a new Machine is valid. At every
// update, because it compares what it marshals with what the API server stored:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments.go#L62
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments_validation.go#L140
func (ms *Machines) invalid(d *MachineDeployment) bool {
	hook, now := &d.Webhook, ms.w.Now
	if !ms.w.Traits.WebhookAsks {
		return false
	}
	if now.Sub(hook.answeredAt) >= answersFor {
		hook.refused, hook.answeredAt = ms.w.Cloud.broken(), now
	}
	return hook.refused
}

// Accepting says that what is refused now will not be, and that the controller gets the time to ask.
func (ms *Machines) Accepting() bool {
	for _, d := range ms.Deployments {
		hook := d.Webhook
		if left := hook.RefusesUntil.Sub(ms.w.Now); left > -2*askedAgain && left < time.Hour || hook.refused &&
			ms.w.Now.Sub(hook.answeredAt) < answersFor+2*askedAgain && !ms.w.Cloud.broken() {
			return true
		}
	}
	return false
}

// askedAgain is when the controller asks again about a write that was refused.
const askedAgain = time.Minute

// refusal of a write, as the controller remembers it.
type refusal struct {
	observation.Refusal

	version string
	askedAt time.Time
}

// writes says whether a write of ours about a MachineDeployment is accepted: a change of it rests on its version.
func (c *Controller) writes(d *MachineDeployment, of observation.RefusedWrite, asked string) bool {
	if !c.world.Machines.refuses(d, of) {
		delete(c.refusals, d.UID)
		return true
	}
	now := c.world.Now
	noted := refusal{Refusal: observation.Refusal{By: "webhook test", Since: now, Of: of, Asked: asked}, askedAt: now}
	if of == observation.RefusedChange {
		noted.version = d.version()
	}
	if before, known := c.refusals[d.UID]; known && before.Of == of && (of == observation.RefusedStep || before.Asked == asked) {
		noted.Since = before.Since
	}
	c.refusals[d.UID] = noted
	return false
}

// observeMachines with what is known to be refused.
func (c *Controller) observeMachines() observation.Observed[observation.Machines] {
	seen := c.world.Machines.observe()
	for _, d := range c.world.Machines.Deployments {
		noted, known := c.refusals[d.UID]
		if !known {
			continue
		}
		changed := noted.version != "" && noted.version != d.version()
		if changed || c.world.Now.Sub(noted.askedAt) >= askedAgain {
			c.writes(d, noted.Of, noted.Asked)
		}
	}
	shown := seen.Value().Deployments
	for i := range shown {
		shown[i].Refusal = c.refusals[shown[i].UID].Refusal
	}
	return seen
}
