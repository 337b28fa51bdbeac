package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Kubelet serves all Nodes of one cluster but those labelled otherwise.
type Kubelet struct {
	options    Options
	client     kubernetes.Interface
	serviceEnv []corev1.EnvVar
	addresses  *addresses
	heart      *heart

	nodes corelisters.NodeLister
	pods  corelisters.PodLister

	mu      sync.Mutex
	workers map[types.UID]*worker
	silent  map[string]bool
	running sync.WaitGroup
}

// New returns a kubelet that does nothing until Run.
func New(options Options) (*Kubelet, error) {
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("kubelet of cluster %s: %w", options.Cluster, err)
	}
	// It speaks for all Nodes of a cluster, each of which has a kubelet of its own with 50 requests a second.
	config := rest.CopyConfig(options.Config)
	config.QPS, config.Burst = 200, 400
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return patient{next} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubelet of cluster %s: %w", options.Cluster, err)
	}
	env, err := serviceEnv(options.Config)
	if err != nil {
		return nil, fmt.Errorf("kubelet of cluster %s: %w", options.Cluster, err)
	}
	k := &Kubelet{
		options:    options,
		client:     client,
		serviceEnv: env,
		addresses:  newAddresses(options.Index),
		workers:    map[types.UID]*worker{},
		silent:     map[string]bool{},
	}
	k.heart = newHeart(k)
	return k, nil
}

// Run serves until ctx ends, then kills every process and returns.
func (k *Kubelet) Run(ctx context.Context) error {
	all := informers.NewSharedInformerFactory(k.client, 0)
	bound := informers.NewSharedInformerFactoryWithOptions(k.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	}))
	nodes, pods := all.Core().V1().Nodes(), bound.Core().V1().Pods()
	k.mu.Lock()
	k.nodes, k.pods = nodes.Lister(), pods.Lister()
	k.mu.Unlock()
	nodesKnown, podsKnown := nodes.Informer(), pods.Informer()
	if _, err := nodesKnown.AddEventHandler(k.nodeEvents(ctx)); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	// Every worker and informer ends with ctx, so waiting for them is bounded.
	defer k.running.Wait()
	defer all.Shutdown()
	defer bound.Shutdown()

	// Pods are looked at only once it is known which Nodes are ours.
	all.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), nodesKnown.HasSynced) {
		return nil
	}
	if _, err := podsKnown.AddEventHandler(k.podEvents(ctx)); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	bound.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), podsKnown.HasSynced) {
		return nil
	}
	if k.options.StaticPodDir != "" {
		k.running.Go(func() { newStaticPods(k).run(ctx) })
	}
	k.heart.run(ctx)
	return nil
}

// Pods of a namespace with such labels, as a kubelet that runs knows them: also while no API server answers. The list is the
// caller's, what it points to is not.
func (k *Kubelet) Pods(namespace string, having labels.Set) ([]*corev1.Pod, error) {
	k.mu.Lock()
	pods := k.pods
	k.mu.Unlock()
	return pods.Pods(namespace).List(having.AsSelector())
}

// SetNodeSilent makes a Node's kubelet seem gone, or come back: while silent it
// neither renews the Lease nor looks after Pods; processes go on running.
func (k *Kubelet) SetNodeSilent(name string, silent bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.silent[name] = silent
	for _, w := range k.workers {
		w.wake()
	}
}

func (k *Kubelet) isSilent(node string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.silent[node]
}

// serves tells whether Pods of the Node are ours to start.
func (k *Kubelet) serves(node string) bool {
	found, err := k.nodes.Get(node)
	return err == nil && found.Labels[ModeLabel] != ModeNone
}

func (k *Kubelet) nodeEvents(ctx context.Context) cache.ResourceEventHandler {
	appeared := func(name string) {
		k.heart.wake()
		pods, err := k.pods.List(labels.Everything())
		if err != nil {
			return
		}
		for _, pod := range pods {
			if pod.Spec.NodeName == name {
				k.podSeen(ctx, pod)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { appeared(obj.(*corev1.Node).Name) },
		UpdateFunc: func(before, after any) {
			was, is := before.(*corev1.Node), after.(*corev1.Node)
			if was.UID != is.UID || was.Labels[ModeLabel] != is.Labels[ModeLabel] {
				appeared(is.Name)
			}
		},
	}
}

func (k *Kubelet) podEvents(ctx context.Context) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { k.podSeen(ctx, obj.(*corev1.Pod)) },
		UpdateFunc: func(before, after any) {
			was, is := before.(*corev1.Pod), after.(*corev1.Pod)
			// After a lost watch two Pods of the same name look like one that changed.
			if was.UID != is.UID {
				k.podGone(was)
			}
			k.podSeen(ctx, is)
		},
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				k.podGone(pod)
			}
		},
	}
}

// podSeen gives a Pod to its worker, and a worker to a Pod that has none.
func (k *Kubelet) podSeen(ctx context.Context, pod *corev1.Pod) {
	served := k.serves(pod.Spec.NodeName)
	k.mu.Lock()
	defer k.mu.Unlock()
	if w, ok := k.workers[pod.UID]; ok {
		w.see(pod)
		return
	}
	// An event may be old news, and no other would end the worker of a Pod that is gone.
	current, err := k.pods.Pods(pod.Namespace).Get(pod.Name)
	if !served || ctx.Err() != nil || err != nil || current.UID != pod.UID {
		return
	}
	w := newWorker(k, pod)
	k.workers[pod.UID] = w
	k.running.Go(func() {
		w.run(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.workers, pod.UID)
	})
}

func (k *Kubelet) podGone(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w, ok := k.workers[pod.UID]; ok {
		w.vanish()
	}
}

// report logs an error unless it only says that the testbed is being stopped.
func (k *Kubelet) report(err error, pod *corev1.Pod) {
	if err != nil && !errors.Is(err, context.Canceled) {
		k.options.Log.Error(err, "pod will be retried", "cluster", k.options.Cluster, "namespace", pod.Namespace, "pod", pod.Name)
	}
}
