package leadermigration_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

func TestVersionsAreRead(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		want  leadermigration.Version
		wrong bool
	}{
		"a minor":                   {text: "1.29", want: leadermigration.OfMinor(29)},
		"a release":                 {text: "1.29.3", want: leadermigration.Version{Minor: 29, Patch: 3}},
		"a tag":                     {text: "v1.30.14", want: leadermigration.Version{Minor: 30, Patch: 14}},
		"a release of GKE":          {text: "v1.29.3-gke.100", want: leadermigration.Version{Minor: 29, Patch: 3}},
		"a release of k3s":          {text: "v1.29.3+k3s1", want: leadermigration.Version{Minor: 29, Patch: 3}},
		"nothing":                   {wrong: true},
		"another major":             {text: "2.1", wrong: true},
		"a minor that is no number": {text: "1.x", wrong: true},
		"a number that is too long": {text: "1.29.99999999999999999999", wrong: true},
		"a word behind a minor":     {text: "1.29-gke", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := leadermigration.ParseVersion(tc.text)
			if tc.wrong {
				g.Expect(err).To(MatchError(ContainSubstring("write it like 1.29 or 1.29.3")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestFlagsOfEachMinor(t *testing.T) {
	const (
		lockGate  = "ControllerManagerLeaderMigration"
		cloudGate = "DisableCloudProviders"
	)
	for name, tc := range map[string]struct {
		component leadermigration.Component
		minor     int
		flag      string
		want      leadermigration.State
		says      string
	}{
		"KCM knows the lock from 1.21 on":                        {kcm, 21, "--enable-leader-migration", leadermigration.Known, ""},
		"KCM still has the flag in 1.37":                         {kcm, 37, "--enable-leader-migration", leadermigration.Known, ""},
		"CCM has the flags, too":                                 {ccm, 37, "--leader-migration-config", leadermigration.Known, ""},
		"no one knows the lock before 1.21":                      {kcm, 20, "--enable-leader-migration", leadermigration.Rejected, ""},
		"the lock's gate is locked in 1.24":                      {kcm, 24, lockGate, leadermigration.Deprecated, "locked to true"},
		"the lock's gate is accepted in 1.26":                    {ccm, 26, lockGate, leadermigration.Deprecated, ""},
		"the lock's gate is unknown from 1.27 on":                {kcm, 27, lockGate, leadermigration.Rejected, ""},
		"the provider gate is accepted in 1.32":                  {leadermigration.APIServer, 32, cloudGate, leadermigration.Deprecated, ""},
		"the provider gate is unknown from 1.33 on":              {kcm, 33, cloudGate, leadermigration.Rejected, ""},
		"the credential gate is unknown in 1.22":                 {kcm, 22, "DisableKubeletCloudCredentialProviders", leadermigration.Rejected, ""},
		"kube-apiserver warns of --cloud-provider from 1.29 on":  {leadermigration.APIServer, 29, "--cloud-provider", leadermigration.Deprecated, ""},
		"kube-apiserver rejects --cloud-provider from 1.33 on":   {leadermigration.APIServer, 33, "--cloud-provider", leadermigration.Rejected, "130162"},
		"kube-apiserver rejects --cloud-config from 1.33 on":     {leadermigration.APIServer, 33, "--cloud-config", leadermigration.Rejected, "130162"},
		"KCM accepts --concurrent-service-syncs in 1.36":         {kcm, 36, "--concurrent-service-syncs", leadermigration.Deprecated, "no effect"},
		"KCM rejects --concurrent-service-syncs from 1.37 on":    {kcm, 37, "--concurrent-service-syncs", leadermigration.Rejected, "138002"},
		"CCM keeps --concurrent-service-syncs":                   {ccm, 37, "--concurrent-service-syncs", leadermigration.Known, ""},
		"KCM does not know the long names before 1.28":           {kcm, 27, "service-lb-controller", leadermigration.Rejected, ""},
		"KCM knows the short names in 1.30":                      {kcm, 30, "service", leadermigration.Known, "an alias"},
		"KCM accepts the names of its empty loops in 1.36":       {kcm, 36, "cloud-node-lifecycle", leadermigration.Deprecated, "runs nothing"},
		"KCM rejects the name service from 1.37 on":              {kcm, 37, "service", leadermigration.Rejected, "138002"},
		"KCM rejects the name route from 1.37 on":                {kcm, 37, "route", leadermigration.Rejected, "138002"},
		"KCM rejects the name cloud-node-lifecycle from 1.37 on": {kcm, 37, "cloud-node-lifecycle", leadermigration.Rejected, "138002"},
		"KCM keeps node IPAM":                                    {kcm, 37, "nodeipam", leadermigration.Known, ""},
		"CCM keeps the short names":                              {ccm, 37, "route", leadermigration.Known, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fact := factOf(g, tc.component, tc.flag)
			g.Expect(fact.In(tc.minor)).To(Equal(tc.want))
			g.Expect(fact.Note + " " + fact.Source).To(ContainSubstring(tc.says))
		})
	}
}

func factOf(g Gomega, component leadermigration.Component, name string) leadermigration.Fact {
	facts := leadermigration.Facts()
	at := slices.IndexFunc(facts, func(f leadermigration.Fact) bool { return f.Component == component && f.Name == name })
	g.Expect(at).NotTo(Equal(-1), name)
	return facts[at]
}

func TestEveryFactHasASource(t *testing.T) {
	g := NewWithT(t)
	for _, fact := range leadermigration.Facts() {
		g.Expect(fact.Source).To(HavePrefix("https://github.com/kubernetes/"), fact.Name)
		g.Expect(fact.RemovedIn == 0 || fact.RemovedIn > max(fact.Since, fact.DeprecatedIn)).To(BeTrue(), fact.Name)
	}
	for _, provider := range leadermigration.Providers() {
		g.Expect(provider.Reason).NotTo(BeEmpty(), provider.Name)
		g.Expect(provider.Source).NotTo(BeEmpty(), provider.Name)
		g.Expect(provider.LastInTreeSource).NotTo(BeEmpty(), provider.Name)
	}
	for _, bad := range leadermigration.KnownBad() {
		g.Expect(bad.Source).To(HavePrefix("https://github.com/"))
	}
}

func TestKnownBad(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		says    string
	}{
		"1.30.14 works":                  {"1.30.14", ""},
		"1.35.4 works":                   {"1.35.4", ""},
		"1.36.0 is the first that exits": {"1.36.0", "already registered"},
		"1.36.3 exits":                   {"v1.36.3", "already registered"},
		"1.36 exits":                     {"1.36", "already registered"},
		"1.37.0 exits, too":              {"1.37.0", "already registered"},
		"1.31.2 crashes":                 {"1.31.2", "1.31.3 has the fix"},
		"1.31 is bad as long as no one says which": {"1.31", "1.31.3 has the fix"},
		"1.31.3 works": {"1.31.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, bad := leadermigration.BadReleasesOf(release(tc.version))
			g.Expect(bad).To(Equal(tc.says != ""))
			g.Expect(found.Reason).To(ContainSubstring(tc.says))
		})
	}
}

func TestLoopsAreSpelledForEveryMinorNamed(t *testing.T) {
	long := []string{"-cloud-node-lifecycle-controller", "-node-route-controller", "-service-lb-controller"}
	short := []string{"-cloud-node-lifecycle", "-route", "-service"}
	for name, tc := range map[string]struct {
		minors []int
		want   []string
	}{
		"the only names of 1.27":              {[]int{27}, short},
		"the registered names of 1.28":        {[]int{28}, long},
		"names for an upgrade to 1.28":        {[]int{27, 28}, short},
		"names for an upgrade to 1.31":        {[]int{30, 31}, long},
		"no names for an upgrade to 1.37":     {[]int{36, 37}, nil},
		"no names for what is not known":      {[]int{38}, nil},
		"no names for what was before 1.21":   {[]int{20}, nil},
		"the last minor that takes the names": {[]int{36}, long},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := leadermigration.SpellLoopsOff(tc.minors...)
			g.Expect(got).To(Equal(tc.want))
			for _, name := range got {
				for _, minor := range tc.minors {
					g.Expect(factOf(g, kcm, name[1:]).In(minor)).NotTo(Equal(leadermigration.Rejected), "%s in 1.%d", name, minor)
				}
			}
		})
	}
}

func TestProviders(t *testing.T) {
	for name, tc := range map[string]struct {
		provider string
		last     int
		honours  bool
	}{
		"OpenStack":                {"openstack", 25, true},
		"AWS":                      {"aws", 26, true},
		"Azure":                    {"azure", 29, false},
		"vSphere":                  {"vsphere", 29, true},
		"GCE":                      {"gce", 30, true},
		"GCE under another name":   {"gcp", 30, true},
		"the simulated cloud":      {"simcloud", 30, true},
		"one that never was there": {"hetzner", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			provider, known := leadermigration.LookupProvider(tc.provider)
			g.Expect(known).To(Equal(tc.last != 0))
			g.Expect(provider.LastInTreeMinor).To(Equal(tc.last))
			g.Expect(provider.HonoursLock).To(Equal(tc.honours))
		})
	}
}

func TestMinorsEnd(t *testing.T) {
	g := NewWithT(t)
	_, known := leadermigration.KnownMinor(leadermigration.FirstMinor - 1)
	g.Expect(known).To(BeFalse())
	_, known = leadermigration.KnownMinor(leadermigration.LastMinor + 1)
	g.Expect(known).To(BeFalse())
	g.Expect(leadermigration.Minors()).To(HaveLen(17))
}
