package facts

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// nodeIPAnnotation is what a kubelet with --node-ip and any cloud provider writes:
	// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/nodestatus/setters.go#L95
	nodeIPAnnotation = "alpha.kubernetes.io/provided-node-ip"
	// cleanupFinalizer keeps a Service until its load balancer is deleted:
	// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/service/helpers/helper.go
	cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	// loadBalancerID is what the CCM of OpenStack writes when it has ensured a load balancer:
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/loadbalancer.go#L2082
	loadBalancerID = "loadbalancer.openstack.org/load-balancer-id"
)

// NodeDetails are what preflight asks of Nodes beside what each pass reads.
func (p *Preflight) NodeDetails(ctx context.Context) observation.Observed[[]preflight.NodeDetail] {
	details := []preflight.NodeDetail{}
	err := reads.Pages(ctx, p.client, "Nodes", func() *corev1.NodeList { return &corev1.NodeList{} }, func(list *corev1.NodeList) {
		for i := range list.Items {
			details = append(details, reads.Keep(ctx, toNodeDetail(&list.Items[i])))
		}
	})
	if err != nil {
		return observation.Unknown[[]preflight.NodeDetail](err.Error())
	}
	return observation.Known(details)
}

func toNodeDetail(node *corev1.Node) preflight.NodeDetail {
	detail := preflight.NodeDetail{
		Name: node.Name, Labels: node.Labels, PodCIDRs: node.Spec.PodCIDRs, KubeletVersion: node.Status.NodeInfo.KubeletVersion,
		NodeIP: node.Annotations[nodeIPAnnotation],
		NetworkUnavailable: slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeNetworkUnavailable && c.Status == corev1.ConditionTrue
		}),
	}
	if len(detail.PodCIDRs) == 0 && node.Spec.PodCIDR != "" {
		detail.PodCIDRs = []string{node.Spec.PodCIDR}
	}
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, labelled := node.Labels[label]; labelled {
			detail.ControlPlane = true
		}
	}
	for _, volume := range node.Status.VolumesAttached {
		if name := string(volume.Name); strings.HasPrefix(name, "kubernetes.io/") && !strings.HasPrefix(name, "kubernetes.io/csi/") {
			detail.Attached = append(detail.Attached, name)
		}
	}
	return detail
}

func (p *Preflight) loadBalancers(ctx context.Context) observation.Observed[[]preflight.Service] {
	services := []preflight.Service{}
	err := reads.Pages(
		ctx,
		p.client,
		"Services",
		func() *corev1.ServiceList { return &corev1.ServiceList{} },
		func(list *corev1.ServiceList) {
			for i := range list.Items {
				service := &list.Items[i]
				if service.Spec.Type != corev1.ServiceTypeLoadBalancer && !slices.Contains(service.Finalizers, cleanupFinalizer) {
					continue
				}
				services = append(services, reads.Keep(ctx, preflight.Service{
					Namespace: service.Namespace,
					Name:      service.Name,
					Class:     ptr.Deref(service.Spec.LoadBalancerClass, ""),
					Ingress:   toLoadBalancer(service).Ingress,
					Marked:    service.Annotations[loadBalancerID] != "",
					Deleting:  service.DeletionTimestamp != nil,
					CreatedAt: service.CreationTimestamp.Time,
				}))
			}
		},
	)
	if err != nil {
		return observation.Unknown[[]preflight.Service](err.Error())
	}
	return observation.Known(services)
}

func (p *Preflight) volumes(ctx context.Context) observation.Observed[[]preflight.Volume] {
	volumes := []preflight.Volume{}
	empty := func() *corev1.PersistentVolumeList { return &corev1.PersistentVolumeList{} }
	err := reads.Pages(ctx, p.client, "PersistentVolumes", empty, func(list *corev1.PersistentVolumeList) {
		for i := range list.Items {
			volume := &list.Items[i]
			volumes = append(volumes, reads.Keep(ctx, preflight.Volume{
				Name: volume.Name, Phase: string(volume.Status.Phase), Plugin: inTreePlugin(&volume.Spec.PersistentVolumeSource),
				Untranslatable: !translatable(volume), Terms: termsOf(volume.Spec.NodeAffinity),
			}))
		}
	})
	if err != nil {
		return observation.Unknown[[]preflight.Volume](err.Error())
	}
	return observation.Known(volumes)
}

// termsOf leaves requirements out that are no list of values: a term then matches more Nodes than it does, and nothing is
// objected to without need.
func termsOf(affinity *corev1.VolumeNodeAffinity) []preflight.Term {
	if affinity == nil || affinity.Required == nil {
		return nil
	}
	var terms []preflight.Term
	for _, selector := range affinity.Required.NodeSelectorTerms {
		term := preflight.Term{}
		for _, requirement := range selector.MatchExpressions {
			if requirement.Operator == corev1.NodeSelectorOpIn {
				term[requirement.Key] = requirement.Values
			}
		}
		terms = append(terms, term)
	}
	return terms
}

func (p *Preflight) attachmentProblems(ctx context.Context) observation.Observed[[]preflight.Attachment] {
	attachments := []preflight.Attachment{}
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := reads.Pages(ctx, p.client, "VolumeAttachments", empty, func(list *storagev1.VolumeAttachmentList) {
		for i := range list.Items {
			item := &list.Items[i]
			attachment := preflight.Attachment{
				Name: item.Name, Attacher: item.Spec.Attacher, Node: item.Spec.NodeName, Deleting: item.DeletionTimestamp != nil,
			}
			for _, problem := range []*storagev1.VolumeError{item.Status.AttachError, item.Status.DetachError} {
				if problem != nil {
					attachment.Problem = problem.Message
				}
			}
			attachments = append(attachments, reads.Keep(ctx, attachment))
		}
	})
	if err != nil {
		return observation.Unknown[[]preflight.Attachment](err.Error())
	}
	return observation.Known(attachments)
}

func (p *Preflight) budgets(ctx context.Context) observation.Observed[[]preflight.Budget] {
	budgets := []preflight.Budget{}
	empty := func() *policyv1.PodDisruptionBudgetList { return &policyv1.PodDisruptionBudgetList{} }
	err := reads.Pages(ctx, p.client, "PodDisruptionBudgets", empty, func(list *policyv1.PodDisruptionBudgetList) {
		for i := range list.Items {
			item := &list.Items[i]
			budgets = append(budgets, reads.Keep(ctx, preflight.Budget{
				Namespace: item.Namespace, Name: item.Name, Expected: item.Status.ExpectedPods, Healthy: item.Status.CurrentHealthy,
				Allowed: item.Status.DisruptionsAllowed, Stale: item.Status.ObservedGeneration < item.Generation,
			}))
		}
	})
	if err != nil {
		return observation.Unknown[[]preflight.Budget](err.Error())
	}
	return observation.Known(budgets)
}
