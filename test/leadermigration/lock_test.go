package leadermigration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const (
	kcm = leadermigration.KCM
	ccm = leadermigration.CCM
)

// rendered is a file of a manager and the flags of 1.30 that go with it.
type rendered struct {
	file  string
	flags []leadermigration.Flag
}

// render makes what each manager gets; the flags are those for 1.30, whose binaries run here, and point to the files.
func render(t *testing.T, plan leadermigration.Plan) map[leadermigration.Component]rendered {
	t.Helper()
	g := NewWithT(t)
	artifacts, violations := leadermigration.Render(plan)
	g.Expect(leadermigration.HasErrors(violations)).To(BeFalse(), "%v", violations)
	managers := map[leadermigration.Component]rendered{}
	for manager, file := range artifacts.Files {
		path := writeFile(t, []byte(file))
		here, _ := leadermigration.Render(
			leadermigration.Plan{
				From: leadermigration.OfMinor(minor), To: leadermigration.OfMinor(minor), Provider: "simcloud", ConfigPath: path,
			},
		)
		flags := here.KCM
		if manager == ccm {
			flags = here.CCM
		}
		managers[manager] = rendered{file, flags}
	}
	return managers
}

// TestLockHoldsWhatWeSay takes each of our files through a hand-over in the KEP's order, and compares what runs under which
// lock with what Place says. The first three are what is rendered for KCM or for CCM 1.30; the last has both generations of
// names, and is rendered for a KCM and a CCM that are not here.
func TestLockHoldsWhatWeSay(t *testing.T) {
	for name, plan := range map[string]leadermigration.Plan{
		"within-1-30":       {From: leadermigration.OfMinor(30), To: leadermigration.OfMinor(30), Provider: "simcloud"},
		"from-1-29-to-1-30": {From: leadermigration.OfMinor(29), To: leadermigration.OfMinor(30), Provider: "gce"},
		"with-node-ipam":    {From: leadermigration.OfMinor(30), To: leadermigration.OfMinor(31), Provider: "gce", NodeIPAM: true},
		"both-names":        {From: leadermigration.OfMinor(27), To: leadermigration.OfMinor(28), Provider: "gce"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan.LockName = name + "-lock"
			handOver(t, newPair(t, name), plan.LockName, render(t, plan))
		})
	}
}

// handOver is KCM armed, CCM beside it, KCM gone.
func handOver(t *testing.T, p *pair, name string, managers map[leadermigration.Component]rendered) {
	t.Helper()
	g := NewWithT(t)
	locks := map[leadermigration.Component]*leadermigration.Lock{}
	for manager, r := range managers {
		lock, err := leadermigration.Parse([]byte(r.file), minor)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lock.Name).To(Equal(name))
		locks[manager] = &lock
	}
	alone := func(m leadermigration.Component) []leadermigration.Loop {
		return placed(locks[m], m, leadermigration.MainLock)
	}
	all := func(m leadermigration.Component) []leadermigration.Loop {
		return placed(locks[m], m, leadermigration.MainLock, leadermigration.MigrationLock)
	}

	hold(t, name)
	old := p.start(kcm, managers[kcm].flags...)
	old.expectRunning(alone(kcm))
	release(t, name)
	old.expectRunning(all(kcm))
	old.expectHolding(name)

	young := p.start(ccm, managers[ccm].flags...)
	young.expectRunning(alone(ccm))
	old.expectRunning(all(kcm))
	old.expectHolding(name)

	old.end()
	young.expectRunning(all(ccm))
	young.expectHolding(name)
	g.Expect(p.twice()).To(BeEmpty(), "loops that ran in both managers")
	g.Expect(all(ccm)).To(ContainElements(leadermigration.CloudLoops()), "the whole point")
}

// TestUpstreamsNamesRunTwice keeps the reason for our tables true: with the built-in default, and with the names of
// upstream's documentation, both managers run the service loop although a stranger holds the lock.
// https://kubernetes.io/docs/tasks/administer-cluster/controller-manager-leader-migration/
func TestUpstreamsNamesRunTwice(t *testing.T) {
	m, _ := leadermigration.KnownMinor(minor)
	documented := &leadermigration.Lock{
		APIVersion: "controllermanager.config.k8s.io/v1", Name: "documented", ResourceLock: leadermigration.Leases,
		Entries: []leadermigration.Entry{
			{Name: "route", Component: leadermigration.Either}, {Name: "service", Component: leadermigration.Either},
			{Name: "cloud-node-lifecycle", Component: leadermigration.Either},
		},
	}
	for name, tc := range map[string]struct {
		lock  *leadermigration.Lock
		file  bool
		twice []leadermigration.Loop
	}{
		"built-in":   {m.BuiltIn, false, []leadermigration.Loop{leadermigration.RouteLoop, leadermigration.ServiceLoop}},
		"documented": {documented, true, leadermigration.CloudLoops()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			flags := armedWith(writeFile(t, tc.lock.Marshal()))
			if !tc.file {
				flags = flags[:1]
			}
			p := newPair(t, name)
			hold(t, tc.lock.Name)
			managers := []*manager{p.start(kcm, flags...), p.start(ccm, flags...)}
			var configurations []leadermigration.Configuration
			for _, manager := range managers {
				manager.expectRunning(placed(tc.lock, manager.component, leadermigration.MainLock))
				configurations = append(configurations, configured(tc.lock, manager.component))
			}
			g.Eventually(p.twice).WithTimeout(patience).WithPolling(interval).Should(Equal(tc.twice))
			g.Expect(holderOf(t.Context(), g, tc.lock.Name)).To(Equal(stranger), "no one needs the lock for that")

			var said []leadermigration.Loop
			for _, violation := range leadermigration.Check(leadermigration.Cluster{Configurations: configurations}) {
				if violation.Rule == leadermigration.RunsOnce {
					said = violation.Loops
				}
			}
			g.Expect(said).To(Equal(tc.twice), "the check says what really happens")
		})
	}
}
