package story_test

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// gitOps applies a Cluster as Git has it once a second, by server-side apply with force, as Argo CD and Flux do:
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#server-side-apply
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources
type gitOps struct {
	client  client.Client
	cluster string
	manager client.FieldOwner

	applies int
	// writes of it, as the API server notes them; an apply that changes nothing is none.
	writes []metav1.Time
	// said is all that the Cluster said but for its status, the last one last, and again what it said a second time.
	said, again []string
	ended       chan struct{}
}

// keepAsInGit begins when the feature is on in Git, and ends with the context.
func keepAsInGit(ctx context.Context, b *bed.Bed, cluster string, manager client.FieldOwner) *gitOps {
	GinkgoHelper()
	c, err := client.NewWithWatch(b.Management.AdminConfig(), client.Options{Scheme: b.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	o := &gitOps{client: c, cluster: cluster, manager: manager, ended: make(chan struct{})}
	versions, err := c.Watch(ctx, &ucv1.ClusterList{}, client.InNamespace("user-"+cluster))
	Expect(err).NotTo(HaveOccurred())
	go func() {
		defer GinkgoRecover()
		defer close(o.ended)
		defer versions.Stop()
		every := time.NewTicker(time.Second)
		defer every.Stop()
		var git *unstructured.Unstructured
		for {
			select {
			case <-ctx.Done():
				return
			case event, open := <-versions.ResultChan():
				if !open {
					Expect(ctx.Err()).To(HaveOccurred(), "the watch ended")
					return
				}
				if seen := o.look(event); git == nil && seen.ExternalCloudProvider() {
					git = asInGit(seen)
				}
			case <-every.C:
				if git != nil {
					o.apply(ctx, git.DeepCopy())
				}
			}
		}
	}()
	return o
}

// asInGit is what a person writes down of a Cluster.
func asInGit(seen *ucv1.Cluster) *unstructured.Unstructured {
	content, err := json.Marshal(map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster", "spec": seen.Spec,
		"metadata": map[string]any{"name": seen.Name, "namespace": seen.Namespace, "labels": map[string]string{"example.com/by": "git"}},
	})
	Expect(err).NotTo(HaveOccurred())
	git := &unstructured.Unstructured{}
	Expect(json.Unmarshal(content, &git.Object)).To(Succeed())
	return git
}

func (o *gitOps) apply(ctx context.Context, git *unstructured.Unstructured) {
	err := o.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(git), o.manager, client.ForceOwnership)
	if ctx.Err() == nil {
		Expect(err).NotTo(HaveOccurred())
		o.applies++
	}
}

func (o *gitOps) look(event watch.Event) *ucv1.Cluster {
	seen, is := event.Object.(*ucv1.Cluster)
	Expect(is).To(BeTrue(), "%v", event)
	for _, entry := range seen.ManagedFields {
		if entry.Manager == string(o.manager) && !slices.ContainsFunc(o.writes, func(t metav1.Time) bool { return t.Equal(entry.Time) }) {
			o.writes = append(o.writes, *entry.Time)
		}
	}
	content, err := json.Marshal([]any{seen.Spec, seen.Labels, seen.Annotations, seen.Finalizers})
	Expect(err).NotTo(HaveOccurred())
	if now := string(content); len(o.said) == 0 || o.said[len(o.said)-1] != now {
		if slices.Contains(o.said, now) {
			o.again = append(o.again, now)
		}
		o.said = append(o.said, now)
	}
	return seen
}

// expectPeace: the tool and the controller do not take each other's changes back.
func (o *gitOps) expectPeace() {
	GinkgoHelper()
	<-o.ended
	GinkgoWriter.Printf("%s: %d applies by %s, of which %d wrote; the Cluster was changed %d times, but for its status\n",
		o.cluster, o.applies, o.manager, len(o.writes), len(o.said))
	Expect(o.applies).To(BeNumerically(">=", 60), "for minutes: the demo takes more than two")
	Expect(o.writes).To(HaveLen(1), "an apply of what is there already writes nothing")
	Expect(o.again).To(BeEmpty(), "what was before came back")
}
