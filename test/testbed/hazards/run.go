package hazards

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Options of a run.
type Options struct {
	// Bed that the groups share.
	Bed bed.Options
	// Beside is how many groups run at once.
	Beside int
	// Started is told of the Bed when it runs; it may be nil.
	Started func(*bed.Bed)
}

// Row is a hazard with what came of it.
type Row struct {
	Cluster     string `json:"cluster"`
	Hazard      string `json:"hazard"`
	ID          string `json:"id"`
	Severity    string `json:"severity"`
	NotLookedAt bool   `json:"notLookedAt,omitempty"`
	Refused     bool   `json:"refused,omitempty"`
	// Said is what the finding said, Happened what happened.
	Said     string `json:"said"`
	Happened string `json:"happened"`
	// Reads is how many requests the manager had sent to the user cluster when everything was found. None of them wrote.
	Reads int `json:"reads"`
	// Unmet is what was not as it should be.
	Unmet string `json:"unmet,omitempty"`
}

// Run plays all groups. An error means that the testbed failed, not that something was not as it should be; with it come the
// rows that there are.
func Run(ctx context.Context, options Options, groups []Group) ([]Row, error) {
	options.Bed.Audited = true
	testbed, err := bed.Start(ctx, options.Bed)
	if err != nil {
		return nil, err
	}
	defer testbed.Stop()
	if err := testbed.InstallManager(); err != nil {
		return nil, err
	}
	if options.Started != nil {
		options.Started(testbed)
	}
	results := make([][]Row, len(groups))
	playing, ctx := errgroup.WithContext(ctx)
	playing.SetLimit(max(options.Beside, 1))
	for at, group := range groups {
		playing.Go(func() (err error) {
			results[at], err = One(ctx, testbed, group)
			return err
		})
	}
	err = errors.Join(playing.Wait(), testbed.Err())
	var rows []Row
	for _, result := range results {
		rows = append(rows, result...)
	}
	return rows, err
}

// One plays a group in a Bed that runs already, is audited and has a manager. What goes wrong in it is said in its rows, as
// long as the testbed runs.
func One(ctx context.Context, testbed *bed.Bed, group Group) ([]Row, error) {
	play := &Play{Bed: testbed, Group: group}
	played := play.run(ctx)
	if played != nil && (ctx.Err() != nil || testbed.Err() != nil) {
		return play.rows, fmt.Errorf("group %s: %w", group.Name, played)
	}
	rows := play.all(played)
	testbed.Cloud.ClearFaultsOf(group.Name)
	if played != nil {
		testbed.Options().Progress(group.Name + ": NOT AS EXPECTED: " + played.Error())
	}
	if play.User == nil || play.User.Cluster == nil {
		return rows, nil
	}
	return rows, testbed.RemoveUserCluster(play.User)
}

// all rows of the group: one that broke off has some that no one came to.
func (p *Play) all(played error) []Row {
	rows := p.rows
	for i, hazard := range p.Group.Hazards {
		if i >= len(rows) {
			rows = append(rows, Row{Cluster: p.Group.Name, Hazard: hazard.Name, ID: hazard.ID, Severity: string(hazard.Severity)})
		}
		if played != nil && rows[i].Happened == "" && rows[i].Unmet == "" {
			rows[i].Unmet = "not seen: " + played.Error()
		}
	}
	return rows
}

// Unmet is everything that was not as it should be.
func Unmet(rows []Row) []string {
	var unmet []string
	for _, row := range rows {
		if row.Unmet != "" {
			unmet = append(unmet, row.Cluster+": "+row.ID+": "+row.Unmet)
		}
	}
	return unmet
}
