package leadermigration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const (
	v1alpha1 = "apiVersion: controllermanager.config.k8s.io/v1alpha1\nkind: LeaderMigrationConfiguration\n"
	v1beta1  = "apiVersion: controllermanager.config.k8s.io/v1beta1\nkind: LeaderMigrationConfiguration\n"
	v1       = "apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\n"
	leases   = "resourceLock: leases\n"
	body     = "leaderName: a\ncontrollerLeaders:\n- name: service\n  component: \"*\"\n"
)

// The verdicts on apiVersion, resourceLock and the asterisk are those that the modules 0.24.17, 0.28.15 and 0.36.2 of
// k8s.io/controller-manager gave.
func TestFilesAreReadLikeTheVersionDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		minor   int
		file    string
		problem string
	}{
		"v1beta1 with resourceLock is read by all from 1.22 on": {22, v1beta1 + leases + body, ""},
		"v1beta1 with resourceLock is read by 1.37":             {37, v1beta1 + leases + body, ""},
		"1.21 reads v1alpha1":                                   {21, v1alpha1 + leases + body, ""},
		"1.21 does not read v1beta1":                            {21, v1beta1 + leases + body, "not known to 1.21"},
		"1.23 does not read v1":                                 {23, v1 + body, "not known to 1.23"},
		"1.24 reads v1":                                         {24, v1 + body, ""},
		"1.31 overlooks resourceLock in v1":                     {31, v1 + leases + body, ""},
		"1.32 refuses resourceLock in v1":                       {32, v1 + leases + body, "take out resourceLock"},
		"v1beta1 needs resourceLock":                            {30, v1beta1 + body, "resourceLock is \"\""},
		"resourceLock has two values only":                      {30, v1beta1 + "resourceLock: configmaps\n" + body, "write leases"},
		"a bare asterisk is no YAML": {30, v1 +
			"leaderName: a\ncontrollerLeaders:\n- name: service\n  component: *\n", "a * has to be quoted"},
		"1.31 overlooks unknown fields": {31, v1beta1 + leases + body + "extra: 1\n", ""},
		"1.32 refuses unknown fields":   {32, v1beta1 + leases + body + "extra: 1\n", "take out extra"},
		"1.32 refuses unknown fields of an entry": {32, v1beta1 + leases + body +
			"  lock: x\n", "controllerLeaders[0] has fields"},
		"1.32 refuses a repeated field":        {32, v1beta1 + leases + leases + body, "no YAML"},
		"fields are compared letter by letter": {30, v1beta1 + leases + "leadername: a\n", "leaderName is missing"},
		"a lock needs a name": {30, v1beta1 + leases +
			"controllerLeaders: []\n", "leaderName is missing"},
		"a lock may be empty": {30, v1beta1 + leases + "leaderName: a\n", ""},
		"an entry needs a component": {30, v1beta1 + leases +
			"leaderName: a\ncontrollerLeaders:\n- name: service\n", "needs a name and a component"},
		"entries are a list": {30, v1beta1 + leases +
			"leaderName: a\ncontrollerLeaders: service\n", "no list of entries"},
		"a name is text": {30, v1beta1 + leases + "leaderName: 5\n", "leaderName is no text"},
		"another kind is refused": {30, "apiVersion: controllermanager.config.k8s.io/v1\nkind: Pod\n" +
			body, "kind is \"Pod\""},
		"another group is refused": {30, "apiVersion: v1\nkind: LeaderMigrationConfiguration\n" +
			body, "apiVersion \"v1\" is not known"},
		"an empty file is refused":                     {30, "", "it is no LeaderMigrationConfiguration"},
		"a list is refused":                            {30, "- a\n", "it is no LeaderMigrationConfiguration"},
		"a minor that is not in the tables is refused": {38, v1 + body, "1.38 is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lock, err := leadermigration.Parse([]byte(tc.file), tc.minor)
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(lock.Name).To(Equal("a"))
			g.Expect(lock.ResourceLock).To(Equal(leadermigration.Leases))
		})
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for _, apiVersion := range []string{"v1alpha1", "v1beta1", "v1"} {
		g := NewWithT(t)
		written := *full("a")
		written.APIVersion = "controllermanager.config.k8s.io/" + apiVersion
		read, err := leadermigration.Parse(written.Marshal(), 32)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read).To(Equal(written))
	}
}

func TestTheLastEntryForALoopWins(t *testing.T) {
	g := NewWithT(t)
	l := lock("a", "service-lb-controller")
	l.Entries = append(l.Entries, leadermigration.Entry{Name: "service-lb-controller", Component: ccm})
	g.Expect(at(kcm, "1.30", l).Place(leadermigration.ServiceLoop)).To(Equal(leadermigration.Nowhere))
	g.Expect(at(ccm, "1.30", l).Place(leadermigration.ServiceLoop)).To(Equal(leadermigration.MigrationLock))
	g.Expect(at(ccm, "1.30", l).Place(leadermigration.RouteLoop)).To(Equal(leadermigration.MainLock))
	g.Expect(at(kcm, "1.31", nil).Place(leadermigration.RouteLoop)).To(Equal(leadermigration.Nowhere), "KCM has none any more")
	g.Expect(at(kcm, "1.31", nil).Place(leadermigration.NodeIPAMLoop)).To(Equal(leadermigration.MainLock))
}

func TestWhatAManagerIsGiven(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		file    string
		rules   []leadermigration.Rule
	}{
		"a file that its version reads":                    {"1.30", v1beta1 + leases + body, nil},
		"a file that its version does not read":            {"1.32", v1 + leases + body, []leadermigration.Rule{leadermigration.ReadableFile}},
		"a version that is not in the tables":              {"1.38", v1 + body, []leadermigration.Rule{leadermigration.KnownVersion}},
		"no file, where there is a default":                {"1.22", "", nil},
		"no file, where one is required":                   {"1.21", "", []leadermigration.Rule{leadermigration.ReadableFile}},
		"no file, and a version that is not in the tables": {"1.20", "", []leadermigration.Rule{leadermigration.KnownVersion}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			read := func() (leadermigration.Configuration, []leadermigration.Violation) {
				return leadermigration.Read(kcm, release(tc.version), []byte(tc.file))
			}
			if tc.file == "" {
				read = func() (leadermigration.Configuration, []leadermigration.Violation) {
					return leadermigration.ReadNothing(kcm, release(tc.version))
				}
			}
			configuration, violations := read()
			g.Expect(violations).To(HaveLen(len(tc.rules)))
			for i, rule := range tc.rules {
				g.Expect(violations[i].Rule).To(Equal(rule))
				g.Expect(violations[i].Releases).To(Equal([]string{"kube-controller-manager " + tc.version}))
			}
			g.Expect(configuration.Lock == nil).To(Equal(len(tc.rules) > 0))
		})
	}
}
