package usercluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// rereadInterval is the least time between two reads of a kubeconfig Secret, keptInterval while reads are kept and the
	// credentials in it work: when they do not, it is read with each attempt.
	rereadInterval = time.Second
	keptInterval   = 15 * time.Second
	// firstAttemptTimeout bounds what a hanging API server costs those that wait behind it: every attempt at a cluster
	// that did not fail before. Those that did get the whole ConnectTimeout, in slots of their own.
	firstAttemptTimeout = 2 * time.Second
	// unreachableAfter failures in a row a cluster that was reachable counts as unreachable.
	unreachableAfter = 3
	// idleFactor makes probes of clusters that do not migrate rarer.
	idleFactor = 6
	// slotWait is when a suspect asks for a free slot again.
	slotWait   = time.Second
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// entry is one wanted cluster. The registry's mutex guards it; the queue sees to it that one worker at a time has it.
type entry struct {
	key        types.NamespacedName
	source     secretSource
	connection observation.Connection
	session    *Session
	// digest of the kubeconfig that the session was made from.
	digest string
	// answered says that the session's credentials were accepted once.
	answered  bool
	reread    bool
	migrating bool
	failures  int
	readAt    time.Time
	probeAt   time.Time
}

// secretSource is where the kubeconfig comes from.
type secretSource struct {
	name types.NamespacedName
	key  string
}

// String is how messages name it.
func (s secretSource) String() string {
	return fmt.Sprintf("Secret %s, key %s", s.name, s.key)
}

func sourceOf(cluster *ucv1.Cluster) secretSource {
	secret := cluster.KubeconfigSecret()
	return secretSource{name: types.NamespacedName{Namespace: cluster.Namespace, Name: secret.Name}, key: secret.Key}
}

func (s secretSource) ref() observation.Ref {
	return observation.Ref{Kind: "Secret", Namespace: s.name.Namespace, Name: s.name.Name}
}

// missing is the sentence for a Secret without a kubeconfig.
func (s secretSource) missing() string {
	return fmt.Sprintf("%s is missing or empty: put the kubeconfig there", s)
}

// unusable is the reason and the sentence for a kubeconfig that no session can be made of. It does not quote the error,
// unless that is ours.
func (s secretSource) unusable(err error) (reason, message string) {
	if problem := (*KubeconfigError)(nil); errors.As(err, &problem) {
		return problem.Reason, fmt.Sprintf("The kubeconfig in %s %s", s, problem.Message)
	}
	return ucv1.KubeconfigInvalidReason, fmt.Sprintf("The kubeconfig in %s cannot be used: no client can be made of it", s)
}

// failed is the connection after a probe that failed.
func (s secretSource) failed(err error) observation.Connection {
	if errors.Is(err, anonymousError{}) {
		return observation.Connection{Secret: s.ref(), Reason: ucv1.UnauthorizedReason, Message: fmt.Sprintf(
			"The API server of the user cluster sees system:anonymous instead of the credentials in %s: renew them, or let them "+
				"through to it", s)}
	}
	if isUnauthorized(err) {
		return observation.Connection{Secret: s.ref(), Reason: ucv1.UnauthorizedReason, Message: fmt.Sprintf(
			"The API server of the user cluster refuses the credentials in %s: renew them", s)}
	}
	if address := (*reads.AddressError)(nil); errors.As(err, &address) {
		return observation.Connection{
			Refused: true,
			Secret:  s.ref(),
			Reason:  ucv1.KubeconfigRefusedReason,
			Message: fmt.Sprintf("The kubeconfig in %s names a "+
				"server whose address is not dialed: it is %s. Name the address of the user cluster's API server", s, address.What),
		}
	}
	reason := ucv1.UnreachableReason
	if errors.Is(err, reads.ErrTooLarge) {
		reason = ucv1.ResponseTooLargeReason
	}
	return observation.Connection{Secret: s.ref(), Reason: reason, Message: fmt.Sprintf(
		"The API server of the user cluster %s: check it, and the server in %s", reads.Describe(err), s)}
}

func neverTried(source secretSource) observation.Connection {
	return observation.Connection{Connecting: true, Secret: source.ref(), Reason: ucv1.UnreachableReason,
		Message: "The first connection with the kubeconfig of " + source.String() + " is being made"}
}

// attempt does what is due for a cluster: reads its Secret, makes a session, probes.
func (r *Registry) attempt(ctx context.Context, key types.NamespacedName) {
	r.mu.Lock()
	e, ok := r.entries[key]
	if !ok {
		r.mu.Unlock()
		return
	}
	due := !r.options.Clock.Now().Before(e.probeAt)
	read := e.reread || e.session == nil || (due && !e.connection.Reachable)
	source := e.source
	if read {
		e.reread, e.readAt = false, r.options.Clock.Now()
	}
	r.mu.Unlock()

	if read {
		r.refresh(ctx, e, source)
	}
	r.probeIfDue(ctx, e)
	r.schedule(e)
}

// refresh reads the Secret and replaces the session when the content changed.
func (r *Registry) refresh(ctx context.Context, e *entry, source secretSource) {
	ctx, cancel := context.WithTimeout(ctx, r.options.ConnectTimeout)
	defer cancel()
	secret := &corev1.Secret{}
	if err := r.options.SecretReader.Get(ctx, source.name, secret); err != nil && !apierrors.IsNotFound(err) {
		// The management cluster's own trouble says nothing about the user cluster: what was known stays.
		r.options.Log.Error(err, "Could not read the kubeconfig Secret", "cluster", e.key.String(), "secret", source.name.String())
		r.update(e, func() { e.reread, e.probeAt = true, r.options.Clock.Now().Add(r.backoff(1)) })
		return
	}
	data := secret.Data[source.key]
	if len(data) == 0 {
		r.refuse(e, source, ucv1.KubeconfigMissingReason, source.missing())
		return
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	r.mu.Lock()
	same := e.session != nil && e.digest == digest
	r.mu.Unlock()
	if same {
		return
	}
	session, err := open(data, e.key, r.options, r.mapper, func() { r.waker.wake(e.key) })
	if err != nil {
		reason, message := source.unusable(err)
		r.refuse(e, source, reason, message)
		return
	}
	r.replace(e, session, digest)
}

// open makes a session; nothing is sent yet.
func open(
	kubeconfig []byte,
	cluster types.NamespacedName,
	options Options,
	mapper meta.RESTMapper,
	wake func(),
) (*Session, error) {
	config, err := ParseKubeconfig(kubeconfig, options.Allow)
	if err != nil {
		return nil, err
	}
	endpoint, err := endpointOf(kubeconfig, config)
	if err != nil {
		return nil, err
	}
	options.Log = options.Log.WithValues("cluster", cluster.String())
	return connect(config, options, mapper, wake,
		addons.Beside{
			Client: options.Management, Live: options.SecretReader, Namespace: cluster.Namespace,
			Mark: func() kept.Mark { return options.Changes.Mark(cluster.Namespace) },
		}, endpoint)
}

// update changes an entry unless it was forgotten meanwhile, and wakes the reconciler when the connection changed.
func (r *Registry) update(e *entry, change func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[e.key] != e {
		return false
	}
	before := e.connection
	change()
	if e.connection != before {
		r.waker.wake(e.key)
	}
	return true
}

// refuse drops the session: credentials that were taken away are not used any longer.
func (r *Registry) refuse(e *entry, source secretSource, reason, message string) {
	r.update(e, func() {
		r.closeLocked(e)
		e.failures++
		e.connection = observation.Connection{Secret: source.ref(), Reason: reason, Message: message,
			Refused: reason != ucv1.KubeconfigMissingReason}
		e.probeAt = r.options.Clock.Now().Add(r.backoff(e.failures))
	})
}

// replace puts a new session in place. The connection stays as it was: the probe that follows at once tells.
func (r *Registry) replace(e *entry, session *Session, digest string) {
	replaced := r.update(e, func() {
		r.closeLocked(e)
		e.session, e.digest, e.answered, e.failures, e.probeAt = session, digest, false, 0, time.Time{}
	})
	if !replaced {
		session.close()
	}
}

func (r *Registry) probeIfDue(ctx context.Context, e *entry) {
	r.mu.Lock()
	session, failures := e.session, e.failures
	due := session != nil && !r.options.Clock.Now().Before(e.probeAt)
	r.mu.Unlock()
	if !due {
		return
	}
	timeout := min(firstAttemptTimeout, r.options.ConnectTimeout)
	if failures > 0 {
		timeout = r.options.ConnectTimeout
		select {
		case r.suspects <- struct{}{}:
			defer func() { <-r.suspects }()
		default:
			r.update(e, func() { e.probeAt = r.options.Clock.Now().Add(wait.Jitter(slotWait, 1)) })
			return
		}
	}
	probing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := session.probe(probing)
	if ctx.Err() != nil {
		return
	}
	r.record(e, session, err)
	if err == nil {
		session.Addons.Watch()
		session.lookForMachines(probing)
		session.Leases.LookAtLeader(probing)
	}
}

// record notes the outcome of a probe.
func (r *Registry) record(e *entry, session *Session, err error) {
	r.update(e, func() {
		if e.session != session {
			return
		}
		now := r.options.Clock.Now()
		if err == nil {
			session.setWatching(e.migrating) // Not before: no watch begins where nothing answers.
			e.answered, e.failures, e.probeAt = true, 0, now.Add(wait.Jitter(r.interval(e), 0.2))
			e.connection = observation.Connection{Reachable: true, Reason: ucv1.ReachableReason,
				Message: "The API server of the user cluster answers"}
			return
		}
		e.failures++
		e.probeAt = now.Add(r.backoff(e.failures))
		if !isUnauthorized(err) && e.answered && e.connection.Reachable && e.failures < unreachableAfter {
			return
		}
		e.connection = e.source.failed(err)
	})
}

func (r *Registry) interval(e *entry) time.Duration {
	if e.migrating {
		return r.options.ProbeInterval
	}
	return idleFactor * r.options.ProbeInterval
}

func (r *Registry) backoff(failures int) time.Duration {
	delay := min(minBackoff, r.options.ProbeInterval)
	for range failures - 1 {
		delay = min(2*delay, maxBackoff)
	}
	return wait.Jitter(delay, 0.5)
}

// schedule has the worker come back when the next probe is due.
func (r *Registry) schedule(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[e.key] == e {
		r.queue.AddAfter(e.key, e.probeAt.Sub(r.options.Clock.Now()))
	}
}
