package noreturn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Judge says in every pass of a started migration whether it can still be rolled back, and since when it cannot.
// What a person takes away again makes the rollback possible again; what could not be looked at changes nothing. Nil: there is
// nothing to judge.
func Judge(in pass.Input) (status *ucv1.PointOfNoReturnStatus, at *metav1.Time) {
	at = in.Facts.PointOfNoReturnAt
	if in.Facts.Origin != ucv1.OriginMigrating || in.Facts.Handover == nil || in.Facts.Rollback != nil {
		return nil, at
	}
	passed, unknown := Passed(in)
	switch {
	case len(passed) > 0:
		if at == nil {
			at = in.Stamp()
		}
		return &ucv1.PointOfNoReturnStatus{State: ucv1.PointOfNoReturnPassed, Reason: observation.Join(passed, " ").Words}, at
	case len(unknown) > 0:
		why := "Could not look at " + strings.Join(unknown, "; ") + "."
		return &ucv1.PointOfNoReturnStatus{State: ucv1.PointOfNoReturnUnknown, Reason: why, Next: passesNext(in)}, at
	}
	return &ucv1.PointOfNoReturnStatus{State: ucv1.PointOfNoReturnAhead, Next: passesNext(in)}, nil
}

// passesNext says what would pass it: the controller itself at the end only, other people at any time.
func passesNext(in pass.Input) string {
	next := "The controller passes it at step Complete. Earlier, these pass it: a volume that the CSI driver makes"
	if last := in.Provider.Value().LastInTreeMinor; handover.AcrossMinors(in.Cluster) && in.KCMMinor() == last {
		next += fmt.Sprintf(", a kube-apiserver of 1.%d", last+1)
	}
	if !in.Provider.Value().SharesLoadBalancerNames {
		next += ", a load balancer of another Service"
	}
	return next + ", a Machine without MachineDeployment that joins with an external cloud provider."
}

// Passed names what a rollback could not take back, whoever made it, and what could not be looked at.
func Passed(in pass.Input) (passed []observation.Text, unknown []string) {
	if completed := in.Facts.CompletedAt; completed != nil {
		return []observation.Text{observation.Say("The migration was completed at " + completed.UTC().Format(time.RFC3339) + ".")}, nil
	}
	for _, check := range []func(pass.Input) (passed observation.Text, unknown string){
		passedByVersion, passedByControlPlane, passedByMachines, passedByLoadBalancers, passedByVolumes,
	} {
		what, why := check(in)
		if what.Words != "" {
			passed = append(passed, what)
		}
		if why != "" && !slices.Contains(unknown, why) {
			unknown = append(unknown, why)
		}
	}
	return passed, unknown
}

func passedByVersion(in pass.Input) (passed observation.Text, unknown string) {
	provider, known := in.Provider.Get()
	switch {
	case !known:
		return passed, "the catalogue: " + in.Provider.Why()
	case in.Minor() > provider.LastInTreeMinor:
		return observation.Say("Kubernetes 1.", provider.LastInTreeMinor, " is the last with in-tree provider "+provider.InTreeName+
			", and spec.version is "+in.Cluster.Spec.Version+"."), ""
	}
	return passedByUpgrade(in, provider)
}

// passedByUpgrade: a kube-apiserver does not go back, and no migration starts again in a minor without the in-tree provider.
func passedByUpgrade(in pass.Input, provider observation.Provider) (passed observation.Text, unknown string) {
	version, known := in.ServerVersion.Get()
	switch {
	case handover.UpgradeMinor(in.Facts) <= provider.LastInTreeMinor || in.Facts.Handover.WorkloadAllowedAt != nil:
		return passed, ""
	case !known:
		return passed, "the API server's version: " + in.ServerVersion.Why()
	case observation.MinorOf(version) > provider.LastInTreeMinor:
		return observation.Say("Kubernetes 1.", provider.LastInTreeMinor, " is the last with in-tree provider "+provider.InTreeName+
			", and an API server answers that it is "+version+"."), ""
	}
	return passed, ""
}

// passedByControlPlane: without its flag KCM has no in-tree provider, whatever --controllers says, and unregistered
// plugins serve no volume (https://github.com/kubernetes/enhancements/tree/master/keps/sig-storage/625-csi-migration).
func passedByControlPlane(in pass.Input) (passed observation.Text, unknown string) {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return passed, "the control plane: " + in.ControlPlane.Why()
	}
	if name := in.Provider.Value().InTreeName; name != "" {
		if has, _ := controlPlane.KCM.Arguments.Flag("cloud-provider"); has != name {
			return observation.Say(controlPlane.KCM, " does not run in-tree provider "+name+" any more."), ""
		}
	}
	for _, component := range append(slices.Clone(controlPlane.Others), controlPlane.KCM) {
		if !component.Arguments.Understood() {
			return passed, component.String() + ": " + component.Arguments.Problem
		}
		gate := unregistered(component.Arguments)
		if gate != "" && !strings.Contains(components.OriginalGates(in.Facts, component.Name), gate) {
			return observation.Say(component, " has "+gate+": its in-tree volume plugins are unregistered."), ""
		}
	}
	return passed, ""
}

// unregistered is the first gate that takes an in-tree volume plugin out, such as InTreePluginOpenStackUnregister.
func unregistered(arguments observation.Arguments) string {
	for pair := range strings.SplitSeq(arguments.Flags["feature-gates"], ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.HasPrefix(name, "InTreePlugin") && strings.HasSuffix(name, "Unregister") && strings.EqualFold(value, "true") {
			return name
		}
	}
	return ""
}

// passedByMachines: a MachineDeployment can be rolled back, a Machine without one can be replaced by no one.
func passedByMachines(in pass.Input) (passed observation.Text, unknown string) {
	if in.Machines.IsUnknown() {
		return passed, "the Machines: " + in.Machines.Why()
	}
	machines := rollout.Irreplaceable(in.Rolls())
	if len(machines) == 0 {
		return passed, ""
	}
	return observation.Say("No MachineDeployment can replace these external Machines: ", observation.Names(machines), "."), ""
}

// passedByLoadBalancers: the in-tree provider would make a second load balancer where it does not find the CCM's by its
// own name. The API objects do not say who made a load balancer, so every Service that is not in the baseline counts.
func passedByLoadBalancers(in pass.Input) (passed observation.Text, unknown string) {
	before, now, known, why := pass.Inventories(in)
	if !known {
		return passed, why
	}
	if in.Provider.Value().SharesLoadBalancerNames && clusterNameKept(in) {
		return passed, ""
	}
	var named []observation.Ref
	for _, balancer := range now.LoadBalancers {
		if ofCanary(balancer.Namespace + "/" + balancer.Name) {
			continue
		}
		at := slices.IndexFunc(before.LoadBalancers, func(b observation.LoadBalancer) bool { return b.UID == balancer.UID })
		if at < 0 || (len(before.LoadBalancers[at].Ingress) == 0 && len(balancer.Ingress) > 0) {
			named = append(named, balancer.Reference())
		}
	}
	if len(named) == 0 {
		return passed, ""
	}
	return observation.Say("The in-tree provider does not find the load balancers of these by its own names: ",
		observation.Names(named), "."), ""
}

// ofCanary says that a Service, or the claim of a volume, is ours: it goes before a rollback ends, and nothing rests on it.
func ofCanary(name string) bool { return name == ucv1.CanaryNamespace+"/"+ucv1.CanaryName }

// clusterNameKept: both sides name load balancers after the cluster, so it has to be the name that the CCM was given.
func clusterNameKept(in pass.Input) bool {
	controlPlane, known := in.ControlPlane.Get()
	return known && in.Facts.Inherited != nil &&
		components.KCMClusterName(controlPlane.KCM.Arguments) == in.Facts.Inherited.ClusterName
}

// passedByVolumes: a volume of the driver that was made since. A driver that is someone else's stays whatever we do, and
// so do its volumes.
func passedByVolumes(in pass.Input) (passed observation.Text, unknown string) {
	before, now, known, why := pass.Inventories(in)
	if !known {
		return passed, why
	}
	var named []observation.Ref
	for _, volume := range now.Volumes {
		made := !slices.ContainsFunc(before.Volumes, func(b observation.Volume) bool { return b.UID == volume.UID })
		if made && !ofCanary(volume.Claim) && slices.Contains(in.Provider.Value().CSIDrivers, volume.Driver) {
			named = append(named, volume.Reference())
		}
	}
	if len(named) == 0 {
		return passed, ""
	}
	addons, known := in.Addons.Get()
	switch {
	case !known:
		return passed, "the addons in the user cluster: " + in.Addons.Why()
	case addons.CSI.SatisfiedBy != "":
		return passed, ""
	}
	return observation.Say("Only the CSI driver can serve these: ", observation.Names(named), "."), ""
}

// Before is where a person may want to look before the controller goes on.
func Before(in pass.Input) outcome.Outcome {
	if in.Facts.PointOfNoReturnAt == nil && in.Cluster.Directed(ucv1.DirectiveHoldRoll) {
		return outcome.Waits(ucv1.HeldByFleetReason, "Everything is proven. FleetMigration "+in.Cluster.Status.Admission.FleetMigration+
			" holds the roll, so that the point of no return is not passed.")
	}
	if !in.Cluster.Spec.Handover.PauseBeforePointOfNoReturn || in.Facts.PointOfNoReturnAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return outcome.Waits(ucv1.WaitingBeforePointOfNoReturnReason, "Everything is proven, and the migration can still be rolled "+
		"back "+
		"(spec.handover.rollback). "+
		"It is completed when spec.handover.pauseBeforePointOfNoReturn is false.")
}
