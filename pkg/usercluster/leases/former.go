package leases

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Processes are those of an identity that may hold its Lease, when one of them was seen to end under the holder's hostname: then
// its pods are listed, whoever made them. Otherwise there are none, which costs no request. management has the ends of those
// beside the control plane.
func (e *Elections) Processes(
	ctx context.Context,
	id manifest.Identity,
	access *manifest.Access,
	lease observation.Lease,
	management *controlplane.Former,
) observation.Observed[[]observation.Process] {
	e.watchProcesses(id)
	former := e.former.Processes(id.ServiceAccountNamespace, "")
	if access != nil && management != nil {
		former = append(former, management.Processes(access.Secret.Namespace, "")...)
	}
	hostname, _, _ := strings.Cut(lease.Holder, "_")
	if !slices.ContainsFunc(former, func(p observation.Process) bool { return p.Ended && p.Hostname == hostname }) {
		return observation.Known([]observation.Process{})
	}
	seen := e.processes(ctx, id, access)
	listed, known := seen.Get()
	if !known {
		return observation.Unknown[[]observation.Process](seen.Why())
	}
	merged, gone := controlplane.Merge(listed, former)
	return observation.Known(append(merged, gone...))
}

// processes that are there now. Those of the user cluster are kept while the watch of their pods shows no change.
func (e *Elections) processes(
	ctx context.Context, id manifest.Identity, access *manifest.Access,
) observation.Observed[[]observation.Process] {
	account := types.NamespacedName{Namespace: id.ServiceAccountNamespace, Name: id.ServiceAccountName}
	if account != e.listedOf {
		e.listed, e.listedOf = &kept.Value[[]observation.Process]{}, account
	}
	mark := e.watches.MarkOfPods(account)
	mark.Watched = mark.Watched && access == nil
	return e.listed.Read(ctx, e.clock.Now(), mark, func() observation.Observed[[]observation.Process] {
		processes, why := e.readProcesses(ctx, id, access)
		if why != "" {
			return observation.Unknown[[]observation.Process](why)
		}
		return observation.Known(processes)
	})
}

func (e *Elections) readProcesses(
	ctx context.Context,
	id manifest.Identity,
	access *manifest.Access,
) (processes []observation.Process, why string) {
	err := reads.List(ctx, e.client, func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
		for i := range page.Items {
			if page.Items[i].Spec.ServiceAccountName == id.ServiceAccountName {
				processes = append(processes, reads.Keep(ctx, controlplane.ProcessesOf(&page.Items[i]))...)
			}
		}
	}, client.InNamespace(id.ServiceAccountNamespace))
	if err != nil {
		return nil, reads.Because("listing Pods of "+id.ServiceAccountNamespace, err)
	}
	if access == nil {
		return processes, ""
	}
	pods := &corev1.PodList{}
	if err := e.management.List(ctx, pods, client.InNamespace(access.Secret.Namespace)); err != nil {
		return nil, "listing Pods of " + access.Secret.Namespace + ": " + err.Error()
	}
	for i := range pods.Items {
		if readsSecret(&pods.Items[i], access.Secret.Name) {
			processes = append(processes, controlplane.ProcessesOf(&pods.Items[i])...)
		}
	}
	return processes, ""
}

// watchProcesses watches the pods of an identity while a migration goes on: the end of a process may be visible for a moment
// only.
func (e *Elections) watchProcesses(id manifest.Identity) {
	if id.ServiceAccountName != "" {
		e.watches.PodsOf(types.NamespacedName{Namespace: id.ServiceAccountNamespace, Name: id.ServiceAccountName},
			&formerStore{former: e.former, wake: e.watches.Wake})
	}
}

// formerStore remembers what a watch shows, and wakes.
type formerStore struct {
	former *controlplane.Former
	wake   func()
}

// Add implements cache.ReflectorStore.
func (f *formerStore) Add(object any) error { return f.Update(object) }

// Update implements cache.ReflectorStore.
func (f *formerStore) Update(object any) error {
	f.see(object)
	f.wake()
	return nil
}

// Delete implements cache.ReflectorStore.
func (f *formerStore) Delete(object any) error {
	if pod, ok := object.(*corev1.Pod); ok {
		f.former.Gone(pod)
	}
	f.wake()
	return nil
}

// Replace implements cache.ReflectorStore. What is not in the list vanished unseen, which is no end.
func (f *formerStore) Replace(objects []any, _ string) error {
	for _, object := range objects {
		f.see(object)
	}
	f.wake()
	return nil
}

// Resync implements cache.ReflectorStore.
func (f *formerStore) Resync() error { return nil }

func (f *formerStore) see(object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		f.former.See(pod)
	}
}
