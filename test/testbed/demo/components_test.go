package demo

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestFaultsOfComponents(t *testing.T) {
	const gate = "--feature-gates=APIServerTracing=false,CSIMigrationPortworx=true"
	for name, test := range map[string]struct {
		component string
		arguments []string
		want      []string
	}{
		"KCM as Finalize leaves it":         {kcmName, []string{kcmName, "--cloud-provider=external", "--controllers=*,tokencleaner", gate}, nil},
		"KCM without any provider":          {kcmName, []string{"--controllers=*", gate}, nil},
		"KCM with its in-tree provider":     {kcmName, []string{"--cloud-provider=simcloud", gate}, []string{"--cloud-provider=simcloud"}},
		"KCM with loops that are left out":  {kcmName, []string{"--controllers=*,-service-lb-controller", gate}, []string{"--controllers=*,-service-lb-controller"}},
		"only KCM keeps the word":           {apiServerName, []string{"--cloud-provider=external", gate}, []string{"--cloud-provider=external"}},
		"an API server with a cloud's file": {apiServerName, []string{"--cloud-config=/etc/cloud.conf", gate}, []string{"--cloud-config=/etc/cloud.conf"}},
		"a scheduler without the gate":      {schedulerName, []string{"--secure-port=10259"}, []string{"lacks the CSI migration gate"}},
		"a scheduler with gates of the provider": {schedulerName, []string{gate + ",DisableCloudProviders=false"}, []string{gate +
			",DisableCloudProviders=false"}},
		"a machine-controller without its flag":   {"machine-controller", []string{"-logtostderr"}, []string{"lacks the flag of external kubelets"}},
		"an operating-system-manager with a flag": {"operating-system-manager", []string{"-external-cloud-provider=true"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(faults(test.component, test.arguments)).To(Equal(test.want))
		})
	}
}

func TestJudgeAsksForEachComponent(t *testing.T) {
	g := NewWithT(t)
	c := &ClusterReport{Name: wholeControlPlane}
	for _, name := range deployments(wholeControlPlane) {
		c.Components = append(c.Components, ComponentReport{Name: name})
	}
	j := judge{}
	j.deployments(c)
	g.Expect(j.unmet).To(BeEmpty())

	c.Components[0].Faults = []string{"--cloud-config=x"}
	j.deployments(c)
	g.Expect(j.unmet).To(HaveLen(1))

	j, c.Components = judge{}, c.Components[1:]
	j.deployments(c)
	g.Expect(j.unmet).To(HaveLen(1), "one was not looked at")
}
