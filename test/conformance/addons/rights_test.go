package addons_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// granted says of the identities of a rendering that they may do what they ask for, and no more. What it returns are those of the
// provider's reasons that were needed.
func granted(t *testing.T, c *cluster, r rendering) (used []string) {
	t.Helper()
	g := NewWithT(t)
	fence := fenced(t, r.identity)
	g.Expect(except(fenceable(r), fence)).To(BeEmpty(), "the fence is about Leases of the CCM, and nothing else")
	settle(t)
	used, objections := ccmObjections(t, r, nil)
	g.Expect(objections).To(BeEmpty(), "while the fence is closed")
	g.Expect(csiObjections(t, r)).To(BeEmpty())

	g.Expect(c.session.Leases.OpenFence(t.Context(), r.identity)).To(Succeed())
	settle(t)
	_, objections = ccmObjections(t, r, fence)
	g.Expect(c.session.Leases.CloseFence(t.Context(), r.identity)).To(Succeed())
	g.Expect(objections).To(BeEmpty(), "while the fence is open")
	settle(t)
	g.Expect(account(r.identity).ask(t, fence, true)).To(BeEmpty(), "after the fence was closed again")
	return used
}

func account(id manifest.Identity) identity {
	return serviceAccount(id.ServiceAccountNamespace, id.ServiceAccountName)
}

// ccmObjections against the rights of CCM and probe; the fence grants the CCM something, or nothing.
func ccmObjections(t *testing.T, r rendering, fence []grant) (used, objections []string) {
	t.Helper()
	ours := grantsOf(reasons(r.provider))
	needed := slices.Concat(grantsOf(loops()), grantsOf(process()))
	probe := render.ProbeIdentity(r.identity)
	for _, who := range []struct {
		name string
		id   manifest.Identity
		// granted are Leases, and withheld those of the other one.
		granted, withheld []grant
	}{
		{"the CCM", r.identity, fence, except(fence, fenced(t, r.identity))},
		// Its Lease is made for it.
		{"the probe", probe, holding(probe), fenced(t, r.identity)},
	} {
		account := account(who.id)
		for _, missing := range account.ask(t, slices.Concat(needed, who.granted), false) {
			objections = append(objections, fmt.Sprintf("%s may not %s, which it asks for", who.name, missing))
		}
		forbidden := who.withheld
		if fence == nil {
			forbidden = except(ours, slices.Concat(denied(), deniedToCCM(), who.withheld))
		}
		for _, excess := range account.ask(t, forbidden, true) {
			objections = append(objections, fmt.Sprintf("%s may %s, which is denied", who.name, excess))
		}
		for _, excess := range account.surplus(t, slices.Concat(needed, ours, who.granted)) {
			objections = append(objections, fmt.Sprintf("%s may %s, which nothing asks for: take the rule away, or give a reason in "+
				"reasons_test.go", who.name, excess))
		}
		// A rule for one name is a part of what is asked for, and does not allow it.
		used = append(used, account.ask(t, ours, true)...)
	}
	return used, objections
}

// except are all grants that none of the others covers.
func except(others, all []grant) []grant {
	return slices.DeleteFunc(slices.Clone(all), func(one grant) bool {
		return slices.ContainsFunc(others, func(other grant) bool { return other.covers(one) })
	})
}

// csiObjections against the rights of every ServiceAccount of the CSI driver.
func csiObjections(t *testing.T, r rendering) (objections []string) {
	t.Helper()
	found, err := accounts(r.addons.CSI)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	forbidden := append(denied(), holding(r.identity)...)
	for name, images := range found {
		account := serviceAccount(metav1.NamespaceSystem, name)
		for _, missing := range account.sidecarsLack(t, r.addons.CSI, images) {
			objections = append(objections, name+" may not "+missing)
		}
		for _, excess := range account.ask(t, except(grantsOf(exceptions(name)), forbidden), true) {
			objections = append(objections, fmt.Sprintf("%s may %s, which is denied", name, excess))
		}
	}
	return objections
}

// sidecarsLack is what the sidecars among the images ask for and do not have. Of several drivers in a set they are those of the
// one for which they lack the least.
func (i identity) sidecarsLack(t *testing.T, set manifest.Set, images []string) (least []string) {
	t.Helper()
	first := true
	for _, object := range set.Objects {
		if object.GetKind() != "CSIDriver" {
			continue
		}
		lacking, table := []string{}, sidecars(object.GetName())
		for _, image := range images {
			for _, missing := range i.ask(t, table[image].grants, false) {
				lacking = append(lacking, missing+", which "+image+" asks for")
			}
		}
		if first || len(lacking) < len(least) {
			first, least = false, lacking
		}
	}
	return least
}

// rightsOf is all that the rights of a rendering depend on: the rules and bindings, and which containers have them.
func rightsOf(t *testing.T, r rendering) string {
	t.Helper()
	g := NewWithT(t)
	found, err := accounts(r.addons.CSI)
	g.Expect(err).NotTo(HaveOccurred())
	all := []any{found}
	for _, object := range r.objects() {
		if object.GroupVersionKind().Group == rbacv1.GroupName {
			all = append(all, object)
		}
	}
	text, err := json.Marshal(all)
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// unused are the reasons of a provider that no minor needed.
func unused(provider string, used []string) (idle []string) {
	for _, one := range grantsOf(reasons(provider)) {
		if !slices.Contains(used, one.String()) {
			idle = append(idle, one.String())
		}
	}
	return idle
}
