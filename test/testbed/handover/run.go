package handover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Options of a run.
type Options struct {
	// Bed that the scenarios share; its folder gets one for each scenario.
	Bed bed.Options
	// Beside is how many scenarios that are not exclusive run at once.
	Beside int
	// Absolute asks for times that depend on the machine, too.
	Absolute bool
	// Seed of what is left to chance.
	Seed uint64
	// Started is told of the Bed when it runs; it may be nil.
	Started func(*bed.Bed)
}

// Outcome is a scenario with what came of it.
type Outcome struct {
	Scenario Scenario
	Row      Row
	// Unmet is what was not as it should be.
	Unmet []string
}

// runner plays scenarios in one testbed.
type runner struct {
	options   Options
	bed       *bed.Bed
	survivors *survivors
	outcomes  []Outcome
}

// Run plays all scenarios: first those that may run beside each other, then the others one by one. An error means that the
// testbed failed, not that an expectation was not met; with it come the outcomes that there are.
func Run(ctx context.Context, options Options, scenarios []Scenario) ([]Outcome, error) {
	r := &runner{options: options, survivors: newSurvivors(), outcomes: make([]Outcome, len(scenarios))}
	options.Bed.OutliveForceDelete = r.survivors.outlive
	var err error
	if r.bed, err = bed.Start(ctx, options.Bed); err != nil {
		return nil, err
	}
	defer r.bed.Stop()
	if err := r.bed.InstallManager(); err != nil {
		return nil, err
	}
	if options.Started != nil {
		options.Started(r.bed)
	}
	err = errors.Join(r.all(ctx, scenarios), r.bed.Err())
	return only(r.outcomes, func(outcome Outcome) bool { return outcome.Scenario.Name != "" }), err
}

// One plays a scenario in a Bed that runs already and has a manager, beside what else goes on there. Processes that outlive
// their pods are known to Run only.
func One(ctx context.Context, b *bed.Bed, seed uint64, scenario Scenario) (Outcome, error) {
	r := &runner{options: Options{Seed: seed}, bed: b, survivors: newSurvivors(), outcomes: make([]Outcome, 1)}
	err := r.one(ctx, 0, scenario)
	return r.outcomes[0], err
}

func (r *runner) all(ctx context.Context, scenarios []Scenario) error {
	slow, ctx := errgroup.WithContext(ctx)
	beside, besideCtx := errgroup.WithContext(ctx)
	beside.SetLimit(max(r.options.Beside, 1))
	for at, scenario := range scenarios {
		if scenario.Slow {
			slow.Go(func() error { return r.one(ctx, at, scenario) })
		}
	}
	for at, scenario := range scenarios {
		if !scenario.Slow && !r.alone(scenario) {
			beside.Go(func() error { return r.one(besideCtx, at, scenario) })
		}
	}
	if err := beside.Wait(); err != nil {
		return err
	}
	for at, scenario := range scenarios {
		if r.alone(scenario) && !scenario.Slow {
			if err := r.one(ctx, at, scenario); err != nil {
				return err
			}
		}
	}
	return slow.Wait()
}

func (r *runner) alone(scenario Scenario) bool {
	return scenario.Exclusive || scenario.Measured && r.options.Absolute
}

// one plays a scenario and judges its records. What went wrong in it is its own outcome, as long as the testbed runs.
func (r *runner) one(ctx context.Context, at int, scenario Scenario) error {
	play := &Play{
		Bed: r.bed, Scenario: scenario, dir: r.bed.File(scenario.Name), survivors: r.survivors,
		random: rand.New(rand.NewPCG(r.options.Seed, uint64(at))),
	}
	played := play.run(ctx)
	outcome := &r.outcomes[at]
	outcome.Scenario = scenario
	if played != nil {
		if ctx.Err() != nil || r.bed.Err() != nil {
			return fmt.Errorf("scenario %s: %w", scenario.Name, played)
		}
		play.rescue(ctx)
		outcome.Unmet = append(outcome.Unmet, played.Error())
	}
	records, err := ReadRecords(play.dir)
	if err != nil {
		outcome.Unmet = append(outcome.Unmet, err.Error())
	}
	row, unmet := Judge(scenario, records, r.options.Absolute)
	outcome.Row, outcome.Unmet = row, append(outcome.Unmet, unmet...)
	r.bed.Options().Progress(verdict(*outcome))
	return nil
}

// rescue takes the records of a scenario that broke off, and gives its cluster's place to the next one.
func (p *Play) rescue(ctx context.Context) {
	if p.User == nil {
		return
	}
	_ = p.clean(ctx)
	p.Cloud.ClearFaultsOf(p.Scenario.Name)
	if p.witness != nil {
		_ = p.witness.close()
	}
	_ = p.export()
	_ = p.RemoveUserCluster(p.User)
}

// Unmet is everything that was not as it should be, with the scenario's name.
func Unmet(outcomes []Outcome) []string {
	var unmet []string
	for _, outcome := range outcomes {
		for _, sentence := range outcome.Unmet {
			unmet = append(unmet, outcome.Scenario.Name+": "+sentence)
		}
	}
	return slices.Compact(unmet)
}
