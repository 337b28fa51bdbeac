package facts

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// preflightIdentity is that of some CCM.
func preflightIdentity() manifest.Identity {
	return manifest.Identity{
		ServiceAccountNamespace: "kube-system", ServiceAccountName: "ccm",
		LeaseNamespace: "kube-system", LeaseName: "cloud-controller-manager",
	}
}

func TestPreflightReadsObjects(t *testing.T) {
	g := NewWithT(t)
	s, _ := preflightWith(interceptor.Funcs{}, preflightObjects()...)
	aws, _ := provider.New().Facts("aws", "1.26.15")
	read := s.Read(t.Context(), Input{
		Registries: aws.Registries, Identity: preflightIdentity(), Generation: 1,
		Source: observation.Ref{Kind: "Secret", Namespace: "a", Name: "b"},
	})

	g.Expect(read.NodeDetails.Value()).To(ConsistOf(preflight.NodeDetail{
		Name: "n1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}, PodCIDRs: []string{"10.0.0.0/24"},
		KubeletVersion: "v1.25.16", NodeIP: "10.1.0.1", NetworkUnavailable: true, ControlPlane: true,
		Attached: []string{"kubernetes.io/cinder/1"},
	}))
	g.Expect(read.Services.Value()).To(ConsistOf(
		And(HaveField("Name", "web"), HaveField("Ingress", []string{"192.0.2.1"})),
		And(HaveField("Name", "theirs"), HaveField("Class", "other")),
	))
	g.Expect(read.Volumes.Value()).To(ConsistOf(preflight.Volume{
		Name: "data", Phase: "Bound", Plugin: "kubernetes.io/cinder", Terms: []preflight.Term{{"zone": {"z1"}}},
	}))
	g.Expect(read.Attachments.Value()).To(ConsistOf(preflight.Attachment{Name: "a", Attacher: "csi", Node: "n1", Problem: "busy"}))
	g.Expect(read.Budgets.Value()).To(
		ConsistOf(preflight.Budget{Namespace: "default", Name: "web", Expected: 1, Healthy: 1, Stale: true}),
	)
	g.Expect(read.Pods.Value()).To(Equal(preflight.Pods{
		Inline:      map[string][]observation.Ref{"kubernetes.io/aws-ebs": {{Kind: "Pod", Namespace: "default", Name: "web"}}},
		Autoscalers: []observation.Ref{{Kind: "Pod", Namespace: "default", Name: "ca"}},
		Pulling: map[string][]observation.Ref{
			"1.dkr.ecr.eu-central-1.amazonaws.com": {{Kind: "Pod", Namespace: "default", Name: "web"}},
		},
	}))
	g.Expect(read.Credentials.Value().Source.String()).To(Equal("Secret a/b"))
	g.Expect(read.Server.IsUnknown()).To(BeTrue(), "there is no connection")
}

func preflightObjects() []client.Object {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	balanced := func(name string, change func(*corev1.Service)) *corev1.Service {
		service := &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
		change(service)
		return service
	}
	pod := func(name string, phase corev1.PodPhase, image string, secrets ...corev1.LocalObjectReference) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: meta(name), Status: corev1.PodStatus{Phase: phase},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "c", Image: image}}, ImagePullSecrets: secrets, Volumes: []corev1.Volume{{Name: "v"}},
			},
		}
	}
	const ecr = "1.dkr.ecr.eu-central-1.amazonaws.com/web:1"
	web := pod("web", corev1.PodRunning, ecr)
	web.Spec.Volumes[0].AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	return []client.Object{
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: "n1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""},
				Annotations: map[string]string{nodeIPAnnotation: "10.1.0.1"},
			},
			Spec: corev1.NodeSpec{PodCIDR: "10.0.0.0/24"},
			Status: corev1.NodeStatus{
				NodeInfo:        corev1.NodeSystemInfo{KubeletVersion: "v1.25.16"},
				Conditions:      []corev1.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue}},
				VolumesAttached: []corev1.AttachedVolume{{Name: "kubernetes.io/cinder/1"}, {Name: "kubernetes.io/csi/x^2"}},
			},
		},
		balanced("web", func(s *corev1.Service) {
			s.Finalizers = []string{cleanupFinalizer}
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
		}),
		balanced("theirs", func(s *corev1.Service) { s.Spec.LoadBalancerClass = new("other") }),
		balanced("inner", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }),
		&corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeSpec{
				PersistentVolumeSource: corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "1"}},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"z1"}},
						{Key: "other", Operator: corev1.NodeSelectorOpExists},
					},
				}}}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		},
		&storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{Attacher: "csi", NodeName: "n1"},
			Status: storagev1.VolumeAttachmentStatus{DetachError: &storagev1.VolumeError{Message: "busy"}},
		},
		&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Generation: 2},
			Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: 1, CurrentHealthy: 1, DesiredHealthy: 1},
		},
		web, pod("done", corev1.PodSucceeded, ecr), pod("secret", corev1.PodRunning, ecr, corev1.LocalObjectReference{Name: "s"}),
		pod("ca", corev1.PodRunning, "x/cluster-autoscaler:v1"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}},
	}
}

func TestPreflightReadsRarely(t *testing.T) {
	g := NewWithT(t)
	var lists atomic.Int32
	var broken atomic.Bool
	s, clk := preflightWith(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if review, ok := object.(*authorizationv1.SelfSubjectAccessReview); ok {
				review.Status.Allowed = true
				return nil
			}
			return c.Create(ctx, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists.Add(1)
			if broken.Load() {
				return errors.New("timeout")
			}
			return c.List(ctx, list, options...)
		},
	}, preflightObjects()...)
	s.network = fakeVersion(t, http.StatusOK, start, "v1.25.16")
	reads := func(generation int64) bool {
		before := lists.Load()
		s.Read(t.Context(), Input{Identity: preflightIdentity(), Generation: generation})
		return lists.Load() > before
	}
	g.Expect(reads(1)).To(BeTrue())
	g.Expect(reads(1)).To(BeFalse())
	g.Expect(reads(2)).To(BeTrue(), "the Cluster was changed")
	clk.Step(9 * time.Minute)
	g.Expect(reads(2)).To(BeFalse())
	clk.Step(2 * time.Minute)
	broken.Store(true)
	g.Expect(reads(2)).To(BeTrue(), "it is old")
	clk.Step(20 * time.Second)
	g.Expect(reads(2)).To(BeFalse())
	clk.Step(20 * time.Second)
	g.Expect(reads(2)).To(BeTrue(), "something could not be read")

	broken.Store(false)
	going := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "going", Finalizers: []string{cleanupFinalizer}},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	g.Expect(s.client.Create(t.Context(), going)).To(Succeed())
	g.Expect(s.client.Delete(t.Context(), going)).To(Succeed())
	clk.Step(40 * time.Second)
	g.Expect(reads(2)).To(BeTrue(), "all can be read again")
	clk.Step(40 * time.Second)
	g.Expect(reads(2)).To(BeTrue(), "a Service was being deleted")
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(going), going)).To(Succeed())
	going.Finalizers = nil
	g.Expect(s.client.Update(t.Context(), going)).To(Succeed())
	clk.Step(40 * time.Second)
	g.Expect(reads(2)).To(BeTrue(), "a Service was being deleted")
	clk.Step(40 * time.Second)
	g.Expect(reads(2)).To(BeFalse(), "it is gone")
	s.Forget()
	g.Expect(s.memory.read).To(Equal(preflight.Read{}))
}

func TestPreflightCannotLook(t *testing.T) {
	g := NewWithT(t)
	s, _ := preflightWith(failing(errors.New("timeout")))
	read := s.Read(t.Context(), Input{Identity: preflightIdentity(), Generation: 1})
	for _, unknown := range []bool{
		read.NodeDetails.IsUnknown(), read.Services.IsUnknown(), read.Volumes.IsUnknown(), read.Attachments.IsUnknown(),
		read.StorageClasses.IsUnknown(), read.Pods.IsUnknown(), read.Budgets.IsUnknown(), read.Pools.IsUnknown(),
		read.Webhooks.IsUnknown(), read.Denied.IsUnknown(), read.Server.IsUnknown(),
		s.Cloud(t.Context(), start).IsUnknown(),
	} {
		g.Expect(unknown).To(BeTrue())
	}
	g.Expect(read.Volumes.Why()).To(ContainSubstring("listing PersistentVolumes"))
}

func TestRightsThatAreDenied(t *testing.T) {
	g := NewWithT(t)
	s, _ := preflightWith(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			review, _ := object.(*authorizationv1.SelfSubjectAccessReview)
			review.Status.Allowed = review.Spec.ResourceAttributes.Resource != "roles" || review.Spec.ResourceAttributes.Verb != "delete"
			return nil
		},
	})
	g.Expect(s.denied(t.Context(), preflightIdentity()).Value()).To(
		ConsistOf("delete roles kube-system/ccm-migration:cloud-controller-manager-lease"),
	)
}

// fakeVersion is the way to an API server that says what time and version it has.
func fakeVersion(t *testing.T, status int, now time.Time, version string) *Network {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"gitVersion":"` + version + `"}`))
	}))
	t.Cleanup(server.Close)
	return networkOf(t, server)
}

func TestServerTellsVersionAndTime(t *testing.T) {
	g := NewWithT(t)
	s, _ := preflightWith(interceptor.Funcs{})
	s.network = fakeVersion(t, http.StatusOK, start.Add(time.Hour), "v1.25.16")
	g.Expect(s.server(t.Context()).Value()).To(Equal(preflight.Server{Version: "v1.25.16", Skew: time.Hour + time.Second/2}))
	s.network = fakeVersion(t, http.StatusForbidden, start, "v1.25.16")
	g.Expect(s.server(t.Context()).Why()).To(ContainSubstring("status 403"))
}

func TestTheVersionOfTheServerIsAskedEachTime(t *testing.T) {
	g := NewWithT(t)
	r, _ := readerWith(interceptor.Funcs{})
	g.Expect(r.ServerVersion(t.Context()).IsUnknown()).To(BeTrue(), "there is no connection")
	for _, version := range []string{"v1.29.14", "v1.30.14"} {
		r.network = fakeVersion(t, http.StatusOK, start, version)
		g.Expect(r.ServerVersion(t.Context()).Value()).To(Equal(version))
	}
	r.network = fakeVersion(t, http.StatusForbidden, start, "v1.30.14")
	g.Expect(r.ServerVersion(t.Context()).Why()).To(ContainSubstring("status 403"))
}

func TestCloudComplaints(t *testing.T) {
	g := NewWithT(t)
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(start.Add(-d)) }
	event := func(name, reason string, last metav1.Time) *corev1.Event {
		about := corev1.ObjectReference{Kind: "Service", Namespace: "default", Name: name}
		if reason == routeFailed {
			about = corev1.ObjectReference{Kind: "Node", Name: name}
		}
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name + reason}, Reason: reason, Message: "no", LastTimestamp: last,
			InvolvedObject: about,
		}
	}
	service := func(name string, finalizers ...string) *corev1.Service {
		made := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: finalizers},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
		}
		if len(finalizers) > 0 {
			made.DeletionTimestamp = new(ago(time.Minute))
		}
		return made
	}
	node := func(name string, unavailable corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Status: unavailable}},
		}}
	}
	s, _ := preflightWith(interceptor.Funcs{List: byReason},
		service("bad"), service("fixed"), service("worse"), service("old"), service("leaving", cleanupFinalizer),
		event("leaving", serviceFailed, ago(0)), event("gone", serviceFailed, ago(0)),
		node("n1", corev1.ConditionTrue), node("routed", corev1.ConditionFalse), event("routed", routeFailed, ago(0)),
		event("gone", routeFailed, ago(0)),
		event("bad", serviceFailed, ago(0)), event("fixed", serviceFailed, ago(20*time.Second)),
		event("fixed", serviceEnsured, ago(10*time.Second)),
		event("worse", serviceEnsured, ago(20*time.Second)), event("worse", serviceFailed, ago(10*time.Second)),
		event("old", serviceFailed, ago(time.Hour)), event("n1", routeFailed, ago(0)))
	g.Expect(s.Cloud(t.Context(), start.Add(-time.Minute)).Value()).To(Equal(preflight.Cloud{
		Services: []preflight.Complaint{
			{Object: observation.Ref{Kind: "Service", Namespace: "default", Name: "bad"}, Message: "no"},
			{Object: observation.Ref{Kind: "Service", Namespace: "default", Name: "worse"}, Message: "no"},
		},
		Routes: []preflight.Complaint{{Object: observation.NodeRef("n1"), Message: "no"}},
	}))
}

func TestAComplaintIsCutBetweenCharacters(t *testing.T) {
	message := complaint(observation.Ref{}, corev1.Event{Message: strings.Repeat("x", maxComplaint-1) + "ü"}).Message
	NewWithT(t).Expect(message).To(Equal(strings.Repeat("x", maxComplaint-1)))
}

func TestEveryPageOfEventsIsRead(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	s, _ := preflightWith(interceptor.Funcs{List: func(
		_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) error {
		o := client.ListOptions{}
		o.ApplyOptions(options)
		events, isEvents := list.(*corev1.EventList)
		if reason, _ := o.FieldSelector.RequiresExactMatch("reason"); isEvents && reason == routeFailed {
			asked = append(asked, o.Continue)
			events.Continue = map[string]string{"": "more"}[o.Continue]
		}
		return nil
	}})
	g.Expect(s.Cloud(t.Context(), start).IsKnown()).To(BeTrue())
	g.Expect(asked).To(Equal([]string{"", "more"}))
}

// byReason does what the API server does with the field selector of an event, which the fake one needs an index for.
func byReason(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	events, isEvents := list.(*corev1.EventList)
	if !isEvents || asked.FieldSelector == nil {
		return c.List(ctx, list, options...)
	}
	reason, _ := asked.FieldSelector.RequiresExactMatch("reason")
	if err := c.List(ctx, events); err != nil {
		return err
	}
	kept := events.Items[:0]
	for _, event := range events.Items {
		if event.Reason == reason {
			kept = append(kept, event)
		}
	}
	events.Items = kept
	return nil
}

func TestAServiceShowsThatTheCCMOfOpenStackWasThere(t *testing.T) {
	g := NewWithT(t)
	service := func(name string, annotations map[string]string) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: annotations},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
		}
	}
	s, _ := readerWith(interceptor.Funcs{}, service("marked", map[string]string{loadBalancerID: "1"}), service("other", nil))
	services, known := NewPreflight(Options{Client: s.client}, s).loadBalancers(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(services).To(ConsistOf(
		And(HaveField("Name", "marked"), HaveField("Marked", true)), And(HaveField("Name", "other"), HaveField("Marked", false)),
	))
}
