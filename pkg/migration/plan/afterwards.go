package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// afterwards compares the world of the end with that of the beginning.
func afterwards(in Input, plan Plan, future simulation.Future, is situation) []Difference {
	list := []Difference{}
	for _, after := range future.After.Components {
		at := slices.IndexFunc(
			future.Before.Components,
			func(c observation.Component) bool { return c.Ref == after.Ref && c.Container == after.Container },
		)
		if at >= 0 {
			list = append(list, flags(future.Before.Components[at], after)...)
		}
	}
	if from, to := defaults(future.Before.Classes), defaults(future.After.Classes); from != to {
		list = append(list, Difference{What: "default StorageClass", From: from, To: to})
	}
	list = append(list, programs(in, future)...)
	count := 0
	for _, planned := range plan.Rollouts {
		count += len(planned.Machines)
	}
	switch {
	case count > 0 && is.rollingBack:
		list = append(list, replacedBack(count)...)
	case count > 0:
		list = append(list, replaced(count)...)
	}
	return list
}

// programs are the CCM and the CSI driver, where they come, go, or become others.
func programs(in Input, future simulation.Future) []Difference {
	var list []Difference
	addons, status := in.Start.Observation.Addons.Value(), in.Start.Observation.Cluster.Status.Addons
	if status == nil {
		status = &ucv1.AddonsStatus{}
	}
	for _, program := range []struct {
		set       outcome.AddonSetName
		what, was string
		seen      observation.AddonSet
	}{
		{outcome.CCMSet, "cloud-controller-manager in the cluster", status.CloudControllerManagerVersion, addons.CCM},
		{outcome.CSISet, "CSI driver in the cluster", status.CSIVersion, addons.CSI},
	} {
		difference := Difference{What: program.what}
		if future.Before.Running[program.set] {
			difference.From = cmp.Or(program.was, program.seen.Version)
		}
		if future.After.Running[program.set] {
			difference.To = program.seen.Version
		}
		if difference.From != difference.To && program.seen.SatisfiedBy == "" {
			list = append(list, difference)
		}
	}
	return list
}

// replacedBack is what a rollback changes with the Machines.
func replacedBack(count int) []Difference {
	return []Difference{
		{What: fmt.Sprintf("%d Machines and their Nodes", count), From: "those that are there now",
			To: "new ones with new names and addresses; labels, annotations and taints that people put on a Node by hand are gone with " +
				"it"},
		{What: "--cloud-provider of their kubelets", From: "external", To: "the in-tree provider"},
		{
			What: "labels of the cloud on Nodes (region, zone, instance type), their addresses and their providerID",
			From: "written by the CCM",
			To:   "written by the kubelet",
		},
		{What: "MachineDeployment field " +
			forceRestartPath, To: "another value of ours, which stays; who manages the object has to keep it"},
	}
}

// replaced is what is another with every Machine that was replaced.
func replaced(count int) []Difference {
	return []Difference{
		{What: fmt.Sprintf("%d Machines and their Nodes", count), From: "those that are there now",
			To: "new ones with new names and addresses; labels, annotations and taints that people put on a Node by hand are gone with " +
				"it"},
		{What: "--cloud-provider of their kubelets", From: "the in-tree provider", To: "external"},
		{What: "taint of a Node that joins", To: "node.cloudprovider.kubernetes.io/uninitialized, until the CCM has initialized it"},
		{
			What: "labels of the cloud on Nodes (region, zone, instance type), their addresses and their providerID",
			From: "written by the kubelet",
			To:   "written by the CCM",
		},
		{What: "Machine annotation " + ucv1.ExternalCloudProviderAnnotation, To: "true"},
		{What: "MachineDeployment field " +
			forceRestartPath, To: "a value of ours, which stays; who manages the object has to keep it"},
	}
}

func flags(before, after observation.Component) []Difference {
	var list []Difference
	names := slices.AppendSeq(slices.Collect(maps.Keys(before.Arguments.Flags)), maps.Keys(after.Arguments.Flags))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		from, was := before.Arguments.Flag(name)
		to, is := after.Arguments.Flag(name)
		if was == is && from == to {
			continue
		}
		list = append(list, Difference{What: after.String() + " --" + name, From: from, To: to})
	}
	return list
}

func defaults(classes []observation.StorageClass) string {
	var names []string
	for _, class := range classes {
		if class.Default {
			names = append(names, class.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
