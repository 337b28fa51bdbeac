package rollback

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestTheLockLeavesKCMWithItsLoopsInOneChange(t *testing.T) {
	tests := map[string]struct {
		arguments observation.Arguments
		kept      *ucv1.OriginalArguments
		want      *outcome.ArgumentChange
	}{
		"loops on, and no lock": {inTree(), &ucv1.OriginalArguments{Controllers: new("*")}, nil},
		"only the lock": {
			locked(inTree()), &ucv1.OriginalArguments{},
			&outcome.ArgumentChange{Remove: []string{"enable-leader-migration", "leader-migration-config"}, Unmount: true},
		},
		"the lock and the loops": {
			locked(silentArguments()), &ucv1.OriginalArguments{Controllers: new("*,tokencleaner")},
			&outcome.ArgumentChange{
				Set:    []outcome.Flag{{Name: "--controllers", Value: "*,tokencleaner"}},
				Remove: []string{"enable-leader-migration", "leader-migration-config"}, Unmount: true,
			},
		},
		"only the loops": {silentArguments(), &ucv1.OriginalArguments{}, &outcome.ArgumentChange{Remove: []string{"controllers"}}},
		"a lock that someone switched off, with its file": {
			observation.Arguments{Flags: map[string]string{"cloud-provider": "openstack", "leader-migration-config": handover.LockPath}},
			nil,
			&outcome.ArgumentChange{Remove: []string{"enable-leader-migration", "leader-migration-config"}, Unmount: true},
		},
		"a lock without its file": {
			bare(inTree()), nil,
			&outcome.ArgumentChange{Remove: []string{"enable-leader-migration", "leader-migration-config"}, Unmount: true},
		},
		"the lock of someone else": {
			observation.Arguments{Flags: map[string]string{"cloud-provider": "openstack", "leader-migration-config": "/theirs"}}, nil, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := pass.Input{Facts: ucv1.Facts{Handover: &ucv1.HandoverStatus{Protocol: ucv1.LeaderMigrationProtocol}}}
			NewWithT(t).Expect(givenBack(in, observation.Component{Arguments: test.arguments}, test.kept)).To(Equal(test.want))
		})
	}
}

func TestGatesGoBack(t *testing.T) {
	ours := map[string]bool{"X": true}
	tests := map[string]struct {
		present, before *string
		want            *outcome.ArgumentChange
	}{
		"what is as it was is left alone": {new("A=true"), nil, nil},
		"no flag, and none before":        {nil, nil, nil},
		"ours goes, others stay": {
			new("A=true,X=true"),
			new("B=true"),
			&outcome.ArgumentChange{Set: []outcome.Flag{{Name: "--feature-gates", Value: "A=true"}}},
		},
		"ours was given otherwise": {
			new("A=true,X=true"),
			new("X=false"),
			&outcome.ArgumentChange{Set: []outcome.Flag{{Name: "--feature-gates", Value: "A=true,X=false"}}},
		},
		"the flag was not given":                 {new("X=true"), nil, &outcome.ArgumentChange{Remove: []string{"feature-gates"}}},
		"ours was given so, and nothing changed": {new("X=true"), new("X=true"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			component := observation.Component{Arguments: observation.Arguments{Flags: map[string]string{}}}
			if test.present != nil {
				component.Arguments.Flags["feature-gates"] = *test.present
			}
			NewWithT(t).Expect(restoreGates(component, test.before, ours)).To(Equal(test.want))
		})
	}
}

func inTree() observation.Arguments {
	return observation.Arguments{Flags: map[string]string{"cloud-provider": "openstack", "controllers": "*,tokencleaner"}}
}

func silentArguments() observation.Arguments {
	arguments := inTree()
	arguments.Flags["controllers"] += ",-cloud-node-lifecycle,-route,-service"
	return arguments
}

// bare are arguments with the lock that an edit took the file of.
func bare(arguments observation.Arguments) observation.Arguments {
	arguments.Flags["enable-leader-migration"] = "true"
	return arguments
}

// locked are arguments with our lock.
func locked(arguments observation.Arguments) observation.Arguments {
	arguments.Flags["enable-leader-migration"], arguments.Flags["leader-migration-config"] = "true", handover.LockPath
	return arguments
}
