package kubelet

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet/claims"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	// resync is how often a Pod is looked at although nothing happened.
	resync = 10 * time.Second
	// retry is how long to wait after something failed.
	retry = time.Second
)

// worker looks after one Pod from the moment it is seen until it is gone and its
// processes ended. It ends later than the Pod's last process on purpose: a late
// event about the Pod must not start it again.
type worker struct {
	kubelet *Kubelet
	wakeup  chan struct{}

	mu   sync.Mutex
	pod  *corev1.Pod
	gone bool

	// What follows is touched only by run.
	ip           string
	startTime    metav1.Time
	inits, mains []*container
	mounted      map[string]*claims.Mounted
	prepared     bool
	filledAt     time.Time
	problem      string
	grace        time.Duration
	killAt       time.Time
	written      corev1.PodStatus
	writtenAt    time.Time
	deleted      bool
}

func newWorker(k *Kubelet, pod *corev1.Pod) *worker {
	w := &worker{kubelet: k, wakeup: make(chan struct{}, 1), pod: pod, mounted: map[string]*claims.Mounted{}}
	for i := range pod.Spec.InitContainers {
		w.inits = append(w.inits, w.newContainer(&pod.Spec.InitContainers[i], true))
	}
	for i := range pod.Spec.Containers {
		w.mains = append(w.mains, w.newContainer(&pod.Spec.Containers[i], false))
	}
	return w
}

func (w *worker) newContainer(spec *corev1.Container, init bool) *container {
	options := w.kubelet.options
	return &container{spec: spec, init: init, program: programOf(options.BinDir, options.ReleasesDir, spec.Image)}
}

// poke wakes whoever receives from a channel of size one, without waiting.
func poke(wakeup chan struct{}) {
	select {
	case wakeup <- struct{}{}:
	default:
	}
}

func (w *worker) wake() { poke(w.wakeup) }

// see takes a new version of the Pod.
func (w *worker) see(pod *corev1.Pod) {
	w.mu.Lock()
	w.pod = pod
	w.mu.Unlock()
	w.wake()
}

// vanish takes notice that the API has the Pod no more.
func (w *worker) vanish() {
	w.mu.Lock()
	w.gone = true
	w.mu.Unlock()
	w.wake()
}

func (w *worker) latest() (*corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod, w.gone
}

func (w *worker) containers() []*container {
	return append(append([]*container{}, w.inits...), w.mains...)
}

func (w *worker) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer w.cleanUp()
	for {
		select {
		case <-ctx.Done():
			w.kill()
			return
		case <-w.wakeup:
		case <-timer.C:
		}
		next, done := w.sync(ctx)
		if done {
			return
		}
		timer.Reset(next)
	}
}

// sync does what the Pod needs now and returns when to look again at the latest.
func (w *worker) sync(ctx context.Context) (next time.Duration, done bool) {
	pod, gone := w.latest()
	if w.kubelet.isSilent(pod.Spec.NodeName) {
		return resync, false
	}
	for _, c := range w.containers() {
		c.collect()
	}
	var err error
	switch {
	case (gone || forced(pod)) && !w.idle() && w.kubelet.options.OutliveForceDelete(pod):
		return retry, false
	case gone:
		return w.leave(ctx, pod)
	case pod.DeletionTimestamp != nil:
		next, err = w.finish(ctx, pod)
	case w.foreign(pod):
		return resync, false
	default:
		next = w.advance(ctx, pod)
		err = w.publish(ctx, pod)
	}
	if err != nil {
		w.kubelet.report(err, pod)
		next = min(next, retry)
	}
	return next, false
}

// leave ends what is left of a Pod that the API has no more.
func (w *worker) leave(ctx context.Context, pod *corev1.Pod) (next time.Duration, done bool) {
	next = w.stop(podGrace(pod))
	if !w.idle() {
		return next, false
	}
	// The driver may be gone with the Node, and no one waits for this Pod any more.
	w.kubelet.report(w.unmount(ctx), pod)
	return next, true
}

// forced tells whether someone deletes the Pod without waiting for its kubelet;
// the API shows that for a moment before the Pod is gone.
func forced(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0
}

// foreign tells whether the Pod had ended before this kubelet saw it.
func (w *worker) foreign(pod *corev1.Pod) bool {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return ended && w.writtenAt.IsZero()
}

// idle tells whether no container runs.
func (w *worker) idle() bool {
	for _, c := range w.containers() {
		if c.running() {
			return false
		}
	}
	return true
}

// stop ends all containers within grace from the first call; a shorter grace
// period later shortens it.
func (w *worker) stop(grace time.Duration) time.Duration {
	now := time.Now()
	if w.killAt.IsZero() || grace < w.grace {
		deadline := now.Add(grace)
		if w.killAt.IsZero() || deadline.Before(w.killAt) {
			w.killAt = deadline
		}
		w.grace = grace
	}
	next := resync
	for _, c := range w.containers() {
		next = min(next, c.stop(w.killAt, now))
	}
	return next
}

// finish ends a Pod that is being deleted; the API forgets it last.
func (w *worker) finish(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	grace := podGrace(pod)
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil && *seconds > 0 {
		grace = time.Duration(*seconds) * time.Second
	}
	next := w.stop(grace)
	if w.deleted {
		return resync, nil
	}
	if !w.foreign(pod) {
		if err := w.publish(ctx, pod); err != nil || !w.idle() {
			return next, err
		}
	}
	if err := w.unmount(ctx); err != nil {
		return next, err
	}
	if err := w.remove(ctx, pod); err != nil {
		return next, err
	}
	w.deleted = true
	return resync, nil
}

// advance starts what should run and restarts what ended.
func (w *worker) advance(ctx context.Context, pod *corev1.Pod) time.Duration {
	if err := w.prepare(ctx, pod); err != nil {
		w.problem = err.Error()
		return retry
	}
	w.problem = ""
	for _, c := range w.inits {
		next := w.step(ctx, pod, c)
		if !c.succeeded() {
			return next
		}
	}
	next := resync
	for _, c := range w.mains {
		next = min(next, w.step(ctx, pod, c))
	}
	return next
}

// prepare gives the Pod an address and, if it has processes, its volumes.
func (w *worker) prepare(ctx context.Context, pod *corev1.Pod) error {
	if w.prepared {
		w.refresh(ctx, pod)
		return nil
	}
	if w.ip == "" {
		ip, err := w.kubelet.addresses.take()
		if err != nil {
			return err
		}
		w.ip, w.startTime = ip, metav1.Now()
	}
	if w.hasPrograms() {
		if err := w.kubelet.makeVolumes(ctx, w.sources(pod)); err != nil {
			return err
		}
		if err := w.mount(ctx, pod); err != nil {
			return err
		}
	}
	w.prepared, w.filledAt = true, time.Now()
	return nil
}

func (w *worker) hasPrograms() bool {
	return slices.ContainsFunc(w.containers(), func(c *container) bool { return c.program != "" })
}

// refresh follows Secrets and ConfigMaps that changed. One that is gone leaves the files as they are.
func (w *worker) refresh(ctx context.Context, pod *corev1.Pod) {
	if !w.hasPrograms() || time.Since(w.filledAt) < resync {
		return
	}
	w.filledAt = time.Now()
	if err := w.kubelet.makeVolumes(ctx, w.sources(pod)); err != nil {
		w.kubelet.options.Log.Info("volumes were not refreshed", "pod", pod.Name, "reason", err.Error())
	}
}

func (w *worker) sources(pod *corev1.Pod) sources {
	return sources{client: w.kubelet.client, pod: pod, ip: w.ip, hostIP: w.kubelet.hostIP(pod.Spec.NodeName)}
}

// step brings one container forward.
func (w *worker) step(ctx context.Context, pod *corev1.Pod, c *container) time.Duration {
	now := time.Now()
	switch {
	case c.running() && (c.asked || c.probes != nil && c.probes.unhealthy()):
		return c.stop(now.Add(livenessGrace(pod, c.spec)), now)
	case c.running():
		return resync
	case c.state.Terminated != nil && !c.restartable(pod.Spec.RestartPolicy):
		return resync
	case now.Before(c.retryAt):
		c.hold("CrashLoopBackOff", "back-off restarting failed container "+c.spec.Name)
		return c.retryAt.Sub(now)
	}
	if err := w.start(ctx, pod, c); err != nil {
		c.hold("CreateContainerError", err.Error())
		return retry
	}
	return resync
}

// start starts a container, or reports a faked one as running; faked init
// containers are done at once.
func (w *worker) start(ctx context.Context, pod *corev1.Pod, c *container) error {
	if c.program == "" {
		c.begin(time.Now())
		if c.init {
			c.end(0, time.Now())
		}
		return nil
	}
	env, err := w.sources(pod).env(ctx, c.spec, w.kubelet.serviceEnv)
	if err != nil {
		return err
	}
	program, args, err := commandLine(w.kubelet.options.BinDir, c.program, c.spec, env)
	if err != nil {
		return err
	}
	view, err := w.kubelet.namespaces(pod, c.spec)
	if err != nil {
		return err
	}
	options := process.Options{
		Name: pod.Name + "/" + c.spec.Name, Command: program, Args: args, Namespaces: view,
		LogFile: w.kubelet.LogFile(pod.Namespace, pod.Name, c.spec.Name),
	}
	for _, variable := range env {
		options.Env = append(options.Env, variable.Name+"="+variable.Value)
	}
	started, err := w.kubelet.options.Supervisor.Start(options)
	if err != nil {
		return err
	}
	c.begin(started.StartedAt())
	c.process = started
	if !c.init {
		c.probes = startProber(ctx, c.spec, w.ip, w.wake)
	}
	w.follow(pod, c, append([]string{program}, args...))
	return nil
}

// follow keeps the process in the registry until it ends, silent or not.
func (w *worker) follow(pod *corev1.Pod, c *container, args []string) {
	entry := Entry{
		PID: c.process.PID(), Cluster: w.kubelet.options.Cluster,
		Namespace: pod.Namespace, Pod: pod.Name, PodUID: string(pod.UID),
		Container: c.spec.Name, Image: c.spec.Image, IP: w.ip, Args: args, StartedAt: c.process.StartedAt(),
	}
	path, err := register(w.kubelet.options.RunDir, entry)
	w.kubelet.report(err, pod)
	running := c.process
	w.kubelet.running.Go(func() {
		<-running.Done()
		entry.EndedAt = running.EndedAt()
		w.kubelet.report(deregister(w.kubelet.options.RunDir, path, entry), pod)
		w.wake()
	})
}

// kill ends everything at once, with the testbed.
func (w *worker) kill() {
	for _, c := range w.containers() {
		if c.process == nil {
			continue
		}
		c.process.Kill()
		<-c.process.Done()
		c.collect()
	}
}

// cleanUp gives back what the Pod used.
func (w *worker) cleanUp() {
	if w.ip != "" {
		w.kubelet.addresses.release(w.ip)
	}
	pod, _ := w.latest()
	_ = os.RemoveAll(w.kubelet.podDir(pod))
}
