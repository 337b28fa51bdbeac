package cluster

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
)

// panics are the Clusters that a pass panicked about, and when. The same pass would panic again, so it is made again only when
// the Cluster was changed, or after a while: events of the user cluster would repeat it many times a second.
type panics struct {
	mu   sync.Mutex
	last map[client.ObjectKey]panicked
}

type panicked struct {
	until      time.Time
	generation int64
}

// wait is how long a Cluster is left alone.
func (p *panics) wait(s *scope) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, found := p.last[client.ObjectKeyFromObject(s.Cluster)]
	if !found || last.generation != s.Cluster.Generation {
		return 0
	}
	return last.until.Sub(s.Now)
}

func (p *panics) keep(s *scope, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[client.ObjectKey]panicked{}
	}
	p.last[client.ObjectKeyFromObject(s.Cluster)] = panicked{until: s.Now.Add(wait), generation: s.Cluster.Generation}
}

func (p *panics) forget(key client.ObjectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, key)
}

// passInTurn makes a pass when it may begin, and says in the status why it may not for long.
func (r *Reconciler) passInTurn(ctx context.Context, s *scope) (ctrl.Result, error) {
	key := client.ObjectKeyFromObject(s.Cluster)
	switch turn := r.Suspects.begin(key, s.Now, func() []client.ObjectKey { return r.clusters(ctx) }); {
	case turn.culprit > 0:
		message := fmt.Sprintf("The controller was killed %s in the middle of reading this user cluster and no other, so it reads it "+
			"again only after a while. See its limit of memory, and what the API server of the user cluster answers; its last status "+
			"stands.", times(turn.culprit))
		next, err := retryOnConflict(r.reporter().interrupt(ctx, s, ucv1.InternalErrorReason, message))
		if err != nil || next.RequeueAfter > 0 {
			return next, err
		}
		return ctrl.Result{RequeueAfter: turn.wait}, nil
	case turn.wait > 0:
		return ctrl.Result{RequeueAfter: turn.wait}, nil
	}
	defer func() { r.Suspects.end(key, !s.connecting()) }()
	return r.guardedPass(ctx, s)
}

// clusters are all that exist; none when they cannot be listed, because a suspect must not wait for that.
func (r *Reconciler) clusters(ctx context.Context) (keys []client.ObjectKey) {
	list := &ucv1.ClusterList{}
	if err := r.Client.List(ctx, list); err != nil {
		return nil
	}
	for i := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return keys
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// guardedPass is a pass that says it in the status when it panics: without, the last status would stay as it was. It says
// nothing of the cause, which may quote what was read.
func (r *Reconciler) guardedPass(ctx context.Context, s *scope) (next ctrl.Result, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		log.FromContext(ctx).Error(kindOf(cause), "A pass panicked", "stack", string(debug.Stack()))
		const message = "The controller has a fault that this cluster brings out, and it does nothing for the cluster until that is " +
			"gone. Report the stack in the controller's log; the last status says how far it is."
		next, err = retryOnConflict(r.reporter().interrupt(ctx, s, ucv1.InternalErrorReason, message))
		if err != nil || next.RequeueAfter > 0 {
			return
		}
		next.RequeueAfter = jitter(resting)
		r.panics.keep(s, next.RequeueAfter)
	}()
	return r.pass(ctx, s)
}

// kindOf leaves the text of a panic out, but for that of the runtime, which has numbers in it and no content.
func kindOf(cause any) error {
	if err, ok := cause.(runtime.Error); ok {
		return err
	}
	return fmt.Errorf("panic with a %T", cause)
}

// interrupt writes the last status again, with the word that it is not looked at any more and that a person must act.
func (p reporter) interrupt(ctx context.Context, s *scope, reason, message string) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	before, after := s.Cluster.Status, status.Interrupted(s.Cluster, s.Now, reason, message)
	if err := p.applyStatus(ctx, s.Cluster, after); err != nil {
		return client.IgnoreNotFound(err)
	}
	if was := meta.FindStatusCondition(before.Conditions, ucv1.StalledCondition); was == nil || was.Reason != reason {
		p.event(s, ucv1.TimelineEntry{Step: after.Step}, corev1.EventTypeWarning, reason, message)
		p.metrics.stalled(reason)
	}
	return nil
}
