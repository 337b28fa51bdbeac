package addons_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// rendering is what the catalogue has for one minor of a provider: CCM, CSI driver and probe.
type rendering struct {
	provider string
	minor    int
	identity manifest.Identity
	addons   manifest.Addons
}

// renders are those of all minors of a provider, the oldest first.
func renders(g Gomega, name string, profile provider.Profile) []rendering {
	var all []rendering
	for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
		version := fmt.Sprintf("1.%d.0", minor)
		if _, err := profile.Release(version); err != nil {
			continue
		}
		made := rendering{provider: name, minor: minor, identity: profile.Identity()}
		var err error
		made.addons, err = profile.Render(manifest.RenderInput{
			Version: version, CloudConfig: profile.Example(), ClusterUID: "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
			Inherited: ucv1.InheritedConfiguration{
				ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true,
				Loops: []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop},
			},
		})
		g.Expect(err).NotTo(HaveOccurred(), "%s 1.%d", name, minor)
		made.addons.Probe, err = render.Probe(made.addons.CCM, made.identity)
		g.Expect(err).NotTo(HaveOccurred(), "%s 1.%d", name, minor)
		all = append(all, made)
	}
	g.Expect(all).NotTo(BeEmpty(), "%s has no minor at all", name)
	return all
}

// newest is the rendering of a provider that faults are put into.
func newest(t *testing.T, name string) rendering {
	t.Helper()
	g := NewWithT(t)
	profile, known := provider.New().Lookup(name)
	g.Expect(known).To(BeTrue())
	all := renders(g, name, profile)
	return all[len(all)-1]
}

func (r rendering) sets() []manifest.Set {
	return []manifest.Set{r.addons.CCM, r.addons.CSI, r.addons.Probe}
}

func (r rendering) objects() []*unstructured.Unstructured {
	return slices.Concat(r.addons.CCM.Objects, r.addons.CSI.Objects, r.addons.Probe.Objects)
}

// cluster is a user cluster with what the controller remembers of it.
type cluster struct {
	session   *usercluster.Session
	clock     *clocktesting.FakeClock
	user      string
	inventory []addons.InventoryEntry
}

// apply does what the controller does, and says what was written.
func (c *cluster) apply(t *testing.T, r rendering) []string {
	t.Helper()
	g := NewWithT(t)
	return writesOf(g, c.user, func() {
		for _, set := range r.sets() {
			set, err := c.session.Addons.WithoutForeign(t.Context(), c.inventory, set)
			g.Expect(err).NotTo(HaveOccurred())
			c.inventory = addons.Merge(c.inventory, addons.InventoryOf(set.Wanted()))
			g.Expect(c.session.Addons.Apply(t.Context(), set)).To(Succeed())
		}
	})
}

// observe compares a rendering with the cluster, whatever was found before, and says which objects are to be applied and which
// are to go.
func (c *cluster) observe(t *testing.T, r rendering) (drifted, obsolete []string) {
	t.Helper()
	g := NewWithT(t)
	c.clock.Step(time.Hour)
	addons, known := c.session.Addons.Observe(t.Context(), c.inventory, r.addons).Get()
	g.Expect(known).To(BeTrue())
	probe, known := c.session.Addons.Probe(t.Context(), c.inventory, r.addons.Probe, r.identity, true).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(slices.Concat(addons.CCM.Foreign, addons.CSI.Foreign, probe.Set.Foreign)).To(BeEmpty())
	for _, ref := range slices.Concat(addons.CCM.Drifted, addons.CSI.Drifted, probe.Set.Drifted) {
		drifted = append(drifted, ref.String())
	}
	for _, ref := range addons.Obsolete {
		obsolete = append(obsolete, ref.String())
	}
	return drifted, obsolete
}

// prune does what the controller does with objects that are not wanted any more, and says what was written.
func (c *cluster) prune(t *testing.T, r rendering) []string {
	t.Helper()
	g := NewWithT(t)
	var wanted []*unstructured.Unstructured
	for _, set := range r.sets() {
		wanted = append(wanted, set.Wanted()...)
	}
	obsolete := addons.Subtract(c.inventory, addons.InventoryOf(wanted))
	written := writesOf(g, c.user, func() { g.Expect(c.session.Addons.Prune(t.Context(), obsolete)).To(Succeed()) })
	c.inventory = addons.Subtract(c.inventory, obsolete)
	return written
}
