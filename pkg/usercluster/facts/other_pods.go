package facts

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// podVersion is what a pod has to show to be the one that was read.
type podVersion struct {
	uid     types.UID
	version string
}

func versionOf(pod metav1.Object) podVersion {
	return podVersion{pod.GetUID(), pod.GetResourceVersion()}
}

// loosePod is one that no workload answers for.
type loosePod struct {
	owner   observation.Ref
	version podVersion
}

// pods looks at those that no workload answers for: made by hand, static, left by a workload that is gone or scaled to zero, or
// of a kind that is not listed.
func (l *look) pods(ctx context.Context) error {
	loose := map[client.ObjectKey]loosePod{}
	names := func() *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		return list
	}
	err := reads.Pages(ctx, l.client, "Pods", names, func(list *metav1.PartialObjectMetadataList) {
		for i := range list.Items {
			pod := &list.Items[i]
			if owner := workloadOf(pod); !l.answered[owner] && !l.ours.has(owner) {
				loose[reads.Keep(ctx, client.ObjectKeyFromObject(pod))] = reads.Keep(ctx, loosePod{owner, versionOf(pod)})
			}
		}
	})
	if err != nil || len(loose) == 0 {
		return err
	}
	return l.loosePods(ctx, loose)
}

// loosePods reads few of them one by one, and many with all others. One that is listed as it was when it was read is not read
// again.
func (l *look) loosePods(ctx context.Context, loose map[client.ObjectKey]loosePod) error {
	const few = 50
	if len(loose) > few {
		return reads.Pages(ctx, l.client, "Pods", func() *corev1.PodList { return &corev1.PodList{} }, func(list *corev1.PodList) {
			for i := range list.Items {
				if seen, is := loose[client.ObjectKeyFromObject(&list.Items[i])]; is {
					l.pod(ctx, &list.Items[i], seen.owner)
				}
			}
		})
	}
	known, none := l.memory.noManagers(), map[client.ObjectKey]podVersion{}
	for key, seen := range loose {
		if version, is := known[key]; is && version == seen.version {
			none[key] = version
			continue
		}
		pod := &corev1.Pod{}
		err := l.client.Get(ctx, key, pod)
		if client.IgnoreNotFound(err) != nil {
			return reads.Unseen(reads.Because("reading Pod "+key.String(), err))
		}
		if err == nil && !l.pod(ctx, pod, seen.owner) {
			none[key] = versionOf(pod)
		}
	}
	l.memory.keepNoManagers(none)
	return nil
}

func (m *otherMemory) noManagers() map[client.ObjectKey]podVersion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.none
}

func (m *otherMemory) keepNoManagers(none map[client.ObjectKey]podVersion) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.none = none
}

// pod says whether it is of a manager. What is left of a workload of ours that was deleted is left out.
func (l *look) pod(ctx context.Context, pod *corev1.Pod, owner observation.Ref) (is bool) {
	manager, is := l.recognize(pod.Labels, &pod.Spec)
	finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	left := l.ours.names(owner) && slices.Contains(l.ours.Identities, identityOf(pod.Namespace, &pod.Spec))
	if is && !finished && !left {
		l.add(ctx, observation.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, pod, manager, &pod.Spec, false)
	}
	return is
}
