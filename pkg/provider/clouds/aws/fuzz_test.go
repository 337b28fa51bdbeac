package aws

import (
	"testing"

	. "github.com/onsi/gomega"
)

func FuzzCloudConfig(f *testing.F) {
	for _, seed := range []string{
		"", "[Global]\nZone = eu-central-1a\nKubernetesClusterID = alpha\n",
		"[Global]\nRegion=eu-central-1\nKubernetesClusterTag=\"al\\\\ph\\\"a\" ; " +
			"b\nDisableStrictZoneCheck\nNodeIPFamilies=ipv6\nNodeIPFamilies=ipv4\n",
		"[Global]\n[ServiceOverride \"a\\\"b\"]\nService=ec2\nRegion=a\nURL=https://b\nSigningRegion=c\n[global]\nZone=\" a \"b # c",
		"[Global]\nZone=eu-central-1a\nKubernetesClusterID=a\n" +
			"[ServiceOverride \"1\"]\nService=elasticloadbalancing\nRegion=a\nURL=https://b\nSigningRegion=c\n" +
			"[ServiceOverride \"1-v2\"]\nService=elasticloadbalancing\nRegion=b\nURL=https://b\nSigningRegion=c\n",
		"\ufeff[Global]\r\nVPC=a\\b\n{", "[Global\xff", "auth-url=a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		_ = Profile{}.CloudConfigProblem(map[string][]byte{configKey: []byte(text), secretKeyKey: []byte(text)})
		_ = Profile{}.ControlPlaneProblem(map[string][]byte{configKey: []byte(text)})
		conf, problem := parse(text)
		if problem != "" {
			g.Expect(conf).To(Equal(config{}))
			return
		}
		again, problem := parse(render(conf))
		g.Expect(problem).To(BeEmpty())
		g.Expect(again).To(Equal(conf))
		if (Profile{}).CloudConfigProblem(map[string][]byte{configKey: []byte(text)}) != "" {
			return
		}
		for _, minor := range []int{24, regionMinor, secondSDKMinor} {
			made := render(forCCM(conf, minor))
			g.Expect(Profile{}.CloudConfigProblem(map[string][]byte{configKey: []byte(made)})).To(BeEmpty())
			again, _ := parse(made)
			g.Expect(render(forCCM(again, minor))).To(Equal(made), "what is made for a CCM is not changed for it again")
		}
	})
}
