package simulation

import (
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Unmentioned is a component beside KCM that the spec says nothing about.
const Unmentioned ucv1.ComponentOwnership = "Unmentioned"

// IsBeside says that a Deployment is another of the control plane than KCM.
func IsBeside(d *Workload) bool { return strings.HasPrefix(d.Name, "kube-") && d.Name != KCMName }

// Ownership of a component beside KCM. What was observed of a real cluster is there only if it is ours.
func (cp *ControlPlane) Ownership(name string) ucv1.ComponentOwnership {
	spec := map[string]*ucv1.ControlPlaneComponent{
		"kube-apiserver": cp.w.Cluster.Spec.ControlPlane.KubeAPIServer, "kube-scheduler": cp.w.Cluster.Spec.ControlPlane.KubeScheduler,
	}[name]
	switch {
	case cp.w.real != nil || spec != nil && spec.Ownership != ucv1.ForeignComponent:
		return ucv1.OursComponent
	case spec != nil:
		return ucv1.ForeignComponent
	}
	return Unmentioned
}

// observeBeside is what a reader of Deployments sees beside KCM. What is not ours in a real cluster keeps its arguments, and its
// pods get those of their template.
func (cp *ControlPlane) observeBeside(controlPlane *observation.ControlPlane) {
	if cp.w.real != nil {
		seen := cp.w.real.Observation.ControlPlane.Value()
		controlPlane.NotSeen = seen.NotSeen
		for _, neighbor := range seen.Neighbors {
			if neighbor.Program != observation.APIServerProgram {
				neighbor.Pods = nil
			}
			controlPlane.Neighbors = append(controlPlane.Neighbors, neighbor)
		}
	}
	controlPlane.Neighbors = append(controlPlane.Neighbors, cp.w.APIServers.observe()...)
	for _, d := range cp.Workloads {
		if !IsBeside(d) {
			continue
		}
		ownership := cp.Ownership(d.Name)
		if ownership == ucv1.OursComponent {
			controlPlane.Others = append(controlPlane.Others, cp.observe(d))
			continue
		}
		controlPlane.Neighbors = append(controlPlane.Neighbors, observation.Neighbor{
			Component: cp.observe(d), Field: "spec.controlPlane", Foreign: ownership == ucv1.ForeignComponent,
		})
	}
}
