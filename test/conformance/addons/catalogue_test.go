package addons_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// TestCatalogue takes one cluster through all minors of each provider, up and, where objects go away, down again. What is
// shown of a minor is what the names of its tests say. With -short it has the two newest minors only, and a reason that
// only an older one needs is not looked for.
func TestCatalogue(t *testing.T) {
	catalogue := provider.New()
	c := connect(t, controller)
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			profile, _ := catalogue.Lookup(name)
			all := renders(NewWithT(t), name, profile)
			if testing.Short() {
				all = all[max(0, len(all)-2):]
			}
			var used []string
			var judged string
			for i, r := range all {
				t.Run(fmt.Sprintf("1.%d", r.minor), func(t *testing.T) {
					var obsolete []string
					t.Run("is applied once, and the second time nothing is written", func(t *testing.T) { obsolete = applied(t, c, r) })
					if i > 0 {
						t.Run("what the former minor had, and only that, is pruned", func(t *testing.T) { pruned(t, c, all[i-1], r, obsolete) })
					}
					t.Run("what someone changes is found and repaired", func(t *testing.T) { repaired(t, c, r) })
					t.Run("every workload needs the pod security that is declared", func(t *testing.T) { secured(t, r) })
					// Rules that are those of the minor before, for the same containers, are judged already: that they are there
					// is what the first test says.
					if rights := rightsOf(t, r); rights != judged {
						judged = rights
						t.Run("every identity may do what it asks for and no more", func(t *testing.T) { used = append(used, granted(t, c, r)...) })
					}
				})
			}
			if !testing.Short() {
				t.Run("every reason for a right is needed", func(t *testing.T) { NewWithT(t).Expect(unused(name, used)).To(BeEmpty()) })
			}
			for i := len(all) - 1; i > 0; i-- {
				if from, to := all[i], all[i-1]; differ(from, to) {
					t.Run(fmt.Sprintf("back to 1.%d", to.minor), func(t *testing.T) {
						pruned(t, c, from, to, applied(t, c, to))
					})
				}
			}
			t.Run("all but what lasts is taken away", func(t *testing.T) { withdrawn(t, c, all) })
		})
	}
}
