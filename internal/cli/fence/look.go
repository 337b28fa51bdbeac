package fence

import (
	"context"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
)

// pollInterval is how often a command looks again for what it waits for.
const pollInterval = 250 * time.Millisecond

// fenceReport is what fence status prints.
type fenceReport struct {
	Cluster  string `json:"cluster"`
	Paused   bool   `json:"paused"`
	Identity string `json:"identity"`
	Lease    string `json:"lease"`
	// SilenceProvenAt is status.handover.fenceOpenedAt; Doubt is why that is not, or no longer, enough to open.
	SilenceProvenAt *metav1.Time  `json:"silenceProvenAt,omitempty"`
	Doubt           string        `json:"doubt,omitempty"`
	Fence           string        `json:"fence"`
	Objects         []fenceObject `json:"objects,omitempty"`
	Access          []access      `json:"access,omitempty"`
	CCMLease        leaseReport   `json:"ccmLease"`
	KCMLease        leaseReport   `json:"kcmLease"`
	Deployments     []deployment  `json:"deployments"`
	// Problems are what could not be looked at.
	Problems []string `json:"problems,omitempty"`
	Meaning  string   `json:"meaning"`
}

// The states of the fence. Without both of our objects and all verbs it is neither open nor closed.
const (
	fenceOpen    = "Open"
	fenceClosed  = "Closed"
	fenceNotSo   = "Ineffective"
	fenceUnknown = "Unknown"
)

// fenceObject is our Role or RoleBinding.
type fenceObject struct {
	Object string `json:"object"`
	There  bool   `json:"there"`
}

// access is the answer to one SubjectAccessReview.
type access struct {
	Verb    string `json:"verb"`
	Allowed bool   `json:"allowed"`
}

// leaseReport is a Lease of leader election. Renewed says that we saw it being renewed; LastRenewed is its own time.
type leaseReport struct {
	Lease       string            `json:"lease"`
	Exists      *bool             `json:"exists,omitempty"`
	Holder      string            `json:"holder,omitempty"`
	Renewed     bool              `json:"renewed"`
	LastRenewed *metav1.MicroTime `json:"lastRenewed,omitempty"`
}

// deployment is one that runs with the CCM's ServiceAccount.
type deployment struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Ready     int32  `json:"readyReplicas"`
	Replicas  int32  `json:"replicas"`
}

// look fills the report from the user cluster. What cannot be looked at is a problem in the report.
func (f *fenceTarget) look(ctx context.Context, lookFor time.Duration) *fenceReport {
	since, _ := silentSince(f.cluster)
	report := &fenceReport{
		Cluster: client.ObjectKeyFromObject(f.cluster).String(), Paused: f.cluster.Spec.Paused, Doubt: silenceDoubt(f.cluster),
		SilenceProvenAt: since, Deployments: []deployment{},
	}
	report.addFence(f.session.Leases.Fence(ctx, f.identity), f.identity)
	f.lookAtObjects(ctx, report)
	f.lookAtLeases(ctx, report, lookFor)
	f.lookAtDeployments(ctx, report)
	report.Meaning = report.meaning()
	return report
}

func (r *fenceReport) addFence(observed observation.Observed[observation.Fence], id manifest.Identity) {
	r.Identity = leases.UserName(id)
	r.Lease = id.LeaseNamespace + "/" + id.LeaseName
	fence, known := observed.Get()
	if !known {
		r.Fence = fenceUnknown
		r.Problems = append(r.Problems, observed.Why())
		return
	}
	r.Fence = fenceState(fence)
	allowed := map[string]bool{}
	for _, verb := range fence.Allowed {
		allowed[verb] = true
	}
	for _, verb := range leases.LeaseVerbs() {
		r.Access = append(r.Access, access{verb, allowed[verb]})
	}
}

func fenceState(fence observation.Fence) string {
	switch {
	case len(fence.Allowed) == 0 && !fence.Open:
		return fenceClosed
	case fence.Open && len(fence.Allowed) == len(leases.LeaseVerbs()):
		return fenceOpen
	}
	return fenceNotSo
}

func (f *fenceTarget) lookAtObjects(ctx context.Context, report *fenceReport) {
	for _, object := range render.FenceObjects(f.identity) {
		name := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		err := f.session.Client().Get(ctx, client.ObjectKeyFromObject(object), object)
		if client.IgnoreNotFound(err) != nil {
			report.Problems = append(report.Problems, "reading "+name+": "+err.Error())
			continue
		}
		report.Objects = append(report.Objects, fenceObject{name, err == nil})
	}
}

// lookAtLeases looks until both Leases were seen being renewed, or that long: their own times come from clocks that
// no one vouches for.
func (f *fenceTarget) lookAtLeases(ctx context.Context, report *fenceReport, lookFor time.Duration) {
	namespace, name := f.kcm.LeaderLease()
	var ccm, kcm observation.Observed[observation.Lease]
	// The reads are not bounded by the poll's own end: one that it cuts short would say that nothing is known.
	_ = wait.PollUntilContextTimeout(ctx, pollInterval, lookFor, true, func(context.Context) (bool, error) {
		ccm = f.session.Leases.Lease(ctx, f.identity.LeaseNamespace, f.identity.LeaseName)
		kcm = f.session.Leases.Lease(ctx, namespace, name)
		return nothingToWaitFor(ccm) && nothingToWaitFor(kcm), nil
	})
	report.CCMLease = report.lease(f.identity.LeaseNamespace+"/"+f.identity.LeaseName, ccm)
	report.KCMLease = report.lease(namespace+"/"+name, kcm)
	if f.kcmProblem != "" {
		report.Problems = append(report.Problems, f.kcmProblem)
	}
}

func nothingToWaitFor(observed observation.Observed[observation.Lease]) bool {
	lease, known := observed.Get()
	return !known || lease.Holder == "" || renewed(lease)
}

func renewed(lease observation.Lease) bool { return lease.ChangedAt.After(lease.WatchedAt) }

func (r *fenceReport) lease(name string, observed observation.Observed[observation.Lease]) leaseReport {
	if observed.IsUnknown() {
		r.Problems = append(r.Problems, observed.Why())
		return leaseReport{Lease: name}
	}
	lease, exists := observed.Get()
	report := leaseReport{Lease: name, Exists: &exists, Holder: lease.Holder, Renewed: lease.Holder != "" && renewed(lease)}
	if !lease.RenewTime.IsZero() {
		report.LastRenewed = new(metav1.NewMicroTime(lease.RenewTime))
	}
	return report
}

// lookAtDeployments finds the CCM by its ServiceAccount, whoever applied it, or by our label beside the control plane.
func (f *fenceTarget) lookAtDeployments(ctx context.Context, report *fenceReport) {
	reader, namespace := client.Reader(f.session.Client()), f.identity.ServiceAccountNamespace
	isCCM := func(found *appsv1.Deployment) bool {
		return found.Spec.Template.Spec.ServiceAccountName == f.identity.ServiceAccountName
	}
	if f.cluster.CCMInControlPlane() {
		label := render.Place{Cluster: f.cluster.Name}.Label()
		reader, namespace = f.management, f.cluster.Namespace
		isCCM = func(found *appsv1.Deployment) bool {
			return found.Labels[manifest.ClusterLabel] == label &&
				!strings.HasSuffix(found.Labels[manifest.PartOfLabel], render.ProbeSuffix)
		}
	}
	list := &appsv1.DeploymentList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		report.Problems = append(report.Problems, "listing Deployments in "+namespace+": "+err.Error())
		return
	}
	for _, item := range list.Items {
		if !isCCM(&item) {
			continue
		}
		found := deployment{Name: item.Namespace + "/" + item.Name, Ready: item.Status.ReadyReplicas, Replicas: item.Status.Replicas}
		for _, condition := range item.Status.Conditions {
			if condition.Type == appsv1.DeploymentAvailable {
				found.Available = condition.Status == corev1.ConditionTrue
			}
		}
		report.Deployments = append(report.Deployments, found)
	}
}
