package manifest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

type inheritance struct {
	in   ucv1.InheritedConfiguration
	want []string
}

func inheritances() map[string]inheritance {
	return map[string]inheritance{
		"all loops of KCM go on": {
			ucv1.InheritedConfiguration{
				ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16,fd00::/48", AllocateNodeCIDRs: true,
				ConfigureCloudRoutes: true,
				Loops:                []string{observation.ServiceLoop, observation.RouteLoop, observation.CloudNodeLifecycleLoop},
			},
			[]string{
				"--cluster-name=kubernetes", "--allocate-node-cidrs=true", "--configure-cloud-routes=true",
				"--cluster-cidr=10.244.0.0/16,fd00::/48", "--controllers=*",
			},
		},
		"routes that KCM did not run do not begin": {
			ucv1.InheritedConfiguration{
				ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true,
				Loops: []string{observation.ServiceLoop, observation.CloudNodeLifecycleLoop},
			},
			[]string{
				"--cluster-name=kubernetes", "--allocate-node-cidrs=true", "--configure-cloud-routes=false",
				"--cluster-cidr=10.244.0.0/16", "--controllers=*",
			},
		},
		"routes need both the flag and the loop": {
			ucv1.InheritedConfiguration{
				ClusterName: "kubernetes", ConfigureCloudRoutes: true,
				Loops: []string{observation.ServiceLoop, observation.CloudNodeLifecycleLoop},
			},
			[]string{
				"--cluster-name=kubernetes", "--allocate-node-cidrs=false", "--configure-cloud-routes=false",
				"--controllers=*",
			},
		},
		"a loop that was off in KCM stays off": {
			ucv1.InheritedConfiguration{ClusterName: "a", Loops: []string{observation.CloudNodeLifecycleLoop}},
			[]string{
				"--cluster-name=a", "--allocate-node-cidrs=false", "--configure-cloud-routes=false",
				"--controllers=*,-service",
			},
		},
		"several loops that were off stay off": {
			ucv1.InheritedConfiguration{
				ClusterName: "a", ClusterCIDR: "10.0.0.0/8", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
				Loops: []string{observation.RouteLoop},
			},
			[]string{
				"--cluster-name=a", "--allocate-node-cidrs=true", "--configure-cloud-routes=true",
				"--cluster-cidr=10.0.0.0/8", "--controllers=*,-service,-cloud-node-lifecycle",
			},
		},
		"a cluster that was external from the start runs the default loops": {
			ucv1.InheritedConfiguration{ClusterName: "beta"},
			[]string{
				"--cluster-name=beta", "--allocate-node-cidrs=false", "--configure-cloud-routes=false",
				"--controllers=*",
			},
		},
	}
}

func TestInheritedArguments(t *testing.T) {
	for name, test := range inheritances() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := manifest.InheritedArguments(test.in)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
		})
	}
}

func TestInheritedArgumentsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		in   ucv1.InheritedConfiguration
		want string
	}{
		"a cluster name is never made up": {ucv1.InheritedConfiguration{}, "has no cluster name"},
		"routes without a CIDR": {
			ucv1.InheritedConfiguration{ClusterName: "a", ConfigureCloudRoutes: true}, "has routes but no cluster CIDR",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.InheritedArguments(test.in)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
