package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines/machinecontroller"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The reasons of events that are no reasons of conditions.
const (
	stepChangedEvent = "StepChanged"
	resumedEvent     = "Resumed"
	acceptedEvent    = "Accepted"
	releasedEvent    = "Released"
)

// tell records what the saved status changed: one event a transition, and the metrics of it. What the controller did is in
// the timeline only.
func (p reporter) tell(s *scope, before, after ucv1.ClusterStatus) {
	for _, entry := range status.Entries(&s.Pass, after) {
		switch entry.Kind {
		case ucv1.TimelineStep:
			p.event(s, entry, corev1.EventTypeNormal, stepChangedEvent, "The current step is "+string(after.Step)+".")
			p.metrics.stepEnded(before, s.Now)
		case ucv1.TimelineFailure:
			p.event(s, entry, corev1.EventTypeWarning, entry.Reason, entry.Message, observation.RefsOf(after.About)...)
			p.metrics.stalled(entry.Reason)
		case ucv1.TimelineHalt:
			p.event(s, entry, corev1.EventTypeNormal, entry.Reason, entry.Message+" By "+entry.Actor+".")
		case ucv1.TimelineResume:
			p.event(s, entry, corev1.EventTypeNormal, resumedEvent, entry.Message)
		case ucv1.TimelineAcceptance:
			p.event(s, entry, corev1.EventTypeNormal, acceptedEvent, entry.Message+" By "+entry.Actor+".",
				acceptedIn(&s.Cluster.Spec, entry)...)
		case ucv1.TimelineAction:
		}
	}
	p.metrics.sampled(before.SLO, after.SLO)
	p.tellAhead(s, before, after)
}

// tellAhead says what will be done: each is told once, when it is first written into the status.
func (p reporter) tellAhead(s *scope, before, after ucv1.ClusterStatus) {
	if s.Decision.Leaving != "" && before.ObservedGeneration != after.ObservedGeneration {
		// The deletion is a generation of its own: who deleted it learns once that it waits.
		p.event(s, ucv1.TimelineEntry{Step: after.Step}, corev1.EventTypeWarning, ucv1.DeletingReason, s.Decision.Leaving)
	}
	if plan := after.Adoption; plan != nil && (before.Adoption == nil || !before.Adoption.PlannedAt.Equal(&plan.PlannedAt)) {
		p.event(s, ucv1.TimelineEntry{Step: after.Step}, corev1.EventTypeNormal, ucv1.AdoptionPlannedReason,
			"Adopting changes: "+strings.Join(plan.Changes, "; "), takenOver(s)...)
	}
}

func (p reporter) event(s *scope, entry ucv1.TimelineEntry, kind, reason, note string, about ...observation.Ref) {
	var related runtime.Object
	if reference := relatedTo(s, entry, about); reference != nil {
		related = reference
	}
	p.recorder.Eventf(s.Cluster, related, kind, reason, string(entry.Step), "%s", wording.Bounded(note, status.MaxMessage))
}

// relatedTo is what a transition is about besides the Cluster: the first of its objects whose kind is known, what the pass
// changed, or what the step is about. It may be in the user cluster. Nil when there is no such object.
func relatedTo(s *scope, entry ucv1.TimelineEntry, about []observation.Ref) *corev1.ObjectReference {
	for _, object := range about {
		if versionOfKind()[object.Kind] != "" {
			return referenceTo(object)
		}
	}
	if action := s.Decision.Next(); action != nil && entry.Kind == ucv1.TimelineStep && len(action.Objects) > 0 &&
		action.Objects[0].Kind != "Cluster" {
		return referenceTo(action.Objects[0])
	}
	return objectOf(s.Cluster, entry.Step)
}

// takenOver are the objects of someone else that an adoption changes, in the order of its plan.
func takenOver(s *scope) []observation.Ref {
	addons := s.Observed.Addons.Value()
	return observation.Join(observation.SortTexts(slices.Concat(addons.CSI.Foreign, addons.CCM.Foreign)), " ").Objects
}

// acceptedIn are the objects that an entry accepts, as far as the spec names them.
func acceptedIn(spec *ucv1.ClusterSpec, entry ucv1.TimelineEntry) []observation.Ref {
	var about []observation.Ref
	for _, accepted := range acceptancesIn(spec) {
		if !slices.Contains(entry.Objects, accepted.value) {
			continue
		}
		for _, object := range accepted.objects {
			if ref, named := observation.ParseRef(object); named {
				about = append(about, ref)
			}
		}
	}
	return about
}

func referenceTo(ref observation.Ref) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: ref.Kind, APIVersion: versionOfKind()[ref.Kind], Namespace: ref.Namespace, Name: ref.Name}
}

// objectOf a step is the Deployment that the step is about, or what the controller keeps for it beside the Cluster.
func objectOf(cluster *ucv1.Cluster, step ucv1.Step) *corev1.ObjectReference {
	switch migration.RowOf(cluster.Status.Origin, step).About {
	case migration.AboutAddons:
		return referenceTo(observation.Ref{Kind: "ConfigMap", Namespace: cluster.Namespace, Name: inventoryName(cluster)})
	case migration.AboutBaseline:
		if cluster.Status.Baseline != nil {
			return referenceTo(observation.Ref{Kind: "Secret", Namespace: cluster.Namespace, Name: cluster.Status.Baseline.SecretName})
		}
	case migration.AboutMachines:
		return referenceTo(controlplane.MachineControllerRef(cluster))
	case migration.AboutKCM:
	}
	if cluster.Spec.ControlPlane.Static() {
		return nil
	}
	return referenceTo(observation.Ref{Kind: "Deployment", Namespace: cluster.Namespace, Name: cluster.KubeControllerManager().Name})
}

func versionOfKind() map[string]string {
	versions := map[string]string{
		"ConfigMap": "v1", "Node": "v1", "PersistentVolume": "v1", "PersistentVolumeClaim": "v1", "Pod": "v1", "Secret": "v1",
		"Service": "v1", "ServiceAccount": "v1",
		"DaemonSet": "apps/v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1",
		"Lease": "coordination.k8s.io/v1", "PodDisruptionBudget": "policy/v1",
		"Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
		"CSIDriver": "storage.k8s.io/v1", "StorageClass": "storage.k8s.io/v1",
	}
	for _, kind := range machinecontroller.Kinds() {
		versions[kind.Kind] = kind.GroupVersion().String()
	}
	return versions
}
