package fleetmigration

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Turns say which Clusters may start. They are safe for concurrent use.
type Turns struct {
	// Client reads from the cache.
	Client client.Reader
	// Policy for Clusters that no FleetMigration selects.
	Policy fleet.Policy
	// Bound says that the manager is bound to namespaces: it reads no FleetMigration, and heeds the claims of those that another
	// manager runs.
	Bound bool
	// Unmanaged bounds the starts of Clusters that no FleetMigration selects.
	Unmanaged *Unmanaged

	mu sync.Mutex
	// near is since when a Cluster is near the front of its queue; its turn comes soon when it has stayed there.
	near map[types.UID]time.Time
	soon map[types.UID]bool
	// stranded is why a claim leads nowhere: whoever that changes for is told.
	stranded map[types.UID]string
	wakes    chan event.GenericEvent
}

// NewTurns that a pass of the fleet tells of its decisions.
func NewTurns(reader client.Reader, policy fleet.Policy, bound bool, unmanaged *Unmanaged) *Turns {
	return &Turns{Client: reader, Policy: policy, Bound: bound, Unmanaged: unmanaged, wakes: make(chan event.GenericEvent, 1024)}
}

// Wakes are Clusters whose turn is another one than before.
func (t *Turns) Wakes() <-chan event.GenericEvent { return t.wakes }

// Soon says that the turn of a Cluster comes soon.
func (t *Turns) Soon(uid types.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.soon[uid]
}

// Turn of a Cluster that has not started; absent: it may.
func (t *Turns) Turn(ctx context.Context, c *ucv1.Cluster, now time.Time) observation.Observed[observation.Turn] {
	selected := observation.Known(false)
	if c.Status.Admission == nil && !c.Immediate() && !t.Bound {
		selected = t.selected(ctx, c)
	}
	obstacle := fleet.Gate(c.Status.Admission, c.Immediate(), selected, t.Policy)
	switch {
	case obstacle.Reason == ucv1.CouldNotLookReason:
		return observation.Unknown[observation.Turn](selected.Why())
	case obstacle.Reason == ucv1.NoFleetMigrationReason:
		return waits(obstacle.Reason, "No FleetMigration selects the cluster, and --fleet-admission is Required. "+
			"Have one select it, or set spec.admission: Immediate.")
	case obstacle.Reason != "" && obstacle.Of == "":
		return t.unclaimed(c)
	case obstacle.Reason != "":
		return t.claimed(ctx, c)
	case c.Status.Admission != nil || c.Immediate():
		return observation.Absent[observation.Turn]()
	}
	return t.Unmanaged.turn(ctx, t.Client, c.UID, now)
}

func waits(reason, message string) observation.Observed[observation.Turn] {
	return observation.Known(observation.Turn{Reason: reason, Message: message})
}

// selected says whether any FleetMigration selects a Cluster. One whose selector cannot be read may.
func (t *Turns) selected(ctx context.Context, c *ucv1.Cluster) observation.Observed[bool] {
	migrations := &ucv1.FleetMigrationList{}
	if err := t.Client.List(ctx, migrations, client.UnsafeDisableDeepCopy); err != nil {
		return observation.Unknown[bool]("the FleetMigrations: " + err.Error())
	}
	if len(migrations.Items) == 0 {
		return observation.Known(false)
	}
	namespace := metadataOf("Namespace")
	if err := t.Client.Get(ctx, client.ObjectKey{Name: c.Namespace}, namespace); err != nil {
		return observation.Unknown[bool]("namespace " + c.Namespace + ": " + err.Error())
	}
	problem := ""
	for i := range migrations.Items {
		selects, err := fleet.Selects(&migrations.Items[i], labels.Set(c.Labels), labels.Set(namespace.Labels))
		switch {
		case selects:
			return observation.Known(true)
		case err != nil:
			problem = err.Error()
		}
	}
	if problem != "" {
		return observation.Unknown[bool](problem)
	}
	return observation.Known(false)
}

// unclaimed says what a Cluster waits for that a FleetMigration selects and has not claimed.
func (t *Turns) unclaimed(c *ucv1.Cluster) observation.Observed[observation.Turn] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stranded[c.UID] == ucv1.NotSupportedReason {
		return waits(ucv1.QueuedReason, "A FleetMigration selects the cluster and does not queue it, because no provider "+
			c.Spec.Cloud.ProviderName+" was ever in-tree. Correct spec.cloud.providerName.")
	}
	return waits(ucv1.QueuedReason, "A FleetMigration selects the cluster, and is about to queue it.")
}

// claimed says what a Cluster waits for that a FleetMigration has claimed. Its place in the queue is not said: it changes all
// the time.
func (t *Turns) claimed(ctx context.Context, c *ucv1.Cluster) observation.Observed[observation.Turn] {
	name := c.Status.Admission.FleetMigration
	why := fmt.Sprintf("'ccm-migration-controller fleet why %s/%s' says what it waits for.", c.Namespace, c.Name)
	if t.Bound {
		return waits(ucv1.QueuedReason, "FleetMigration "+name+" has queued the cluster. "+why)
	}
	fm := &ucv1.FleetMigration{}
	err := t.Client.Get(ctx, client.ObjectKey{Name: name}, fm)
	gone := apierrors.IsNotFound(err) || err == nil && string(fm.UID) != c.Status.Admission.UID
	switch {
	case gone:
		return waits(ucv1.FleetMigrationGoneReason, "FleetMigration "+name+", which queued the cluster, is gone. "+
			"Have another one select it, or set spec.admission: Immediate.")
	case err != nil:
		return observation.Unknown[observation.Turn]("FleetMigration " + name + ": " + err.Error())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stranded[c.UID] == ucv1.NotSelectedReason {
		return waits(ucv1.NotSelectedReason, "FleetMigration "+name+" queued the cluster and selects it no longer. Have one select "+
			"it, or set spec.admission: Immediate.")
	}
	wave := ""
	if c.Status.Admission.Wave != "" {
		wave = " in wave " + c.Status.Admission.Wave
	}
	return waits(ucv1.QueuedReason, "FleetMigration "+name+" has queued the cluster"+wave+". "+why)
}

// stays is how long a Cluster is near the front of its queue before it is looked at for that: a commit brings hundreds within
// half a minute, and each that comes changes who the next ones are.
const stays = 30 * time.Second

// decided keeps what the Clusters are told, and wakes those for which it is new. One that cannot be woken now is at its next
// pass. It says after which time it is to be asked again; zero: whenever there is another decision.
func (t *Turns) decided(f fleet.Fleet, plan fleet.Plan, now time.Time) (again time.Duration) {
	near, soon, stranded := map[types.UID]time.Time{}, map[types.UID]bool{}, map[types.UID]string{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range plan.Members {
		p, m := &plan.Members[i], &f.Members[i]
		uid := types.UID(m.UID)
		if p.Soon {
			since, was := t.near[uid]
			if !was {
				since = now
			}
			left := stays - now.Sub(since)
			if near[uid], soon[uid] = since, left <= 0; left > 0 && (again == 0 || left < again) {
				again = left
			}
		}
		if why := leadsNowhere(p, m); why != "" {
			stranded[uid] = why
		}
		if soon[uid] && !t.soon[uid] || stranded[uid] != t.stranded[uid] {
			t.wake(m)
		}
	}
	t.near, t.soon, t.stranded = near, soon, stranded
	return again
}

// leadsNowhere is why a claim does; empty: it does not.
func leadsNowhere(p *fleet.MemberPlan, m *fleet.Member) string {
	switch {
	case p.State == fleet.OutOfScope && m.OutOfScope == ucv1.NotSupportedReason:
		return m.OutOfScope
	case p.Migration < 0 && len(p.Obstacles) > 0:
		return p.Obstacles[0].Reason
	}
	return ""
}

func (t *Turns) wake(m *fleet.Member) {
	c := &ucv1.Cluster{}
	c.Namespace, c.Name = m.Namespace, m.Name
	select {
	case t.wakes <- event.GenericEvent{Object: c}:
	default:
	}
}
