package simtest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

var (
	seedFlag  = flag.Int("seed", -1, "replay one seed of the property test and print its transcript")
	staleFlag = flag.String("stale", "", "parts that are stale without another look before acting, with commas; all: any of them")
	seedsFlag = flag.Int("seeds", 2000, "number of seeds of the property test")
)

// TestEverySeedKeepsTheRules runs thousands of random worlds with faults. A failing seed is printed; replay it with
// go test ./pkg/simulation/simtest -run TestEverySeedKeepsTheRules -v -args -seed N.
func TestEverySeedKeepsTheRules(t *testing.T) {
	t.Parallel()
	if *seedFlag >= 0 {
		transcript, err := Run(uint64(*seedFlag), tested(uint64(*seedFlag)))
		t.Log("\n" + transcript.String())
		NewWithT(t).Expect(checkRandom(transcript, err)).To(Succeed())
		return
	}
	const workers = 4
	seeds := *seedsFlag
	if testing.Short() {
		seeds /= 10
	}
	var wait sync.WaitGroup
	failures := make([]error, workers)
	for worker := range workers {
		wait.Go(func() {
			for seed := worker; seed < seeds && failures[worker] == nil; seed += workers {
				var unnamed error
				transcript, err := Run(uint64(seed), asked(tested(uint64(seed)), &unnamed))
				if err := cmp.Or(checkRandom(transcript, err), unnamed); err != nil {
					failures[worker] = fmt.Errorf("replay with -args -seed %d: %w\n%s", seed, err, transcript)
				}
			}
		})
	}
	wait.Wait()
	for _, err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
}

// tested is the scenario of a seed. With the flag, the controller acts on stale observations: that breaks rules.
func tested(seed uint64) Scenario {
	s := randomScenario(seed)
	if *staleFlag == "" {
		return s
	}
	s.Faults.Stale, s.Faults.Cached, s.Faults.Confirms = 0.9, strings.Split(*staleFlag, ","), false
	if *staleFlag == "all" {
		s.Faults.Cached = CachedParts()
	}
	return s
}

// randomCache has the controller see the world as watches serve it, and look again, live, before it acts.
func randomCache(rng *rand.Rand, s *Scenario) {
	if rng.IntN(3) == 0 {
		s.Faults.Stale, s.Faults.Cached, s.Faults.Confirms = rng.Float64(), CachedParts(), true
	}
}

// asked looks at every decision: what its messages name is there as data, too.
func asked(scenario Scenario, unnamed *error) Scenario {
	killAt := scenario.KillAt
	scenario.KillAt = func(passes int, point KillPoint, decision migration.Decision) bool {
		*unnamed = cmp.Or(*unnamed, messages.Check(decision.Calls(), decision.Wait, saidBeside(decision)...))
		return killAt != nil && killAt(passes, point, decision)
	}
	return scenario
}

// saidBeside what is waited for: what is done, that a deletion waits, and how the loops are attended.
func saidBeside(d migration.Decision) []string {
	said := []string{d.Leaving}
	if d.Next() != nil {
		said = append(said, d.Next().Why)
	}
	if d.Attendance != nil {
		said = append(said, d.Attendance.Message)
	}
	return said
}

// checkRandom: every random world has people who do what the messages say, so each of them ends well.
func checkRandom(transcript *Transcript, err error) error {
	if err == nil && transcript.Outcome.Step != ucv1.StepFinished {
		err = fmt.Errorf("rule 1: ended at step %s: %s", transcript.Outcome.Step, transcript.Outcome.Message)
	}
	return err
}

// randomScenario draws a world from the seed.
func randomScenario(seed uint64) Scenario {
	rng := rand.New(rand.NewPCG(seed, 2))
	s := Scenario{
		Name: "random", Services: rng.IntN(3), KCMReplicas: 1 + rng.IntN(3),
		Version:       []string{"v1.25.16", "v1.27.3", "v1.28.0", "v1.30.14"}[rng.IntN(4)],
		WebhookMisses: rng.IntN(3) == 0, FlipUnseen: rng.IntN(4) == 0,
		Traits: simulation.Traits{WithoutOperatingSystemManager: rng.IntN(5) == 0, LeasesAreFree: rng.IntN(3) == 0},
		Faults: Faults{
			Until: 40 + rng.IntN(200), Unknown: 0.04 * rng.Float64(), Kill: 0.05 * rng.Float64(), Crash: 0.03 * rng.Float64(),
			Evict: 0.03 * rng.Float64(), Vanish: 0.02 * rng.Float64(), KubeletDown: 0.015 * rng.Float64(), Hang: 0.03 * rng.Float64(),
			NotReady: 0.03 * rng.Float64(), Drift: 0.02 * rng.Float64(),
		},
	}
	if rng.IntN(4) == 0 {
		s.Faults = Faults{}
	}
	if rng.IntN(5) == 0 {
		s.Gates = map[string]bool{"CSIMigration": true, "CSIMigrationSimcloud": true}
	}
	randomBeside(rand.New(rand.NewPCG(seed, 5)), &s)
	s.KubeletsKnowProviderID = rand.New(rand.NewPCG(seed, 6)).IntN(3) == 0
	for i := range rng.IntN(4) {
		s.Pools = append(s.Pools, Pool{Name: fmt.Sprintf("pool%d", i), Replicas: rng.IntN(4), Paused: rng.IntN(5) == 0})
	}
	if rng.IntN(6) == 0 {
		s.Pools = append(s.Pools, Pool{Name: "elsewhere", Namespace: "team", Replicas: 1})
	}
	if rng.IntN(5) == 0 {
		s.Standalone = []string{"alone"}
	}
	if rng.IntN(6) == 0 {
		s.Strangers = []string{"edge"}
	}
	s.Configure = randomSpec(rng)
	if !s.LeasesAreFree && rng.IntN(3) == 0 {
		randomLock(rand.New(rand.NewPCG(seed, 11)), &s)
	}
	s.CloudNodeLater = rand.New(rand.NewPCG(seed, 3)).IntN(3) == 0
	s.Interventions = helpfulPeople(rng, s)
	if rng.IntN(2) == 0 {
		s.Interventions, s.MaxTicks = append(changedMinds(rng), s.Interventions...), 4000
	}
	randomRoll(rand.New(rand.NewPCG(seed, 4)), &s)
	s.Faults.Meddle = 0.02 * rng.Float64()
	freed := rand.New(rand.NewPCG(seed, 7))
	s.LeftAlone = freed.IntN(4) == 0
	s.HostNetwork, s.Faults.Late, s.Faults.Refuse = freed.IntN(3) == 0, 0.5*freed.Float64(), 0.3*freed.Float64()
	s.Attentive = true
	randomJoins(rand.New(rand.NewPCG(seed, 8)), &s)
	randomBootstraps(rand.New(rand.NewPCG(seed, 7)), &s)
	randomCache(rand.New(rand.NewPCG(seed, 9)), &s)
	s.Classes = randomClasses(rng)
	randomNames(rand.New(rand.NewPCG(seed, 10)), &s)
	if rng.IntN(5) == 0 {
		s.Interventions = append(s.Interventions, Intervention{
			Name: "makes a class of another driver the default",
			When: fromStep(ucv1.StepFinalize),
			Do:   func(w *World) { MakeDefault(w, "chosen") },
		})
	}
	return s
}

// randomLock draws in which minors the managers have the lock. The API servers of an owner have no gates that would change.
func randomLock(rng *rand.Rand, s *Scenario) {
	if len(s.Gates) > 0 || rng.IntN(2) == 0 {
		byLock(s)
		return
	}
	acrossMinors(s)
	s.APIServers, s.Owner = 1+rng.IntN(3), simulation.Owner(rng.IntN(2))
}

// randomBeside draws whose kube-apiserver and kube-scheduler are, where they are Deployments.
func randomBeside(rng *rand.Rand, s *Scenario) {
	if rng.IntN(3) > 0 {
		return
	}
	s.Beside = map[string]ucv1.ComponentOwnership{}
	for _, name := range []string{"kube-apiserver", "kube-scheduler"} {
		if drawn := rng.IntN(4); drawn < 3 {
			s.Beside[name] = []ucv1.ComponentOwnership{simulation.Unmentioned, ucv1.OursComponent, ucv1.ForeignComponent}[drawn]
		}
	}
}

// randomRoll draws what the canary and the breaker meet: bounds of rollouts, a cloud that stops answering, an owner who wants
// minReadySeconds for himself.
func randomRoll(rng *rand.Rand, s *Scenario) {
	for i := range s.Pools {
		s.Pools[i].Surge, s.Pools[i].Unavailable = rng.IntN(3), rng.IntN(3)
	}
	if s.Faults.Until > 0 {
		s.Faults.Cloud = 0.02 * rng.Float64()
	}
	kind := []ucv1.CanaryKind{"", ucv1.CanaryMachine, ucv1.CanaryMachineDeployment, ucv1.NoCanary}[rng.IntN(4)]
	configure := s.Configure
	s.Configure = func(c *ucv1.Cluster) {
		configure(c)
		c.Spec.Rollout.Canary = kind
	}
	if len(s.Pools) > 0 {
		s.Interventions = append(s.Interventions, meddlers(rng, s.Pools[0].Name)...)
	}
}

// randomJoins draws how the machine-controller finds the Nodes of Machines, whether its webhook asks the cloud, and how often the
// operating-system-manager has to write again what they boot with.
func randomJoins(rng *rand.Rand, s *Scenario) {
	s.LinksLate, s.WebhookAsks = rng.IntN(3) == 0, rng.IntN(3) == 0
	if s.LinksLate {
		s.MaxTicks = 6000 // Each Node may be found only after five minutes.
	}
	if rng.IntN(3) == 0 {
		s.JoinTimeout = time.Duration(20+rng.IntN(150)) * simulation.Tick
	}
	if rng.IntN(3) == 0 {
		s.AnnotatedEvery = time.Duration(20+rng.IntN(100)) * simulation.Tick
	}
	randomRefusals(rng, s)
	s.DrainsNotReady = rng.IntN(3) == 0
	if len(s.Pools) > 0 && rng.IntN(3) == 0 {
		s.Pools[rng.IntN(len(s.Pools))].RewritesAfter = time.Duration(1+rng.IntN(900)) * simulation.Tick
	}
}

// randomBootstraps draws how the operating-system-manager writes what new Machines boot with, and whether that can be read.
func randomBootstraps(rng *rand.Rand, s *Scenario) {
	s.SlowBootstrap = time.Duration(rng.IntN(4)) * simulation.Tick
	switch {
	case rng.IntN(4) == 0:
		s.UnreadBootstrap = []observation.BootstrapKubelet{
			observation.BootstrapNotTold, observation.BootstrapRefused, observation.BootstrapMissing,
		}[rng.IntN(3)]
	case rng.IntN(4) == 0 && len(s.Pools) > 0 && len(s.Interventions) == 0:
		s.InTreeProfiles, s.Interventions = []string{s.Pools[rng.IntN(len(s.Pools))].Name}, []Intervention{fixesProfiles()}
	}
}

// meddlers change a MachineDeployment in the middle of its roll.
func meddlers(rng *rand.Rand, name string) []Intervention {
	inTheMiddle := func(w *World) bool { return halfRolled(w) || Finished(w) || RolledBack(w) }
	switch rng.IntN(10) {
	case 0:
		return []Intervention{
			{Name: "sets minReadySeconds", When: fromStep(ucv1.StepRoll), Do: func(w *World) { TakeMinReady(w, name, rng.IntN(3)) }},
			{Name: "leaves minReadySeconds alone", When: called, Do: func(w *World) { GiveMinReadyUp(w, name) }},
		}
	case 1:
		return []Intervention{
			{Name: "sets minReadySeconds in the middle", When: inTheMiddle, Do: func(w *World) { TakeMinReady(w, name, rng.IntN(3)) }},
			{Name: "leaves minReadySeconds alone", When: called, Do: func(w *World) { GiveMinReadyUp(w, name) }},
		}
	case 2:
		return []Intervention{
			{Name: "pauses in the middle", When: inTheMiddle, Do: func(w *World) { Pause(w, name, true) }},
			{Name: "unpauses", When: called, Do: func(w *World) { Pause(w, name, false) }},
		}
	case 3:
		return []Intervention{
			{Name: "changes the template in the middle", When: inTheMiddle, Do: func(w *World) { OwnRevision(w, name, true) }},
		}
	case 4:
		return []Intervention{{Name: "scales down in the middle", When: inTheMiddle, Do: func(w *World) { Scale(w, name, 1) }}}
	case 5:
		return []Intervention{
			{Name: "pauses and annotates in the middle", When: inTheMiddle, Do: func(w *World) { Pause(w, name, true); Annotate(w, name) }},
			{Name: "unpauses", When: called, Do: func(w *World) { Pause(w, name, false) }},
		}
	}
	return nil
}

// randomClasses are none at all, or some of which any may be the default.
func randomClasses(rng *rand.Rand) (classes []simulation.Class) {
	for _, class := range []simulation.Class{
		class("standard", simulation.InTreePlugin, true), class("fast", simulation.InTreePlugin, true),
		class("files", "csi.elsewhere", true),
	} {
		if rng.IntN(2) == 0 {
			class.Default = rng.IntN(3) > 0
			classes = append(classes, class)
		}
	}
	return classes
}

func randomSpec(rng *rand.Rand) func(*ucv1.Cluster) {
	budgets := []*intstr.IntOrString{
		nil,
		new(intstr.FromInt32(1)),
		new(intstr.FromInt32(2)),
		new(intstr.FromString("50%")),
		new(intstr.FromString("100%")),
	}
	budget := budgets[rng.IntN(len(budgets))]
	order := []ucv1.RolloutOrder{"", ucv1.SmallestFirst, ucv1.Alphabetical}[rng.IntN(3)]
	return func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent, c.Spec.Rollout.Order = budget, order }
}

// helpfulPeople do what the conditions ask for, and some change things in the middle of it all.
func helpfulPeople(rng *rand.Rand, s Scenario) []Intervention {
	var people []Intervention
	switch {
	case rng.IntN(6) == 0 && len(s.Pools) > 0:
		people = append(people, Intervention{
			Name: "scales the first pool in the middle of the roll", When: fromStep(ucv1.StepRoll),
			Do: func(w *World) { Scale(w, s.Pools[0].Name, s.Pools[0].Replicas+1) },
		})
	case rng.IntN(6) == 0:
		people = append(people, Intervention{
			Name: "adds a pool in the middle of the hand-over", When: fromStep(ucv1.StepHandover),
			Do: func(w *World) { AddPool(w, Pool{Name: "late", Replicas: 2}) },
		})
	case rng.IntN(6) == 0:
		people = append(people, Intervention{
			Name: "replaces the Cluster without its annotations", When: fromStep(ucv1.StepHandover), Do: LoseAnnotations,
		})
	}
	contention := rng.IntN(16)
	if contention == 0 && len(people) == 0 {
		people = append(people, contended(fromStep(ucv1.StepMachineController))...)
	}
	if len(s.Standalone) > 0 || hasPaused(s.Pools) {
		people = append(people, Intervention{
			Name: "unpauses and deletes what the condition names", When: Stalled(ucv1.BlockedMachinesReason),
			Do: func(w *World) { Unpause(w); DeleteStandaloneMachines(w) },
		})
	}
	if len(s.Strangers) > 0 {
		people = append(people, Intervention{
			Name: "deletes the Node without a Machine", When: Stalled(ucv1.NodesNotInitializedReason), Do: DeleteStrangers,
		})
	}
	if contention == 1 {
		people = append(people, contended(Finished)...)
	}
	return people
}

// changedMinds ask for the rollback at any time, and for the migration again when it is rolled back, or too late.
func changedMinds(rng *rand.Rand) []Intervention {
	at := time.Duration(rng.IntN(200)) * simulation.Tick
	var people []Intervention
	if rng.IntN(5) == 0 {
		people = append(people, Intervention{Name: "wants the addons gone", Do: func(w *World) {
			Spec(w, func(spec *ucv1.ClusterSpec) { spec.Handover.RollbackAddons = true })
		}})
	}
	return append(people,
		Intervention{Name: "asks for the rollback", When: After(at), Do: func(w *World) { Rollback(w, true) }},
		Intervention{Name: "asks for the migration again", Do: func(w *World) { Rollback(w, false) }, When: func(w *World) bool {
			return RolledBack(w) || Stalled(ucv1.RollbackRefusedReason)(w)
		}},
	)
}

// contended is someone who gives the cloud loops back to KCM, and then does what the condition says.
func contended(when func(*World) bool) []Intervention {
	loud := map[string]string{"cloud-provider": "simcloud", "controllers": "*"}
	return []Intervention{
		{Name: "puts KCM's old arguments back", When: when, Lawless: true, Do: func(w *World) { ChangeKCM(w, "gitops", loud) }},
		{Name: "switches the loops off again", When: Stalled(ucv1.CloudLoopsContendedReason), Do: func(w *World) {
			ChangeKCM(w, "gitops", map[string]string{"cloud-provider": "external"})
		}},
	}
}

// fromStep also comes when the step is over: a rollback may have taken the time in between.
func fromStep(step ucv1.Step) func(*World) bool {
	return func(w *World) bool {
		at := position(w.last.Step)
		return at >= position(step) && at <= position(ucv1.StepFinished) // One that returns may be past it.
	}
}

func hasPaused(pools []Pool) bool {
	for _, pool := range pools {
		if pool.Paused {
			return true
		}
	}
	return false
}
