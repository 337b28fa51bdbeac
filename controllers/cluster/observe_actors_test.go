package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func owned(manager, fields string, minute int) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Time: passes.At(passes.Start().Add(time.Duration(minute) * time.Minute)),
		FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestManagedFieldsSayWhoVouches(t *testing.T) {
	node := acceptance{path: []string{"rollout", "acceptNodes"}, item: `v:"node-1"`, value: "node-1"}
	list := `{"f:spec":{"f:rollout":{"f:acceptNodes":{".":{},"v:\"node-1\"":{},"v:\"node-2\"":{}}}}}`
	for name, tc := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		what   acceptance
		want   string
	}{
		"the owner of the value": {[]metav1.ManagedFieldsEntry{
			owned("argocd-controller", `{"f:spec":{"f:version":{}}}`, 0), owned("kubectl-edit", list, 1),
		}, node, "kubectl-edit"},
		"not of another value of the list": {[]metav1.ManagedFieldsEntry{
			owned("kubectl-edit", `{"f:spec":{"f:rollout":{"f:acceptNodes":{".":{},"v:\"node-2\"":{}}}}}`, 0),
		}, node, "unknown"},
		"the last of two owners":       {[]metav1.ManagedFieldsEntry{owned("first", list, 1), owned("second", list, 2), owned("third", list, 0)}, node, "second"},
		"the owner of an atomic list":  {[]metav1.ManagedFieldsEntry{owned("flux", `{"f:spec":{"f:preflight":{"f:accept":{}}}}`, 0)}, acceptance{path: []string{"preflight", "accept"}}, "flux"},
		"the owner of a plain field":   {[]metav1.ManagedFieldsEntry{owned("kubectl-patch", `{"f:spec":{"f:paused":{}}}`, 0)}, acceptance{path: []string{"paused"}}, "kubectl-patch"},
		"no one, where nothing is":     {nil, node, "unknown"},
		"no one, where it is not JSON": {[]metav1.ManagedFieldsEntry{owned("odd", "{", 0)}, node, "unknown"},
		"not who wrote the status": {[]metav1.ManagedFieldsEntry{
			{Manager: "status", Subresource: "status", FieldsV1: metav1.NewFieldsV1(list)},
		}, node, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(managerOf(tc.fields, tc.what)).To(Equal(tc.want))
		})
	}
}

// liveReader answers with managedFields, or with an error, and counts how often it was asked.
type liveReader struct {
	fields []metav1.ManagedFieldsEntry
	err    error
	asked  int
}

func (r *liveReader) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.asked++
	object.SetManagedFields(r.fields)
	return r.err
}

func (r *liveReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("no one lists here")
}

func vouching(nodes ...string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		passes.AtStep(ucv1.StepVerify)(c)
		c.Spec.Rollout.AcceptNodes = nodes
	}
}

func accepted(by, value string) ucv1.AcceptanceStatus {
	return ucv1.AcceptanceStatus{Field: "spec.rollout.acceptNodes", Value: value, By: by, SeenAt: *passes.At(passes.Start())}
}

func knowing(list ...ucv1.AcceptanceStatus) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Status.Acceptances = list }
}

func TestAcceptancesAreRecordedOnce(t *testing.T) {
	fields := []metav1.ManagedFieldsEntry{
		owned("kubectl-edit", `{"f:spec":{"f:rollout":{"f:acceptNodes":{".":{},"v:\"a\"":{},"v:\"b\"":{}}}}}`, 0),
	}
	entry := func(actor, message string, objects ...string) []ucv1.TimelineEntry {
		return []ucv1.TimelineEntry{{
			Time: *passes.At(passes.Start()), Kind: ucv1.TimelineAcceptance, Step: ucv1.StepVerify, Actor: actor, Message: message,
			Objects: objects,
		}}
	}
	for name, tc := range map[string]struct {
		changes []func(*ucv1.Cluster)
		reader  liveReader
		asked   int
		want    []ucv1.AcceptanceStatus
		entries []ucv1.TimelineEntry
	}{
		"what is new, with who it was": {
			changes: []func(*ucv1.Cluster){vouching("b", "a")}, reader: liveReader{fields: fields}, asked: 1,
			want:    []ucv1.AcceptanceStatus{accepted("kubectl-edit", "a"), accepted("kubectl-edit", "b")},
			entries: entry("kubectl-edit", "Accepted in spec.rollout.acceptNodes: a, b.", "a", "b"),
		},
		"what is known, without asking again": {
			changes: []func(*ucv1.Cluster){vouching("a"), knowing(accepted("kubectl-edit", "a"))},
			want:    []ucv1.AcceptanceStatus{accepted("kubectl-edit", "a")},
		},
		"one more": {
			changes: []func(*ucv1.Cluster){vouching("a", "b"), knowing(accepted("argocd", "a"))},
			reader:  liveReader{fields: fields}, asked: 1,
			want:    []ucv1.AcceptanceStatus{accepted("argocd", "a"), accepted("kubectl-edit", "b")},
			entries: entry("kubectl-edit", "Accepted in spec.rollout.acceptNodes: b.", "b"),
		},
		"what is taken back": {
			changes: []func(*ucv1.Cluster){vouching(), knowing(accepted("argocd", "a"))},
			entries: entry("unknown", "No longer accepted in spec.rollout.acceptNodes: a.", "a"),
		},
		"nothing yet, when no one can say who it was": {
			changes: []func(*ucv1.Cluster){vouching("a")}, reader: liveReader{err: errors.New("not now")}, asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := tc.reader
			s := passOf(
				passes.ClusterOf(ucv1.OriginMigrating, tc.changes...),
				passes.Decided(ucv1.OriginMigrating, ucv1.StepVerify, passes.Waiting("WaitingForNodes", "Waiting.")),
			)
			(&managementObserver{live: &reader}).observeActors(t.Context(), s)
			after := reported(t, s).Status
			g.Expect(reader.asked).To(Equal(tc.asked))
			g.Expect(after.Acceptances).To(Equal(tc.want))
			g.Expect(after.Timeline).To(Equal(tc.entries))
		})
	}
}

func TestAcceptancesAreBounded(t *testing.T) {
	g := NewWithT(t)
	spec := &ucv1.ClusterSpec{}
	for i := range 100 {
		spec.Rollout.AcceptNodes = append(spec.Rollout.AcceptNodes, fmt.Sprintf("node-%d", i))
		spec.Rollout.AcceptChanges = append(spec.Rollout.AcceptChanges, fmt.Sprintf("Node node-%d", i))
	}
	g.Expect(acceptancesIn(spec)).To(HaveLen(100))
}

func TestWhoPausedIsAsked(t *testing.T) {
	g := NewWithT(t)
	reader := &liveReader{fields: []metav1.ManagedFieldsEntry{owned("kubectl-patch", `{"f:spec":{"f:paused":{}}}`, 0)}}
	s := passOf(
		passes.ClusterOf(ucv1.OriginMigrating, passes.Paused), passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Nothing),
	)
	(&managementObserver{live: reader}).observeActors(t.Context(), s)
	g.Expect(s.PausedBy).To(Equal("kubectl-patch"))
	g.Expect(reader.asked).To(Equal(1))
}
