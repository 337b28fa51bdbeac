package cluster

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// maxAcceptances is the bound of status.acceptances.
const maxAcceptances = 100

// acceptance is one value of the spec by which a person vouches for something, and where it stands.
type acceptance struct {
	path []string
	// item is the key of the value in managedFields: https://kubernetes.io/docs/reference/using-api/server-side-apply/
	item  string
	value string
	// objects that it is about, as the spec has them.
	objects []string
}

func (a acceptance) field() string { return "spec." + strings.Join(a.path, ".") }

// acceptancesIn lists what the spec accepts, in a stable order.
func acceptancesIn(spec *ucv1.ClusterSpec) []acceptance {
	var list []acceptance
	for _, set := range []struct {
		path   []string
		values []string
	}{
		{[]string{"handover", "acceptLostManagers"}, spec.Handover.AcceptLostManagers},
		{[]string{"handover", "acceptOtherManagers"}, spec.Handover.AcceptOtherManagers},
		{[]string{"rollout", "acceptChanges"}, spec.Rollout.AcceptChanges},
		{[]string{"rollout", "acceptNodes"}, spec.Rollout.AcceptNodes},
		{[]string{"rollout", "acceptVolumes"}, spec.Rollout.AcceptVolumes},
	} {
		for _, value := range slices.Sorted(slices.Values(set.values)) {
			list = append(list, acceptance{path: set.path, item: "v:" + strconv.Quote(value), value: value, objects: []string{value}})
		}
	}
	if spec.Admission == ucv1.ImmediateClusterAdmission {
		list = append(list, acceptance{path: []string{"admission"}, value: string(spec.Admission)})
	}
	for _, finding := range spec.Preflight.Accept {
		value := finding.ID
		if len(finding.Objects) > 0 {
			value += " of " + strings.Join(finding.Objects, ", ")
		}
		list = append(list, acceptance{
			path: []string{"preflight", "accept"}, value: wording.Bounded(value+": "+finding.Reason, status.MaxObjectName),
			objects: finding.Objects,
		})
	}
	return list[:min(len(list), maxAcceptances)]
}

// observeActors looks who vouches for what and who paused. The cache has no managedFields, so they are read when there is
// something new only. What cannot be read now is noted in a later pass.
func (m *managementObserver) observeActors(ctx context.Context, s *scope) {
	known := s.Cluster.Status.Acceptances
	wanted := acceptancesIn(&s.Cluster.Spec)
	paused := s.Cluster.Spec.Paused != meta.IsStatusConditionTrue(s.Cluster.Status.Conditions, ucv1.PausedCondition)
	s.Acceptances, s.PausedBy = merged(known, wanted, nil, s.Now), ucv1.UnknownActor
	if !s.Cluster.ExternalCloudProvider() || (len(s.Acceptances) == len(wanted) && !paused) {
		return
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(ucv1.GroupVersion().WithKind("Cluster"))
	if err := m.live.Get(ctx, client.ObjectKeyFromObject(s.Cluster), object); err != nil {
		return
	}
	s.Acceptances = merged(known, wanted, object.ManagedFields, s.Now)
	s.PausedBy = managerOf(object.ManagedFields, acceptance{path: []string{"paused"}})
}

// merged keeps what is known of the values that are still wanted. New ones are only added with managedFields.
func merged(
	known []ucv1.AcceptanceStatus,
	wanted []acceptance,
	fields []metav1.ManagedFieldsEntry,
	now time.Time,
) []ucv1.AcceptanceStatus {
	var list []ucv1.AcceptanceStatus
	for _, a := range wanted {
		at := slices.IndexFunc(known, func(k ucv1.AcceptanceStatus) bool { return k.Field == a.field() && k.Value == a.value })
		switch {
		case at >= 0:
			list = append(list, known[at])
		case fields != nil:
			list = append(
				list,
				ucv1.AcceptanceStatus{Field: a.field(), Value: a.value, By: managerOf(fields, a), SeenAt: metav1.NewTime(now)},
			)
		}
	}
	return list
}

// managerOf is the field manager that owns the value, or the whole list that it stands in.
func managerOf(fields []metav1.ManagedFieldsEntry, a acceptance) string {
	owner, since := ucv1.UnknownActor, (*metav1.Time)(nil)
	for _, entry := range fields {
		if entry.Subresource != "" || entry.FieldsV1 == nil || !owns(entry.FieldsV1.GetRawBytes(), a) {
			continue
		}
		if owner == ucv1.UnknownActor || since.Before(entry.Time) {
			owner, since = wording.Bounded(entry.Manager, 128), entry.Time
		}
	}
	return owner
}

// owns walks f:spec, f:rollout, f:acceptNodes, v:"node-1".
func owns(raw []byte, a acceptance) bool {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for _, name := range append([]string{"spec"}, a.path...) {
		next, found := fields["f:"+name].(map[string]any)
		if !found {
			return false
		}
		fields = next
	}
	// An atomic list, and a plain field, have nothing below.
	_, found := fields[a.item]
	return found || len(fields) == 0
}
