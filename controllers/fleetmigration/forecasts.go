package fleetmigration

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
)

const (
	// forecastEvery is the least time between two forecasts of a FleetMigration, forecastAgain after one that saw no end, as while
	// its Clusters were not looked at yet, and forecastShare the most of a processor that all take: one of thousands of Clusters
	// takes seconds.
	forecastEvery = 15 * time.Minute
	forecastAgain = time.Minute
	forecastShare = 100
)

// forecasting keeps the forecasts: what ticks would be a write in every pass.
type forecasting struct {
	of map[types.UID]*ucv1.FleetForecast
	// at is when each was made, and busy until when none is made.
	at   map[types.UID]time.Time
	busy time.Time
}

// forecast the end of the FleetMigration whose forecast is the oldest, where nothing is being admitted that would have to wait.
func (p *pass) forecast() {
	f := &p.forecasts
	if f.of == nil {
		f.of, f.at = map[types.UID]*ucv1.FleetForecast{}, map[types.UID]time.Time{}
	}
	oldest := p.oldestForecast()
	if oldest == nil {
		return
	}
	began := p.Clock.Now()
	all := forecast.Fleet{Members: p.seen.Members}
	for _, fm := range p.seen.migrations {
		all.Migrations = append(all.Migrations, fm)
	}
	f.of[oldest.UID] = rounded(forecast.StatusOf(all, oldest.Name, p.now))
	f.at[oldest.UID] = p.now
	f.busy = p.now.Add(forecastShare * p.Clock.Since(began))
	p.lookAfter(settles)
}

// oldestForecast is due; nil: none is.
func (p *pass) oldestForecast() (oldest *ucv1.FleetMigration) {
	f := &p.forecasts
	if p.now.Before(f.busy) {
		p.lookAfter(f.busy.Sub(p.now))
		return nil
	}
	for _, fm := range p.seen.migrations {
		at, every := f.at[fm.UID], forecastEvery
		if f.of[fm.UID] == nil {
			every = forecastAgain
		}
		if age := p.now.Sub(at); age < every {
			p.lookAfter(forecastEvery - age) // A pass that something changed comes sooner.
			continue
		}
		if oldest == nil || at.Before(f.at[oldest.UID]) {
			oldest = fm
		}
	}
	return oldest
}

// rounded to hours: a forecast is no more exact than that.
func rounded(f *ucv1.FleetForecast) *ucv1.FleetForecast {
	if f == nil {
		return nil
	}
	return &ucv1.FleetForecast{
		Earliest: metav1.NewTime(f.Earliest.Truncate(time.Hour)),
		Latest:   metav1.NewTime(f.Latest.Add(time.Hour - 1).Truncate(time.Hour)),
	}
}
