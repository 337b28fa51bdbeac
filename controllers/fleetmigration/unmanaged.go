package fleetmigration

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	// settling is how long a Cluster waits for a FleetMigration that may have been applied with it.
	settling = 10 * time.Second
	// counts is how long a count of the starts is used again: meanwhile only this process lets Clusters start.
	counts = 5 * time.Second
	// forgets is when a Cluster that no longer asks is forgotten.
	forgets = 2 * time.Hour
	// lasts is how long a Cluster may start that was let go. What keeps it from that can keep others from it, too, and when that
	// ends, they must not start all at once.
	lasts = time.Hour
)

// Unmanaged bounds how many Clusters that no FleetMigration selects start within an hour: a commit may flip hundreds, and its
// FleetMigration may come later or have a typo. It is safe for concurrent use.
type Unmanaged struct {
	// Most starts within an hour.
	Most int

	mu sync.Mutex
	// asked by UID.
	asked map[types.UID]*asked
	// started within the hour, as of counted.
	started map[types.UID]time.Time
	counted time.Time
}

// asked is a Cluster that may start by itself, or wants to. Granted is since when it may, and told when it was told so last: it
// may have started then.
type asked struct{ first, last, granted, told time.Time }

func (u *Unmanaged) turn(
	ctx context.Context,
	clusters client.Reader,
	uid types.UID,
	now time.Time,
) observation.Observed[observation.Turn] {
	u.mu.Lock()
	defer u.mu.Unlock()
	a := u.remember(uid, now)
	if !a.granted.IsZero() && now.Sub(a.granted) < lasts {
		a.told = now
		return observation.Absent[observation.Turn]()
	}
	if rest := settling - now.Sub(a.first); rest > 0 {
		return observation.Known(observation.Turn{
			Reason: ucv1.SettlingReason, After: rest, Settling: true, Message: "No FleetMigration selects the cluster. " +
				"It waits 10 seconds for one that may have been applied with it.",
		})
	}
	if err := u.count(ctx, clusters, now); err != nil {
		return observation.Unknown[observation.Turn]("the Clusters: " + err.Error())
	}
	used, oldest := u.used(now)
	if used >= u.Most {
		wait := observation.Turn{Reason: ucv1.UnmanagedStartsReason, Message: fmt.Sprintf(
			"No FleetMigration selects the cluster, and of those only %d may start within an hour. "+
				"Have one select it, set spec.admission: Immediate, or raise the manager's flag --max-unmanaged-starts.", u.Most)}
		if u.Most > 0 {
			wait.After = oldest.Add(time.Hour).Sub(now)
		}
		return observation.Known(wait)
	}
	a.granted, a.told = now, now
	return observation.Absent[observation.Turn]()
}

// remember that a Cluster asks, and forget those that do not any more.
func (u *Unmanaged) remember(uid types.UID, now time.Time) *asked {
	if u.asked == nil {
		u.asked = map[types.UID]*asked{}
	}
	if a := u.asked[uid]; a == nil || now.Before(a.first) { // The clock may have gone back.
		for other, a := range u.asked {
			if now.Sub(a.last) > forgets {
				delete(u.asked, other)
			}
		}
		u.asked[uid] = &asked{first: now}
	}
	u.asked[uid].last = now
	return u.asked[uid]
}

// count the Clusters that started within the hour and that no FleetMigration let go.
func (u *Unmanaged) count(ctx context.Context, reader client.Reader, now time.Time) error {
	if age := now.Sub(u.counted); age >= 0 && age < counts {
		return nil
	}
	clusters := &ucv1.ClusterList{}
	if err := reader.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	u.started, u.counted = map[types.UID]time.Time{}, now
	for i := range clusters.Items {
		c := &clusters.Items[i]
		managed := c.Immediate() || c.Status.Admission != nil && c.Status.Admission.State == ucv1.AdmissionAdmitted
		if started := c.Status.StartedAt; !managed && started != nil && now.Sub(started.Time) < time.Hour {
			u.started[c.UID] = started.Time
		}
	}
	return nil
}

// used are the starts within the hour, those that were granted included, and the oldest of them.
func (u *Unmanaged) used(now time.Time) (n int, oldest time.Time) {
	add := func(at time.Time) {
		if at.IsZero() || now.Sub(at) >= time.Hour {
			return
		}
		n++
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	for uid, at := range u.started {
		if a := u.asked[uid]; a == nil || a.told.IsZero() {
			add(at)
		}
	}
	for _, a := range u.asked {
		add(a.told)
	}
	return n, oldest
}
