//go:build commandlines

package releases_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation/simtest"
)

const (
	apiServer, scheduler = "kube-apiserver", "kube-scheduler"
	// nextFolder names what hack/binaries.sh built of a release of the next minor.
	nextFolder = "TEST_NEXT_RELEASE"
	// gates are those of CSI migration, as installers wrote them in all minors from 1.21 on.
	gates = "CSIMigration=true,CSIMigrationOpenStack=true"
)

// A component ends at once when it is started with a flag, a gate or the name of a controller that it does not know. So the real
// programs of OpenStack's last in-tree minor run with every command line that the model of a migration gives them, and those of
// the next minor with what is left: the control plane is upgraded with it.
func TestCommandLinesOfAMigration(t *testing.T) {
	for _, protocol := range []ucv1.HandoverProtocolChoice{ucv1.FencedProtocolChoice, ucv1.LeaderMigrationProtocolChoice} {
		t.Run(string(protocol), func(t *testing.T) {
			release := newRelease(t)
			c := newCloud(t)
			lines := c.migrate(t, release.version, protocol)
			release.allowLocks(t)
			for number, line := range lines[simulation.KCMName] {
				t.Run(fmt.Sprintf("%s-%d", simulation.KCMName, number), func(t *testing.T) { release.expectManager(t, line) })
			}
			for number, line := range lines[scheduler] {
				t.Run(fmt.Sprintf("%s-%d", scheduler, number), func(t *testing.T) { release.expectScheduler(t, line) })
			}
			for number, line := range lines[apiServer] {
				t.Run(fmt.Sprintf("%s-%d", apiServer, number), func(t *testing.T) { release.expectServer(t, line) })
			}
			t.Run("the next minor", func(t *testing.T) {
				next := newReleaseIn(t, os.Getenv(nextFolder))
				NewWithT(t).Expect(observation.MinorOf(next.version)).To(Equal(observation.MinorOf(release.version) + 1))
				next.expectManager(t, last(lines[simulation.KCMName]))
				next.expectScheduler(t, last(lines[scheduler]))
				next.expectServer(t, last(lines[apiServer]))
			})
		})
	}
}

func last(lines []commandLine) commandLine { return lines[len(lines)-1] }

// commandLine is what a component is started with, by the flags' names.
type commandLine map[string]string

func (c commandLine) flags() []string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		flags = append(flags, "--"+name+"="+c[name])
	}
	return flags
}

// before is how a control plane with OpenStack in-tree is started.
func (c *cloud) before(t *testing.T) map[string]commandLine {
	t.Helper()
	config := c.config(t)
	return map[string]commandLine{
		simulation.KCMName: {
			"cloud-provider": "openstack", "cloud-config": config, "cluster-name": "kubernetes", "allocate-node-cidrs": "true",
			"cluster-cidr": "10.244.0.0/16", "configure-cloud-routes": "false", "controllers": "*,bootstrapsigner,tokencleaner",
			"feature-gates": gates + ",RotateKubeletServerCertificate=true", "leader-elect": "true",
		},
		apiServer: {"cloud-provider": "openstack", "cloud-config": config, "feature-gates": gates},
		scheduler: {"feature-gates": gates},
	}
}

// migrate plays a migration in the model, with what the catalogue says of OpenStack, and returns the command lines that each
// component had, in order.
func (c *cloud) migrate(t *testing.T, version string, protocol ucv1.HandoverProtocolChoice) map[string][]commandLine {
	t.Helper()
	g := NewWithT(t)
	facts, known := provider.New().Facts("openstack", version)
	g.Expect(known).To(BeTrue())
	world := simtest.NewWorld(rand.New(rand.NewPCG(1, 1)), simtest.Scenario{
		Name: "openstack", Version: version, Services: 1, Pools: []simtest.Pool{{Name: "workers", Replicas: 1}},
		Beside:    map[string]ucv1.ComponentOwnership{apiServer: ucv1.OursComponent, scheduler: ucv1.OursComponent},
		Configure: func(cluster *ucv1.Cluster) { cluster.Spec.Handover.Protocol = protocol },
	})
	lines := map[string][]commandLine{}
	for name, line := range c.before(t) {
		workload := world.ControlPlane.Workload(name)
		g.Expect(workload).NotTo(BeNil(), name)
		workload.Arguments = line
		for _, pod := range workload.Pods {
			pod.Arguments = line
		}
		lines[name] = []commandLine{line}
	}
	start := simtest.StartOf(world)
	// The Nodes, volumes and classes of the model stay those of its own cloud.
	model := start.Observation.Provider.Value()
	facts.ProviderIDPrefix, facts.ProviderIDForm = model.ProviderIDPrefix, model.ProviderIDForm
	facts.CSIDrivers, facts.DefaultClass, facts.RegisteredBy = model.CSIDrivers, model.DefaultClass, model.RegisteredBy
	start.Observation.Provider = observation.Known(facts)
	future := simulation.Foresee(start)
	g.Expect(future.Last.Step).To(Equal(ucv1.StepFinished), "%+v", future.Last)
	for _, pass := range future.Passes {
		c.writeLock(t, pass)
		c.note(lines, pass.Components)
	}
	c.note(lines, future.After.Components)
	return lines
}

func (c *cloud) note(lines map[string][]commandLine, components []observation.Component) {
	for _, component := range components {
		name := component.Container
		former, ours := lines[name]
		if !ours {
			continue
		}
		line := commandLine(maps.Clone(component.Arguments.Flags))
		if file, armed := line["leader-migration-config"]; armed {
			line["leader-migration-config"] = filepath.Join(c.dir, filepath.Base(file))
		}
		if !maps.Equal(line, last(former)) {
			lines[name] = append(former, line)
		}
	}
}

// writeLock writes the file that a pass mounts.
func (c *cloud) writeLock(t *testing.T, pass simulation.Foreseen) {
	t.Helper()
	if action := pass.Decision.Action; action != nil && action.Arguments != nil && action.Arguments.Mount != nil {
		file := action.Arguments.Mount
		NewWithT(t).Expect(os.WriteFile(filepath.Join(c.dir, file.Key), []byte(file.Data), 0o600)).To(Succeed())
	}
}

// started are the cloud loops that a KCM says it started.
func started(log string) []string {
	var loops []string
	for _, loop := range []string{"cloud-node-lifecycle", "route", "service"} {
		if strings.Contains(log, fmt.Sprintf("Started %q", loop)) {
			loops = append(loops, loop)
		}
	}
	return loops
}
