package dashboard

import (
	"context"
	"fmt"
	"os"
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func desktop() look { return look{960, 600, "light"} }

func TestDashboard(t *testing.T) {
	c := managed(t)
	c.fill(t)
	for name, test := range map[string]func(*testing.T, *cluster){
		"it looks as in the documents, and axe-core finds nothing": looks,
		"the keyboard reaches everything":                          keyboard,
		"a change comes without a reload":                          changes,
		"it reads without JavaScript":                              withoutScript,
		"a lost connection is said":                                lost,
		"a kind that may not be listed is said":                    forbidden,
		"an address works once":                                    once,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

func looks(t *testing.T, c *cluster) {
	for name, how := range map[string]look{"light": desktop(), "dark": {960, 600, "dark"}, "phone": {390, 844, "light"}} {
		t.Run(name, func(t *testing.T) {
			page := opened(t, c.dashboard(t, c.environment.KubeConfig), how)
			page.ready()
			page.visit("/")
			page.compare("fleet-"+name, "body")
			page.compare("waves-"+name, "#migrations article")
			page.visit("/clusters/user-gamma/gamma")
			page.compare("cluster-"+name, "body")
			page.compare("steps-"+name, "#steps")
			for _, path := range []string{
				"/", "/clusters/user-gamma/gamma", "/clusters/user-zeta/zeta", "/clusters/user-delta/delta", "/runbooks/BlockedMachines",
				"/clusters/no/such", "/no-such-page",
			} {
				page.visit(path)
				evaluate[chromedp.Void](page, "for (const d of document.querySelectorAll('details')) d.open = true")
				NewWithT(t).Expect(page.violations()).To(BeEmpty(), "%s, %s", name, path)
				NewWithT(t).Expect(evaluate[int64](page, "document.documentElement.scrollWidth")).To(BeNumerically("<=", how.width),
					"%s fits", path)
			}
		})
	}
}

// violations that axe-core calls serious or critical.
func (o *tab) violations() []string {
	o.t.Helper()
	axe, err := os.ReadFile(root + "/_output/axe-core/axe.min.js")
	NewWithT(o.t).Expect(err).NotTo(HaveOccurred(), "make test-dashboard fetches it")
	evaluate[chromedp.Void](o, string(axe))
	return evaluate[[]string](o, `axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).join("; ")))`)
}

func keyboard(t *testing.T, c *cluster) {
	g := NewWithT(t)
	page := opened(t, c.dashboard(t, c.environment.KubeConfig), desktop())
	page.ready()
	page.visit("/")
	reached := func() string {
		page.run(chromedp.KeyEvent(kb.Tab))
		return evaluate[string](page, "document.activeElement.id || document.activeElement.className || document.activeElement.textContent")
	}
	g.Expect(reached()).To(Equal("skip"))
	g.Expect(evaluate[bool](page, "document.activeElement.getBoundingClientRect().left >= 0")).To(BeTrue(), "it can be seen")
	for _, want := range []string{"filter-text", "filter-provider", "filter-state", "filter-apply"} {
		g.Expect(reached()).To(Equal(want))
	}
	page.run(chromedp.Focus("#filter-text"), chromedp.KeyEvent("user-gamma"+kb.Enter))
	page.eventually("#clusters", "1 to 1 of 1 that are selected")
	page.run(chromedp.Focus(`#clusters a[href="/clusters/user-gamma/gamma"]`), chromedp.KeyEvent(kb.Enter))
	page.eventually("h1", "user-gamma/gamma")
}

func changes(t *testing.T, c *cluster) {
	g := NewWithT(t)
	page := opened(t, c.dashboard(t, c.environment.KubeConfig), desktop())
	page.ready()
	page.visit("/clusters/user-gamma/gamma")
	page.eventually("#now", "BlockedMachines")
	evaluate[chromedp.Void](page, `window.sameDocument = true; document.querySelector("#runbook").open = true;
		document.querySelector("#runbook summary").focus(); scrollTo(0, 200)`)
	gamma := &ucv1.Cluster{}
	g.Expect(c.Get(t.Context(), client.ObjectKey{Namespace: "user-gamma", Name: "gamma"}, gamma)).To(Succeed())
	before := gamma.DeepCopy()
	meta.FindStatusCondition(gamma.Status.Conditions, ucv1.StalledCondition).Message = "It says <b>something</b> new."
	g.Expect(c.Status().Update(t.Context(), gamma)).To(Succeed())
	page.eventually("#now", "It says <b>something</b> new.")
	g.Expect(evaluate[bool](page, "window.sameDocument")).To(BeTrue(), "it was not loaded again")
	g.Expect(evaluate[bool](page, `document.querySelector("#runbook").open && scrollY === 200`)).To(BeTrue(), "nothing jumps")
	before.ResourceVersion = gamma.ResourceVersion
	g.Expect(c.Status().Update(t.Context(), before)).To(Succeed())
	page.eventually("#now", "These cannot be rolled")

	page.visit("/")
	page.run(chromedp.Focus("#filter-text"), chromedp.KeyEvent("half a na"))
	meta.FindStatusCondition(gamma.Status.Conditions, ucv1.StalledCondition).Message = "Someone is typing."
	gamma.ResourceVersion = before.ResourceVersion
	g.Expect(c.Status().Update(t.Context(), gamma)).To(Succeed())
	page.eventually("#wrong", "Someone is typing.")
	g.Expect(evaluate[string](page, "document.activeElement.value")).To(Equal("half a na"), "what is being typed stays")
	before.ResourceVersion = gamma.ResourceVersion
	g.Expect(c.Status().Update(t.Context(), before)).To(Succeed())
}

// touch changes something that is shown nowhere.
func (c *cluster) touch(t *testing.T) {
	t.Helper()
	g, one := NewWithT(t), &ucv1.Cluster{}
	g.Expect(c.Get(t.Context(), client.ObjectKey{Namespace: "user-gamma", Name: "gamma"}, one)).To(Succeed())
	one.Annotations = map[string]string{"touched": one.ResourceVersion}
	g.Expect(c.Update(t.Context(), one)).To(Succeed())
}

func withoutScript(t *testing.T, c *cluster) {
	g := NewWithT(t)
	page := opened(t, c.dashboard(t, c.environment.KubeConfig), desktop())
	page.ready()
	_, err := chromedp.Call(page.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	g.Expect(err).NotTo(HaveOccurred())
	page.run(chromedp.Reload(), chromedp.WaitReady("#reload"))
	text := within(page, chromedp.OuterHTML(chromedp.CSS("body")))
	g.Expect(text).To(And(ContainSubstring("BlockedMachines"), ContainSubstring("Waves of openstack"), ContainSubstring("of 49")))
	page.run(chromedp.Click(chromedp.CSS("#wrong tbody a")), chromedp.WaitReady("#timeline"))
}

func lost(t *testing.T, c *cluster) {
	g := NewWithT(t)
	wire, kubeconfig := c.kubeconfigOver(t)
	page := opened(t, c.dashboard(t, kubeconfig), desktop())
	page.ready()
	page.eventually("title", "Cloud loops unattended")
	wire.cut()
	page.eventually("#notices", "does not answer")
	page.eventually("#summary", "Cannot look at everything. 49 Clusters")
	page.eventually("title", "Cannot look")
	g.Expect(page.violations()).To(BeEmpty())
	wire.join(t)
	page.eventually("title", "Cloud loops unattended")
	g.Expect(evaluate[string](page, "document.querySelector('#notices').textContent.trim()")).To(BeEmpty())
}

func forbidden(t *testing.T, c *cluster) {
	g := NewWithT(t)
	user, err := c.environment.AddUser(envtest.User{Name: "visitor"}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := user.KubeConfig()
	g.Expect(err).NotTo(HaveOccurred())
	page := opened(t, c.dashboard(t, kubeconfig), desktop())
	page.eventually("#notices", "You may not list and watch the Clusters")
	page.eventually("#notices", "You may not list and watch the FleetMigrations")
	page.eventually("#summary", "Cannot look: no Cluster was read.")
	page.eventually("#wrong", "What is wrong now is not known.")
}

func once(t *testing.T, c *cluster) {
	address := c.dashboard(t, c.environment.KubeConfig)
	page := opened(t, address, desktop())
	page.ready()
	g := NewWithT(t)
	g.Expect(evaluate[string](page, "location.href")).NotTo(ContainSubstring("token"))
	g.Expect(evaluate[string](page, "document.cookie")).To(BeEmpty(), "scripts cannot read it")
	opened(t, address, desktop()).eventually("h1", "Used already")
}

// TestFirstPaintOfManyClusters prints how long it took, and passes or fails by what is there.
func TestFirstPaintOfManyClusters(t *testing.T) {
	c := managed(t)
	c.fill(t)
	members := &ucv1.ClusterList{}
	fixture(t, "members.yaml", members)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := range 4951 {
		group.Go(func() error { return c.another(ctx, &members.Items[i%len(members.Items)], i) })
	}
	NewWithT(t).Expect(group.Wait()).To(Succeed())
	page := opened(t, c.dashboard(t, c.environment.KubeConfig), desktop())
	page.eventually("#clusters", "of 5000")
	for _, state := range []string{"decided for it", "again"} {
		if state != "again" {
			c.touch(t)
		}
		page.visit("/")
		page.eventually("#clusters", "1 to 100 of 5000")
		paint := evaluate[float64](page, `new Promise(painted => new PerformanceObserver(list => painted(
			list.getEntriesByName("first-contentful-paint")[0].startTime)).observe({type: "paint", buffered: true}))`)
		size := evaluate[int](page, "document.documentElement.outerHTML.length")
		t.Logf("first paint with 5,000 Clusters, %s: %.0f ms, %d KB", state, paint, size>>10)
	}
}

// another Cluster like one of the fixtures, in its namespace.
func (c *cluster) another(ctx context.Context, like *ucv1.Cluster, number int) error {
	one := &ucv1.Cluster{Spec: like.Spec}
	one.Namespace, one.Name, one.Labels = like.Namespace, fmt.Sprintf("%s-%d", like.Name, number), like.Labels
	if err := c.Create(ctx, one); err != nil {
		return err
	}
	like.Status.DeepCopyInto(&one.Status)
	return c.Status().Update(ctx, one)
}
