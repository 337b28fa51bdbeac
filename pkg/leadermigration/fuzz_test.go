package leadermigration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

// FuzzParse: what a minor reads is written and read again as it was.
func FuzzParse(f *testing.F) {
	const group = "controllermanager.config.k8s.io/"
	for _, seed := range []string{
		"apiVersion: " + group +
			"v1\nkind: LeaderMigrationConfiguration\nleaderName: a\ncontrollerLeaders:\n- {name: route, component: '*'}\n",
		"apiVersion: " + group +
			"v1beta1\nkind: LeaderMigrationConfiguration\nleaderName: \"a\\nb\"\nresourceLock: leases\ncontrollerLeaders: []\n",
		"apiVersion: " + group +
			"v1alpha1\nkind: LeaderMigrationConfiguration\nleaderName: a\nresourceLock: endpoints\ncontrollerLeaders: [{name: service, " +
			"component: *}]\n",
		"{}", "a: &a [*a]", "leaderName: a\nleaderName: b\n",
	} {
		for _, minor := range []int{21, 28, 32} {
			f.Add([]byte(seed), minor)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, minor int) {
		g := NewWithT(t)
		lock, err := leadermigration.Parse(data, minor)
		if err != nil {
			return
		}
		lock.Loops()
		again, err := leadermigration.Parse(lock.Marshal(), minor)
		g.Expect(err).NotTo(HaveOccurred(), string(lock.Marshal()))
		g.Expect(again.Loops()).To(Equal(lock.Loops()))
		g.Expect(again.Name).To(Equal(lock.Name))
	})
}

// FuzzVersion: what is read as a version is written as one that is read as the same.
func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1.29", "v1.29.3-gke.100", "v1.29.3+k3s1", "1.029", "1.29.", "1.29.3\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		version, err := leadermigration.ParseVersion(text)
		if err != nil {
			return
		}
		g.Expect(leadermigration.ParseVersion(version.String())).To(Equal(version))
	})
}
