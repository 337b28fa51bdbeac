package dashboard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files again")

// noon is when the fixtures are looked at. The tests of internal/cli/report and internal/cli/fleet write them.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func fixture(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(yaml.UnmarshalStrict(text, into)).To(Succeed())
}

// everything that the fixtures have, read just now.
func everything(t testing.TB) *seen {
	list, members, migrations := &ucv1.ClusterList{}, &ucv1.ClusterList{}, &ucv1.FleetMigrationList{}
	fixture(t, "clusters.yaml", list)
	fixture(t, "members.yaml", members)
	fixture(t, "migrations.yaml", migrations)
	read := &seen{host: "https://management.example", namespaces: map[string]labels.Set{}, kinds: map[string]looked{
		clusters: {synced: true}, fleetMigrations: {synced: true}, namespaces: {}, probed: {},
	}}
	read.clusters = append(list.Items, members.Items...)
	for i := range migrations.Items {
		read.migrations = append(read.migrations, &migrations.Items[i])
	}
	return read
}

func pagesOf(t testing.TB, read *seen) *pages {
	t.Helper()
	p, err := newPages(noon, func(context.Context) *seen { return read }, func() uint64 { return 0 })
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return p
}

// got is what a page answers.
func got(t testing.TB, read *seen, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	pagesOf(t, read).handler(newBell()).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func TestPagesAreThoseThatWereRead(t *testing.T) {
	for name, path := range map[string]string{
		"fleet": "/", "needs-you": "/?state=NeedsYou", "stalled": "/clusters/user-gamma/gamma", "hand-over": "/clusters/user-zeta/zeta",
		"unattended": "/clusters/user-psi/psi", "findings": "/clusters/user-delta/delta", "no-such-cluster": "/clusters/user-x/x",
		"runbook": "/runbooks/BlockedMachines",
	} {
		t.Run(name, func(t *testing.T) {
			_, page := got(t, everything(t), path)
			expectGolden(t, name+".html", page)
		})
	}
}

func expectGolden(t *testing.T, name, page string) {
	t.Helper()
	g, path := NewWithT(t), filepath.Join("testdata", name)
	if *update {
		g.Expect(os.WriteFile(path, []byte(page), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "go test ./internal/cli/dashboard -update writes it")
	g.Expect(page).To(Equal(string(want)), "go test ./internal/cli/dashboard -update writes %s again", path)
}

func TestAClusterThatWasNotSeenMayBeThere(t *testing.T) {
	g, read := NewWithT(t), everything(t)
	code, page := got(t, read, "/clusters/user-x/x")
	g.Expect(code).To(Equal(http.StatusNotFound))
	g.Expect(page).To(ContainSubstring("There is no Cluster user-x/x."))
	read.kinds[clusters] = looked{synced: true, err: errors.New("timeout")}
	_, page = got(t, read, "/clusters/user-x/x")
	g.Expect(page).To(And(ContainSubstring("Whether it is there is not known."), Not(ContainSubstring("There is no Cluster"))))
}

// Tenants have a say in messages.
func TestWhatAStatusSaysIsText(t *testing.T) {
	g, read := NewWithT(t), everything(t)
	const evil = "<script>alert(1)</script>\u202eevil\x1b[31m"
	for i := range read.clusters {
		for j := range read.clusters[i].Status.Conditions {
			read.clusters[i].Status.Conditions[j].Message = evil
		}
		read.clusters[i].Status.Inventory = &ucv1.InventoryStatus{Differences: []string{evil}}
	}
	read.kinds[probed] = looked{err: errors.New(evil)}
	for _, path := range []string{"/", "/clusters/user-gamma/gamma"} {
		_, page := got(t, read, path)
		g.Expect(page).To(ContainSubstring("&lt;script&gt;alert(1)&lt;/script&gt;evil"))
		g.Expect(page).NotTo(Or(ContainSubstring("<script>"), ContainSubstring("\u202e"), ContainSubstring("\x1b")))
	}
}

func TestAFleetIsListedInPages(t *testing.T) {
	g, read := NewWithT(t), everything(t)
	one := read.clusters[0]
	read.clusters = nil
	for i := range 250 {
		one.Name = fmt.Sprintf("c%03d", i)
		one.Spec.Cloud.ProviderName = []string{"openstack", "vsphere"}[i%2]
		read.clusters = append(read.clusters, one)
	}
	for path, says := range map[string]string{
		"/":                          "<p>1 to 100 of 250</p>",
		"/?page=2":                   "<p>201 to 250 of 250</p>",
		"/?page=99":                  "<p>201 to 250 of 250</p>",
		"/?page=-1":                  "<p>1 to 100 of 250</p>",
		"/?q=c24":                    "<p>1 to 10 of 10 that are selected.",
		"/?provider=vsphere":         "<p>1 to 100 of 125 that are selected.",
		"/?provider=vsphere&page=0":  `href="/?page=1&amp;provider=vsphere#clusters"`,
		"/?state=Working&q=alpha/c0": "<p>1 to 100 of 100 that are selected.",
		"/?q=%3Cb%3E":                `value="&lt;b&gt;"`,
	} {
		_, page := got(t, read, path)
		g.Expect(page).To(ContainSubstring(says), path)
		g.Expect(strings.Count(page, `<a href="/clusters/`)).To(BeNumerically("<", 150), path)
	}
}

func TestRunbooksLeadToRunbooksOnly(t *testing.T) {
	g := NewWithT(t)
	_, page := got(t, everything(t), "/runbooks/ProvingCanary")
	g.Expect(page).To(MatchRegexp(`<a href="/runbooks/\w+">`))
	g.Expect(page).NotTo(MatchRegexp(`href="[^"]*\.md`))
	code, _ := got(t, everything(t), "/runbooks/NoSuch")
	g.Expect(code).To(Equal(http.StatusNotFound))
	code, _ = got(t, everything(t), "/runbooks/..%2fdoc.go")
	g.Expect(code).To(Equal(http.StatusNotFound))
}

// BenchmarkFleetPage is a whole page of 5,000 Clusters and 20 FleetMigrations, decided and rendered for each request.
func BenchmarkFleetPage(b *testing.B) {
	read := everything(b)
	members, fm := read.clusters[len(read.clusters)-20:], *read.migrations[0]
	read.clusters, read.migrations = nil, nil
	for i := range 5000 {
		one := members[i%len(members)]
		one.Name = fmt.Sprint(one.Name, "-", i)
		read.clusters = append(read.clusters, one)
	}
	for i := range 20 {
		one := fm
		one.Name = fmt.Sprint(fm.Name, "-", i)
		read.migrations = append(read.migrations, &one)
	}
	var code int
	var page string
	for b.Loop() {
		code, page = got(b, read, "/")
	}
	if code != http.StatusOK {
		b.Fatal(page)
	}
	b.ReportMetric(float64(len(page)), "bytes/page")
}
