package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	containerIDPrefix = "testbed://"
	firstBackoff      = time.Second
	lastBackoff       = 10 * time.Second
	// backoffReset is how long a container must run for its past to be forgotten.
	backoffReset = 2 * lastBackoff
	// defaultGrace is the API's default termination grace period.
	defaultGrace = 30 * time.Second
)

// container is one container of a Pod, over all its restarts. Only its Pod's
// worker touches it.
type container struct {
	spec *corev1.Container
	init bool
	// program is what it runs; "" for a container that is only reported.
	program string

	id       string
	state    corev1.ContainerState
	last     corev1.ContainerState
	restarts int32

	process *process.Process
	probes  *prober
	asked   bool
	killAt  time.Time

	backoff time.Duration
	retryAt time.Time
}

func (c *container) running() bool { return c.state.Running != nil }

func (c *container) succeeded() bool {
	return c.state.Terminated != nil && c.state.Terminated.ExitCode == 0
}

// failed tells whether the container ended badly and for good.
func (c *container) failed(policy corev1.RestartPolicy) bool {
	return c.state.Terminated != nil && !c.succeeded() && !c.restartable(policy)
}

func (c *container) ready() bool {
	if c.init {
		return c.succeeded()
	}
	return c.running() && (c.probes == nil || c.probes.ready())
}

func (c *container) started() bool {
	return c.running() && (c.probes == nil || c.probes.started())
}

// restartable tells whether a container that ended may start again; init
// containers that succeeded never do.
func (c *container) restartable(policy corev1.RestartPolicy) bool {
	if policy == corev1.RestartPolicyNever || c.succeeded() && c.init {
		return false
	}
	return policy == corev1.RestartPolicyAlways || !c.succeeded()
}

// begin records that a new instance of the container runs.
func (c *container) begin(now time.Time) {
	if c.id != "" {
		c.restarts++
	}
	if c.state.Terminated != nil {
		c.last = c.state
	}
	c.id = containerIDPrefix + string(uuid.NewUUID())
	c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
	c.asked, c.killAt = false, time.Time{}
}

// end records that the running instance ended, and when the next may start: the
// first restart is immediate, the others wait longer and longer.
func (c *container) end(exitCode int, at time.Time) {
	started := c.state.Running.StartedAt
	reason := "Completed"
	if exitCode != 0 {
		reason = "Error"
	}
	c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(exitCode), Reason: reason,
		StartedAt: started, FinishedAt: metav1.NewTime(at), ContainerID: c.id,
	}}
	if at.Sub(started.Time) >= backoffReset {
		c.backoff = 0
	}
	c.retryAt = at.Add(c.backoff)
	c.backoff = min(max(2*c.backoff, firstBackoff), lastBackoff)
	if c.probes != nil {
		c.probes.stop()
	}
	c.process, c.probes = nil, nil
}

// collect notices the end of the container's process.
func (c *container) collect() {
	if c.process == nil {
		return
	}
	select {
	case <-c.process.Done():
		c.end(c.process.ExitCode(), c.process.EndedAt())
	default:
	}
}

// stop asks a running container to end and kills it at the deadline. It may be
// called again with another deadline; the earliest counts. It returns how long
// until it must be called again.
func (c *container) stop(deadline, now time.Time) time.Duration {
	if !c.running() {
		return resync
	}
	if c.process == nil {
		c.end(0, now)
		return resync
	}
	if !c.asked {
		c.process.Terminate()
		c.asked = true
	}
	if c.killAt.IsZero() || deadline.Before(c.killAt) {
		c.killAt = deadline
	}
	if !now.Before(c.killAt) {
		c.process.Kill()
		return resync
	}
	return c.killAt.Sub(now)
}

// hold shows that the container waits for its next start.
func (c *container) hold(reason, message string) {
	if c.state.Terminated != nil {
		c.last = c.state
	}
	c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// livenessGrace is how long a container that failed its probe may take to end.
func livenessGrace(pod *corev1.Pod, spec *corev1.Container) time.Duration {
	if probe := spec.LivenessProbe; probe != nil && probe.TerminationGracePeriodSeconds != nil {
		return time.Duration(*probe.TerminationGracePeriodSeconds) * time.Second
	}
	return podGrace(pod)
}

// podGrace is the grace period that the Pod asks for itself.
func podGrace(pod *corev1.Pod) time.Duration {
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return defaultGrace
}
