package start

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// JudgeInputs is for a cluster that was created with the feature: what it refers to is usable, and KCM runs no cloud loop.
func JudgeInputs(in pass.Input) outcome.Outcome {
	findings, unknown := inputFindings(in)
	if kcm := in.ControlPlane.Value().KCM; len(findings) == 0 && len(handover.RunningLoops(kcm)) > 0 {
		return outcome.Fails(ucv1.CloudLoopsRunningReason, loopsRunning(kcm))
	}
	out := judge(findings, unknown, "")
	out.Findings = findings
	return out
}

func loopsRunning(kcm observation.Component) observation.Text {
	provider, _ := kcm.Arguments.Flag("cloud-provider")
	controllers, given := kcm.Arguments.Flag("controllers")
	arguments := "--cloud-provider=" + provider
	if given {
		arguments += " --controllers=" + controllers
	}
	return observation.Say("The Cluster was created with externalCloudProvider, but ", kcm, " runs "+
		wording.Names(handover.RunningLoops(kcm))+
		" ("+arguments+"); set --cloud-provider=external there, no CCM is put beside it until then. If the cluster is in-tree, "+
		"delete the Cluster object, create it without the feature, and switch that on afterwards.")
}

// inputFindings judges what the Cluster refers to: all objections, not the first. Those that could not be looked at
// are returned apart, because they are no objections.
func inputFindings(in pass.Input) (findings []observation.Finding, unknown []string) {
	checks := []func(pass.Input) (finding *observation.Finding, unknown string){
		checkConnection, CheckContenders, CheckProvider, CheckProfile, CheckCloudConfig, CheckReleased, checkControlPlane,
		checkOtherCCM, checkProtocol,
	}
	for _, check := range checks {
		finding, why := check(in)
		if finding != nil {
			findings = append(findings, *finding)
		}
		if why != "" {
			unknown = append(unknown, why)
		}
	}
	objections, why := lockFindings(in)
	if why != "" {
		unknown = append(unknown, why)
	}
	return append(findings, objections...), unknown
}

func checkConnection(in pass.Input) (*observation.Finding, string) {
	c := in.Connection
	if c.Refused {
		return blocking(FindingConnection, c.Reason, c.Text()), ""
	}
	if !c.Reachable {
		return nil, "the user cluster: " + strings.TrimSuffix(c.Message, ".")
	}
	return nil, ""
}

// CheckContenders finds other Clusters that name the same control plane. What could not be looked at comes second.
func CheckContenders(in pass.Input) (*observation.Finding, string) {
	if names, known := in.Contenders.Get(); known {
		what := observation.Say(components.KCMReference(in), " is also named by ")
		if in.Cluster.Spec.ControlPlane.Static() {
			what = observation.Say("The kubeconfig Secret is also named by ")
		}
		return blocking(FindingContenders, ucv1.InputInvalidReason, what, clustersOf(names), "; leave it in one of them."), ""
	}
	if in.Contenders.IsUnknown() {
		return nil, "the other Clusters: " + in.Contenders.Why()
	}
	return nil, ""
}

// clustersOf names Clusters that are known as namespace/name.
func clustersOf(names []string) observation.Text {
	text := observation.Say("Cluster " + wording.Names(names))
	for _, cluster := range slices.Sorted(slices.Values(names)) {
		namespace, name, _ := strings.Cut(cluster, "/")
		text = text.About(observation.Ref{Kind: "Cluster", Namespace: namespace, Name: name})
	}
	return text
}

// CheckProvider finds a provider that is unknown, or that cannot be migrated at this version.
func CheckProvider(in pass.Input) (*observation.Finding, string) {
	provider, known := in.Provider.Get()
	name := in.Cluster.Spec.Cloud.ProviderName
	switch {
	case in.Provider.IsAbsent():
		return blocking(FindingProvider, ucv1.NotSupportedReason, UnknownProvider(in)), ""
	case !known:
		return nil, "the catalogue: " + in.Provider.Why()
	case in.Facts.Origin == ucv1.OriginMigrating && provider.MigrationProblem != "":
		return blocking(FindingProvider, ucv1.NotSupportedReason, provider.MigrationProblem), ""
	case provider.VersionProblem != "":
		return blocking(FindingProvider, ucv1.NotSupportedReason, provider.VersionProblem), ""
	case in.Facts.Origin == ucv1.OriginMigrating && !provider.CanMigrate:
		return blocking(FindingProvider, ucv1.NotSupportedReason, "Provider "+name+" never was in-tree; there is nothing to migrate "+
			"from."), ""
	}
	return nil, ""
}

// UnknownProvider says what is left to do: the name is immutable, and a Cluster that something was made for cannot just be
// deleted.
func UnknownProvider(in pass.Input) string {
	if in.Facts.Inherited != nil {
		return in.UnknownProvider + " An earlier version of the controller had it: go back to that version."
	}
	return in.UnknownProvider +
		" The name is immutable, and nothing was changed yet: delete the Cluster and create it with the right name."
}

// CheckProfile finds a profile that cannot be used: nothing is applied of it, and nothing without it either, for it says where
// the images are. Whether it could be looked at is asked with the provider.
func CheckProfile(in pass.Input) (*observation.Finding, string) {
	if problem := in.Provider.Value().ProfileProblem; problem != "" {
		return blocking(FindingProfile, ucv1.InputInvalidReason, problem), ""
	}
	return nil, ""
}

// CheckCloudConfig finds a Secret with the cloud configuration that is missing or cannot be used.
func CheckCloudConfig(in pass.Input) (*observation.Finding, string) {
	config, known := in.CloudConfig.Get()
	secret := observation.Ref{Kind: "Secret", Namespace: in.Cluster.Namespace, Name: in.Cluster.Spec.Cloud.ConfigSecretRef.Name}
	switch {
	case in.CloudConfig.IsAbsent():
		return blocking(
			FindingCloudConfig,
			ucv1.InputInvalidReason,
			secret, " with the cloud configuration does not exist; create it.",
		), ""
	case in.CloudConfig.NotTried() && !in.Connection.Reachable:
		return nil, "" // The connection says it.
	case !known:
		return nil, secret.String() + ": " + in.CloudConfig.Why()
	case config.Problem != "":
		return blocking(FindingCloudConfig, ucv1.InputInvalidReason, secret, ": "+config.Problem), ""
	}
	return nil, ""
}

// CheckReleased is for a migration that runs, or is to start: it cannot leave the CCM to another tool.
func CheckReleased(in pass.Input) (*observation.Finding, string) {
	if in.Cluster.AddonsReleased() {
		return blocking(FindingAddonsReleased, ucv1.AddonsReleasedReason, "spec.addons.management is Released, so the CCM and the "+
			"CSI driver are not applied;"+
			" set it to Managed until status.step is Finished."), ""
	}
	return nil, ""
}

func checkControlPlane(in pass.Input) (*observation.Finding, string) {
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case in.ControlPlane.IsAbsent():
		return blocking(FindingControlPlane, ucv1.InputInvalidReason, components.KCMMissing(in)), ""
	case in.ControlPlane.NotTried() && !in.Connection.Reachable:
		return nil, "" // The connection says it.
	case !known:
		return nil, "the control plane: " + in.ControlPlane.Why()
	}
	if problem := argumentProblem(controlPlane); problem.Words != "" {
		return blocking(FindingControlPlane, ucv1.InputInvalidReason, problem), ""
	}
	if problem := components.StaticProblem(in, controlPlane.KCM); problem.Words != "" {
		return blocking(FindingControlPlane, ucv1.InputInvalidReason, problem), ""
	}
	if unseen := controlPlane.KCM.Unseen; len(unseen) > 0 {
		return nil, "every static pod of " + controlPlane.KCM.Name + ": " + observation.Join(unseen, " ").Without(".").Words
	}
	if problem := processProblem(controlPlane.KCM); problem.Words != "" {
		return blocking(FindingControlPlane, ucv1.InputInvalidReason, problem), ""
	}
	if in.Facts.Origin == ucv1.OriginMigrating && components.LoopsOffInTree(controlPlane.KCM.Arguments) {
		return blocking(FindingLoopsOff, ucv1.LoopsOffAlreadyReason, components.LoopsOffAlready(controlPlane.KCM)), ""
	}
	return checkKCMArguments(in, controlPlane.KCM), ""
}

// checkOtherCCM finds a CCM that our fence does not bind: by what it is, and, wherever it runs, by what it does: it leads.
func checkOtherCCM(in pass.Input) (*observation.Finding, string) {
	others, unseen := checkOtherManagers(in)
	lease, unknown := checkCCMLease(in)
	if others != nil && lease != nil {
		// It is most likely the same one: one finding.
		held := in.CCMLease.Value()
		both := others.Text().Also(held, " is held by "+held.Holder)
		others.Message, others.Named = both.Words, both.Objects
	}
	if others == nil {
		others = lease
	}
	if unseen != "" && unknown != "" {
		unseen += "; "
	}
	return others, unseen + unknown
}

func checkCCMLease(in pass.Input) (*observation.Finding, string) {
	if !in.Connection.Reachable || in.CCMLease.IsAbsent() {
		return nil, ""
	}
	lease, known := in.CCMLease.Get()
	if !known {
		return nil, "the CCM's Lease: " + in.CCMLease.Why()
	}
	if lease.Holder == "" || lease.Stale(in.Now) || len(handover.RunningLoops(in.ControlPlane.Value().KCM)) == 0 {
		return nil, ""
	}
	return blocking(FindingOtherCCM, ucv1.ForeignObjectsReason, lease, " is held by "+lease.Holder+
		": another CCM runs beside KCM already. Stop it, and wait until the Lease has run out."), ""
}

// processProblem finds pods that would make the proof impossible once KCM is changed.
func processProblem(kcm observation.Component) observation.Text {
	var finished []observation.Ref
	running := 0
	for _, process := range kcm.Pods {
		switch {
		case process.Finished && !process.Ended:
			finished = append(finished, observation.Ref{Kind: "Pod", Namespace: kcm.Namespace, Name: process.PodName})
		case !process.Ended && handover.MayRunLoops(process):
			running++
		}
	}
	switch {
	case len(finished) > 0:
		return observation.Say("No one saw the processes of these finished pods end: ", observation.Names(finished),
			". Make sure that they have, and delete the pods.")
	case running > handover.MaxProcesses:
		return observation.Say(kcm, " has ", running, " pods; at most ", handover.MaxProcesses, " can be proven to have ended.")
	}
	return observation.Text{}
}

// argumentProblem finds the first command line that is not understood: in a template, or in a pod that still runs.
func argumentProblem(controlPlane observation.ControlPlane) observation.Text {
	for _, component := range append([]observation.Component{controlPlane.KCM}, controlPlane.Others...) {
		if !component.Arguments.Understood() {
			return observation.Say(component, ": "+component.Arguments.Problem, ".")
		}
		for _, process := range component.Pods {
			if !process.Ended && !process.Arguments.Understood() {
				pod := observation.Ref{Kind: "Pod", Namespace: component.Namespace, Name: process.PodName}
				return observation.Say(pod, ": "+process.Arguments.Problem, ".")
			}
		}
	}
	return observation.Text{}
}

func checkKCMArguments(in pass.Input, kcm observation.Component) *observation.Finding {
	provider := in.Provider.Value()
	inTree, _ := kcm.Arguments.Flag("cloud-provider")
	loops := kcm.Arguments.CloudLoops()
	if len(loops) > 0 && provider.InTreeName != "" && inTree != provider.InTreeName {
		return blocking(
			FindingProviderDiffers,
			ucv1.InputInvalidReason,
			kcm, " runs --cloud-provider="+inTree+", but spec.cloud.providerName is "+
				in.Cluster.Spec.Cloud.ProviderName+", which is immutable; nothing was changed yet, so delete the Cluster and create it "+
				"with the right provider.",
		)
	}
	used, wanted := components.KCMClusterName(kcm.Arguments), components.CCMClusterName(in.Cluster, kcm.Arguments)
	if len(loops) > 0 && wanted != used && !provider.FreesClusterName {
		return blocking(
			FindingClusterName,
			ucv1.InputInvalidReason,
			"spec.cloud.clusterName is "+wanted+", but ", kcm, " uses "+used+
				": every load balancer would be made again. The field is immutable; nothing was changed yet, so delete the Cluster and "+
				"create it without the field.",
		)
	}
	return nil
}

// judge turns findings into an outcome: an objection outweighs what could not be looked at.
func judge(findings []observation.Finding, unknown []string, held string) outcome.Outcome {
	switch {
	case len(findings) == 1:
		return outcome.Fails(findings[0].Reason, TextOf(findings[0]))
	case len(findings) > 1:
		observation.SortFindings(findings)
		reason := reasonOf(findings)
		first := max(0, slices.IndexFunc(findings, func(finding observation.Finding) bool { return finding.Reason == reason }))
		others := slices.Delete(observation.FindingIDs(findings), first, first+1)
		return outcome.Fails(reason, TextOf(findings[first]).Also(
			wording.Count(len(others), "more finding", "more findings")+": "+wording.Names(others)))
	case len(unknown) > 0:
		slices.Sort(unknown)
		out := outcome.Waits(ucv1.CouldNotLookReason, "Could not look at "+strings.Join(slices.Compact(unknown), "; ")+".")
		out.Wait.Unknown = true
		return out
	}
	return outcome.Holds(ucv1.HoldsReason, held)
}

// reasonOf several findings is that of the only one about what the Cluster refers to, which is most likely why there are others.
func reasonOf(findings []observation.Finding) string {
	reason := ucv1.PreflightFailedReason
	for _, finding := range findings {
		switch {
		case finding.Reason == ucv1.PreflightFailedReason:
		case reason != ucv1.PreflightFailedReason:
			return ucv1.PreflightFailedReason
		default:
			reason = finding.Reason
		}
	}
	return reason
}
