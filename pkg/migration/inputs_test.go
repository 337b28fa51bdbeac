package migration

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func kcmArguments(change func(map[string]string)) func(*Observation) {
	return func(o *Observation) {
		arguments := inTree()
		change(arguments.Flags)
		setKCM(o, arguments)
	}
}

func TestAProviderThatNoOneKnows(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a provider outside of the catalogue blocks": {
			given: fresh, when: func(o *Observation) {
				o.Provider, o.UnknownProvider = observation.Absent[observation.Provider](),
					"Provider opnstack is not in the catalogue; did you mean openstack?"
			},
			step: ucv1.StepPreflight, fails: ucv1.NotSupportedReason,
			says: []string{"did you mean openstack? The name is immutable", "delete the Cluster and create it"},
		},
		"a provider that an earlier version knew blocks, and its Cluster is not to be deleted": {
			given: fresh, when: func(o *Observation) {
				o.Provider, o.UnknownProvider = observation.Absent[observation.Provider](), "Provider simcloud is not in the catalogue."
				o.Cluster.Status.Inherited = &ucv1.InheritedConfiguration{}
			},
			step: ucv1.StepPreflight, fails: ucv1.NotSupportedReason, says: []string{"go back to that version"},
		},
	})
}

func TestFindingsAboutWhatTheClusterNames(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a kubeconfig that is refused blocks with its reason": {
			given: fresh, when: func(o *Observation) {
				o.Connection = observation.Connection{Refused: true, Reason: ucv1.KubeconfigRefusedReason, Message: "It uses exec."}
			},
			step: ucv1.StepPreflight, fails: ucv1.KubeconfigRefusedReason, says: []string{"It uses exec."},
		},
		"a user cluster that does not answer is no finding": {
			given: fresh, when: func(o *Observation) {
				o.Connection = observation.Connection{Reason: ucv1.UnreachableReason, Message: "no route."}
			},
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: []string{"the user cluster: no route."},
		},
		"two Clusters that name the same control plane block": {
			given: fresh, when: func(o *Observation) { o.Contenders = observation.Known([]string{"beta"}) },
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason,
			says: []string{"Deployment user-alpha/kube-controller-manager", "Cluster beta"},
		},
		"a contended Deployment is named as the spec names it": {
			given: fresh, when: func(o *Observation) {
				o.Contenders = observation.Known([]string{"beta"})
				o.Cluster.Spec.ControlPlane.KubeControllerManager.Name = "kcm"
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"user-alpha/kcm"},
		},
		"a version without a CCM blocks": {
			given: fresh, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.VersionProblem = "There is no CCM for 1.99." })
			},
			step: ucv1.StepPreflight, fails: ucv1.NotSupportedReason, says: []string{"There is no CCM for 1.99."},
		},
		"a version that must not migrate blocks": {
			given: fresh, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) {
					p.VersionProblem, p.MigrationProblem = "There is no CCM for 1.99.", "Migrate with 1.25 (https://example.com)."
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.NotSupportedReason, says: []string{"Migrate with 1.25 (https://example.com)."},
		},
		"a provider that never was in-tree blocks": {
			given: fresh, when: func(o *Observation) { edit(&o.Provider, func(p *observation.Provider) { p.CanMigrate = false }) },
			step: ucv1.StepPreflight, fails: ucv1.NotSupportedReason, says: []string{"never was in-tree"},
		},
		"a ProviderProfile that cannot be used blocks": {
			given: fresh, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.ProfileProblem = "ProviderProfile openstack cannot be used." })
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"ProviderProfile openstack cannot be used."},
		},
		"a missing cloud configuration blocks": {
			given: fresh, when: func(o *Observation) { o.CloudConfig = observation.Absent[observation.CloudConfig]() },
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Secret user-alpha/cloud", "does not exist"},
		},
		"a cloud configuration without its keys blocks": {
			given: fresh, when: func(o *Observation) {
				o.CloudConfig = observation.Known(observation.CloudConfig{Problem: "key cloud.conf is missing."})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Secret user-alpha/cloud: key cloud.conf is missing."},
		},
	})
}

func TestFindingsAboutKCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a missing KCM Deployment blocks": {
			given: fresh, when: func(o *Observation) { o.ControlPlane = observation.Absent[observation.ControlPlane]() },
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"user-alpha/kube-controller-manager does not exist"},
		},
		"KCM arguments that are not understood block with the argument": {
			given: fresh, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments = observation.Arguments{Problem: "argument sh -c is a shell"}
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"argument sh -c is a shell"},
		},
		"arguments of another component that are not understood block": {
			given: fresh, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.Others = []observation.Component{
						{Ref: observation.Ref{Kind: "Deployment", Name: "kube-apiserver"}, Arguments: observation.Arguments{Problem: "odd"}},
					}
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Deployment kube-apiserver: odd"},
		},
		"arguments of a live pod that are not understood block with the pod": {
			given: fresh, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods = []observation.Process{kcmPod("p", observation.Arguments{Problem: "odd"})}
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Pod user-alpha/p: odd"},
		},
		"a KCM that runs another provider blocks": {
			given: fresh, when: kcmArguments(func(flags map[string]string) { flags["cloud-provider"] = "aws" }),
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"--cloud-provider=aws"},
		},
		"a cluster name that would rename load balancers blocks": {
			given: fresh, when: func(o *Observation) { o.Cluster.Spec.Cloud.ClusterName = "other" },
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"spec.cloud.clusterName is other", "uses prod"},
		},
		"another cluster name costs nothing where the in-tree provider finds nothing by it": {
			given: fresh, when: func(o *Observation) {
				o.Cluster.Spec.Cloud.ClusterName = "other"
				edit(&o.Provider, func(p *observation.Provider) { p.FreesClusterName = true })
			},
			step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Inherited.ClusterName).To(Equal("other")) },
		},
		"the default cluster name of KCM is kubernetes": {
			given: fresh, when: func(o *Observation) {
				kcmArguments(func(flags map[string]string) { delete(flags, "cluster-name") })(o)
				o.Cluster.Spec.Cloud.ClusterName = "kubernetes"
			},
			step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Inherited.ClusterName).To(Equal("kubernetes")) },
		},
	})
}

func TestFindingsAboutProcessesAndAllTogether(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a CCM that leads beside KCM already blocks with its holder": {
			given: fresh, when: func(o *Observation) {
				o.CCMLease = observation.Known(observation.Lease{
					Ref: observation.Ref{Kind: "Lease", Name: "ccm"}, Holder: "helm_1", DurationSeconds: 15, ChangedAt: ago(time.Second),
					WatchedAt: ago(time.Minute),
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.ForeignObjectsReason, says: []string{"Lease ccm is held by helm_1"},
		},
		"the Lease of a CCM that is gone does not block": {
			given: fresh, when: func(o *Observation) {
				o.CCMLease = observation.Known(observation.Lease{Holder: "helm_1", DurationSeconds: 15, WatchedAt: ago(time.Minute)})
			},
			step: ucv1.StepPreflight, action: outcome.ActionRecord,
		},
		"a Lease of a CCM that cannot be looked at holds the start up": {
			given: fresh, when: func(o *Observation) { o.CCMLease = observation.Unknown[observation.Lease]("timeout") },
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason,
		},
		"finished pods whose processes no one saw end block with their names": {
			given: fresh, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].Finished = true })
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Pod user-alpha/old"},
		},
		"more processes than can be recorded block": {
			given: fresh, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					for i := range 21 {
						c.KCM.Pods = append(c.KCM.Pods, kcmPod(fmt.Sprint(i), inTree()))
					}
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"has 22 pods; at most 20"},
		},
		"all findings are named, not the first": {
			given: fresh, when: func(o *Observation) {
				o.CloudConfig, o.ControlPlane = observation.Absent[observation.CloudConfig](), observation.Absent[observation.ControlPlane]()
				o.Contenders = observation.Unknown[[]string]("timeout")
			},
			step: ucv1.StepPreflight, fails: ucv1.PreflightFailedReason,
			says: []string{"Secret user-alpha/cloud", "1 more finding: ControlPlaneUnusable"},
		},
		"what could not be looked at is named together": {
			given: fresh, when: func(o *Observation) {
				o.CloudConfig, o.ControlPlane = observation.Unknown[observation.CloudConfig]("forbidden"),
					observation.Unknown[observation.ControlPlane]("timeout")
			},
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason,
			says: []string{"Secret user-alpha/cloud: forbidden; the control plane: timeout."},
		},
		"a finding after the start holds nothing up": {
			given: rolling, when: func(o *Observation) { o.CloudConfig = observation.Absent[observation.CloudConfig]() },
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
	})
}

func TestInherit(t *testing.T) {
	tests := map[string]struct {
		flags   map[string]string
		cluster string
		want    ucv1.InheritedConfiguration
	}{
		"a KCM that ran routes hands them over": {
			flags: inTree().Flags,
			want: ucv1.InheritedConfiguration{
				ClusterUID: "cluster", ClusterName: "prod", ClusterCIDR: "10.0.0.0/16", ConfigureCloudRoutes: true, AllocateNodeCIDRs: true,
				Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
			},
		},
		"a KCM that ran no routes hands none over": {
			flags: map[string]string{"cloud-provider": "openstack", "allocate-node-cidrs": "true", "configure-cloud-routes": "false"},
			want: ucv1.InheritedConfiguration{
				ClusterUID: "cluster", ClusterName: "kubernetes", AllocateNodeCIDRs: true, Loops: []string{
					observation.CloudNodeLifecycleLoop, observation.ServiceLoop,
				},
			},
		},
		"a name in the spec comes before that of KCM": {
			flags: map[string]string{"cloud-provider": "openstack", "cluster-name": "prod"}, cluster: "mine",
			want: ucv1.InheritedConfiguration{
				ClusterUID: "cluster", ClusterName: "mine", Loops: []string{
					observation.CloudNodeLifecycleLoop, observation.ServiceLoop,
				},
			},
		},
		"a cluster created with the feature takes its name from the spec": {
			flags: map[string]string{"cloud-provider": "external", "allocate-node-cidrs": "true"}, cluster: "mine",
			want: ucv1.InheritedConfiguration{
				ClusterUID: "cluster", ClusterName: "mine", AllocateNodeCIDRs: true, Loops: []string{
					observation.CloudNodeLifecycleLoop, observation.ServiceLoop,
				},
			},
		},
		"a cluster created with the feature runs routes when they are asked for": {
			flags: map[string]string{"allocate-node-cidrs": "true", "configure-cloud-routes": "true"},
			want: ucv1.InheritedConfiguration{
				ClusterUID: "cluster", ClusterName: "kubernetes", ConfigureCloudRoutes: true, AllocateNodeCIDRs: true, Loops: []string{
					observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop,
				},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := fresh()
			o.Cluster.Spec.Cloud.ClusterName = test.cluster
			NewWithT(t).Expect(start.Inherit(o.Cluster, observation.Arguments{Flags: test.flags})).To(Equal(new(test.want)))
		})
	}
}

func TestExternalRowAsksKCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a KCM that runs no loop lets the addons be applied, after what is inherited": {
			given: external, step: ucv1.StepAddons, action: outcome.ActionRecord, says: []string{"inherits"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.StartedAt).To(BeNil())
				g.Expect(f.Inherited.ClusterName).To(Equal("prod"))
			},
		},
		"a KCM that runs loops blocks with its arguments": {
			given: external, when: func(o *Observation) { setKCM(o, inTree()) }, step: ucv1.StepAddons,
			fails: ucv1.CloudLoopsRunningReason,
			says:  []string{"--cloud-provider=openstack --controllers=*,tokencleaner", "no CCM is put beside it"},
		},
		"a pod of KCM that still runs loops blocks": {
			given: external, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("old", inTree())) })
			},
			step: ucv1.StepAddons, fails: ucv1.CloudLoopsRunningReason,
		},
		"a pod of KCM that ran loops and has ended does not block": {
			given: external, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					old := kcmPod("old", inTree())
					old.Ended = true
					c.KCM.Pods = append(c.KCM.Pods, old)
				})
			},
			step: ucv1.StepAddons, action: outcome.ActionRecord,
		},
		"loops that come back before the hand-over block, and are not switched off by us": {
			given: external, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{})
				o.Cluster.Status.Handover = &ucv1.HandoverStatus{Protocol: ucv1.FencedProtocol, StartedAt: stampAgo(0)}
				setKCM(o, inTree())
			},
			step: ucv1.StepAddons, fails: ucv1.CloudLoopsRunningReason,
		},
	})
}

func TestExternalRowFinishes(t *testing.T) {
	runDecisions(t, map[string]decision{
		"findings block here too": {
			given: external, when: func(o *Observation) { o.CloudConfig = observation.Absent[observation.CloudConfig]() },
			step: ucv1.StepAddons, fails: ucv1.InputInvalidReason,
		},
		"a provider that never was in-tree is fine": {
			given: external, when: func(o *Observation) { edit(&o.Provider, func(p *observation.Provider) { p.CanMigrate = false }) },
			step: ucv1.StepAddons, action: outcome.ActionRecord,
		},
		"after the hand-over the cluster is finished, and stays so when its cloud configuration is gone": {
			given: finished, when: func(o *Observation) {
				o.Cluster.Status.Origin = ucv1.OriginExternal
				o.CloudConfig = observation.Absent[observation.CloudConfig]()
			},
			step: ucv1.StepFinished,
		},
		"a CCM that serves a Node completes the cluster": {
			given: finished,
			when:  func(o *Observation) { o.Cluster.Status.Origin, o.Cluster.Status.CompletedAt = ucv1.OriginExternal, nil },
			step:  ucv1.StepHandover, action: outcome.ActionRecord, says: []string{"the CCM serves the cluster"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CompletedAt.Time).To(Equal(noon())) },
		},
		"without a Node there is nothing left to do": {
			given: finished, when: func(o *Observation) {
				o.Cluster.Status.Origin, o.Cluster.Status.CompletedAt = ucv1.OriginExternal, nil
				noNodes(o)
				o.CCMLease = observation.Absent[observation.Lease]()
			},
			step: ucv1.StepFinished,
		},
		"with its first Node, a CCM that does not lead is waited for": {
			given: finished, when: func(o *Observation) {
				o.Cluster.Status.Origin, o.Cluster.Status.CompletedAt = ucv1.OriginExternal, nil
				o.CCMLease = observation.Absent[observation.Lease]()
			},
			step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason,
		},
	})
}
