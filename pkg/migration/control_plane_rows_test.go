package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestFinalizeTakesTheInTreeConfigurationOut(t *testing.T) {
	tests := map[string]struct {
		flags   map[string]string
		retired []string
		remove  []string
		set     []outcome.Flag
	}{
		"nothing is changed when nothing is left": {flags: map[string]string{"v": "2", "controllers": "*"}},
		"provider flags are removed, not set": {
			flags:  map[string]string{"cloud-provider": "openstack", "cloud-config": "/etc/x", "configure-cloud-routes": "true"},
			remove: []string{"cloud-provider", "cloud-config", "configure-cloud-routes"},
		},
		"an external provider stays": {flags: map[string]string{"cloud-provider": "external"}},
		"excluded loops go, in both spellings": {
			flags: map[string]string{"controllers": "*,ttl,-service,-node-route-controller,-cloud-node-lifecycle,-nodeipam"},
			set:   []outcome.Flag{{Name: "--controllers", Value: "*,ttl,-nodeipam"}},
		},
		"a list of which nothing is left is the default": {
			flags: map[string]string{"controllers": "-service"}, set: []outcome.Flag{{Name: "--controllers", Value: "*"}},
		},
		"a loop that is enabled by name is left to its owner": {flags: map[string]string{"controllers": "*,service"}},
		"gates that 1.33 does not know go, others stay": {
			flags: map[string]string{"feature-gates": "A=true,DisableCloudProviders=false, DisableKubeletCloudCredentialProviders=false"},
			set:   []outcome.Flag{{Name: "--feature-gates", Value: "A=true"}},
		},
		"gates of the provider that the next minor does not know go": {
			flags: map[string]string{"feature-gates": "A=true,CSIMigrationOpenStack=true"}, retired: []string{"CSIMigrationOpenStack"},
			set: []outcome.Flag{{Name: "--feature-gates", Value: "A=true"}},
		},
		"the plugin that served in-tree volumes goes": {
			flags: map[string]string{"external-cloud-volume-plugin": "openstack"}, remove: []string{"external-cloud-volume-plugin"},
		},
		"a gates flag of which nothing is left goes": {
			flags: map[string]string{"feature-gates": "DisableCloudProviders=false"}, remove: []string{"feature-gates"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			change := components.InTreeRemoval(
				observation.Component{Arguments: observation.Arguments{Flags: test.flags}, Container: "c"},
				test.retired,
			)
			if test.remove == nil && test.set == nil {
				g.Expect(change).To(BeNil())
				return
			}
			g.Expect(change.Remove).To(Equal(test.remove))
			g.Expect(change.Set).To(Equal(test.set))
		})
	}
}

func TestFinalizeLeavesKCMWithAnExternalProvider(t *testing.T) {
	g := NewWithT(t)
	o := completed()
	in := pass.New(o, ago(0), o.Cluster.Status.Facts)
	action := inTreeFlags(in).Action
	g.Expect(action).NotTo(BeNil())
	g.Expect(action.Arguments.Target).To(Equal(o.ControlPlane.Value().KCM.Ref))
	g.Expect(action.Arguments.Set).To(ContainElement(outcome.Flag{Name: "--cloud-provider", Value: "external"}))
	g.Expect(action.Arguments.Remove).NotTo(ContainElement("cloud-provider"))
}

func TestFinalizeRow(t *testing.T) {
	runDecisions(t, map[string]decision{
		"every component is changed, one a pass": {
			given: completed, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.Others = []observation.Component{
						{Ref: observation.Ref{Kind: "Deployment", Name: "kube-apiserver"}, Arguments: inTree(), RolledOut: true},
					}
				})
			},
			step: ucv1.StepFinalize, action: outcome.ActionChangeArguments, says: []string{"kube-apiserver"},
		},
		"a rollout is waited for": {
			given: finished, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepFinalize, wait: ucv1.RollingOutReason,
		},
		"arguments of another component that are not understood block": {
			given: finished, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.Others = []observation.Component{
						{Ref: observation.Ref{Kind: "Deployment", Name: "kube-apiserver"}, Arguments: observation.Arguments{Problem: "odd"}},
					}
				})
			},
			step: ucv1.StepFinalize, fails: ucv1.InputInvalidReason, says: []string{"kube-apiserver: odd"},
		},
	})
}

// besideKCM is a kube-apiserver that is not ours, with these flags.
func besideKCM(foreign bool, flags map[string]string) func(*Observation) {
	return func(o *Observation) {
		edit(&o.ControlPlane, func(c *observation.ControlPlane) {
			c.NotSeen = []string{"kube-scheduler"}
			c.Neighbors = []observation.Neighbor{
				{Field: "spec.controlPlane.kubeAPIServer", Foreign: foreign, Component: observation.Component{
					Ref: observation.Ref{
						Kind: "Deployment",
						Name: "kube-apiserver",
					},
					Arguments: observation.Arguments{Flags: flags},
					RolledOut: true,
				}},
			}
		})
	}
}

func TestNoRowHoldsAgainstWhatIsSeenBesideKCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a component that the spec does not mention blocks by its in-tree flags": {
			given: finished, when: besideKCM(false, map[string]string{"cloud-provider": "openstack"}),
			step: ucv1.StepFinalize, fails: ucv1.ComponentUnclaimedReason, says: []string{"Deployment kube-apiserver " +
				"(spec.controlPlane.kubeAPIServer): --cloud-provider", "Foreign"},
		},
		"one that cannot be read blocks": {
			given: finished, when: func(o *Observation) {
				besideKCM(false, nil)(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.Neighbors[0].Arguments.Problem = "odd" })
			}, step: ucv1.StepFinalize, fails: ucv1.ComponentUnclaimedReason, says: []string{"kubeAPIServer): odd"},
		},
		"a pod of before counts": {
			given: finished, when: func(o *Observation) {
				besideKCM(false, map[string]string{})(o)
				edit(
					&o.ControlPlane,
					func(c *observation.ControlPlane) { c.Neighbors[0].Pods = []observation.Process{{Arguments: inTree()}} },
				)
			}, step: ucv1.StepFinalize, fails: ucv1.ComponentUnclaimedReason, says: []string{"--cloud-provider"},
		},
		"one whose gate is off blocks before a kubelet is external": {
			given: configuring, when: func(o *Observation) {
				gated("CSIMigration=true,InTreePluginOpenStackUnregister=false")(o)
				besideKCM(false, map[string]string{"feature-gates": "CSIMigration=false"})(o)
			}, step: ucv1.StepVolumeMigration, fails: ucv1.ComponentUnclaimedReason, says: []string{"kube-apiserver"},
		},
		"a foreign one is waited for": {
			given: finished,
			when:  besideKCM(true, map[string]string{"cloud-config": "/c"}),
			step:  ucv1.StepFinalize,
			wait:  ucv1.WaitingForAdministratorReason,
			says:  []string{"owners", "--cloud-config"},
		},
	})
}

func TestRowsSayWhatTheyLookedAt(t *testing.T) {
	g := NewWithT(t)
	o := finished()
	besideKCM(false, map[string]string{"v": "2"})(&o)
	in := pass.New(o, ago(0), o.Cluster.Status.Facts)
	out := inTreeFlags(in)
	g.Expect(out.Holds).To(BeTrue())
	g.Expect(out.Message).To(And(ContainSubstring("Looked at: "+o.ControlPlane.Value().KCM.String()+", Deployment kube-apiserver"),
		HaveSuffix("not found beside it, so not looked at: kube-scheduler.")))
}

// gated is a KCM with these feature gates, where the minor still has some of the migration.
func gated(gates string) func(*Observation) {
	return func(o *Observation) {
		edit(&o.Provider, func(p *observation.Provider) {
			p.MigrationGates = map[string]bool{"CSIMigration": true, "InTreePluginOpenStackUnregister": false}
		})
		arguments := silentArguments()
		if gates != "" {
			arguments.Flags["feature-gates"] = gates
		}
		setKCM(o, arguments)
	}
}

func TestVolumeMigrationRow(t *testing.T) {
	runDecisions(t, map[string]decision{
		"missing gates are switched on beside those that are there": {
			given: configuring, when: func(o *Observation) {
				gated("A=true,CSIMigration=false")(o)
				o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
			},
			step: ucv1.StepVolumeMigration, action: outcome.ActionChangeArguments,
			says: []string{"CSIMigration=true, InTreePluginOpenStackUnregister=false"},
		},
		"gates that are on are rolled out before the machine-controller": {
			given: configuring, when: func(o *Observation) {
				gated("CSIMigration=true,InTreePluginOpenStackUnregister=false")(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepVolumeMigration, wait: ucv1.RollingOutReason,
		},
		"gates that are on and rolled out hold": {
			given:  configuring,
			when:   gated("CSIMigration=true,InTreePluginOpenStackUnregister=false"),
			step:   ucv1.StepMachineController,
			action: outcome.ActionChangeArguments,
		},
		"a catalogue that cannot be looked at is not taken for one without gates": {
			given: configuring, when: func(o *Observation) { o.Provider = observation.Unknown[observation.Provider]("timeout") },
			step: ucv1.StepVolumeMigration, wait: ucv1.CouldNotLookReason,
		},
	})
	NewWithT(t).Expect(
		components.GatesFlag(
			observation.Arguments{Flags: map[string]string{"feature-gates": "B=true, A=false"}},
			map[string]bool{"A": true, "C": true},
		),
	).
		To(Equal(outcome.Flag{Name: "--feature-gates", Value: "B=true,A=true,C=true"}))
}
