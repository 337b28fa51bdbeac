package handover

import (
	"context"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// AcrossMinors are hand-overs from KCM of an older release to the CCM of the testbed's, by the migration lock, as KEP-2436 has
// it. They are no part of Scenarios: the programs of two releases take long to build.
func AcrossMinors(older string) []Scenario {
	const (
		why = "no one runs the loops from the kill on until another KCM gets the dead one's Lease"
		// Each restart of the manager takes seconds, in which no one takes the loops from KCM to the CCM.
		restarted = "the manager starts again at each line of the gap, which takes seconds"
	)
	setup := usual(ucv1.LeaderMigrationProtocolChoice)
	setup.Across = older
	beside := setup
	beside.BesideControlPlane = true
	instructed := setup
	instructed.Instruct = true
	onNodes := setup
	onNodes.Topology = External
	bars := gapBar(ucv1.LeaderMigrationProtocolChoice, usualLease)
	scenarios := []Scenario{
		{Name: "across-minors", Setup: setup, Disturb: upgrade, Bars: bars, Measured: true},
		{Name: "across-minors-beside", Setup: beside, Disturb: upgrade, Bars: bars, Measured: true},
		{
			Name: "across-minors-instruct", Setup: instructed, Disturb: together(upgrade, administer), Bars: bars,
			After: together(upgradeRest, administerToTheEnd),
		},
		{
			// Static pods can only be changed by their administrator; the owner upgrades them Node by Node.
			Name: "across-minors-external", Setup: onNodes, Disturb: together(upgrade, administer), Bars: bars,
			After: together(upgradeRest, administerToTheEnd),
		},
		{Name: "across-minors-half-upgraded", Setup: setup, Disturb: upgradeHalf, Bars: bars},
		{Name: "across-minors-kcm-killed", Setup: setup, Disturb: upgradeAndKillKCM, Bars: Bars{NoGap: why}},
		{
			Name: "across-minors-manager-killed", Setup: setup, Disturb: together(upgrade, killManagerAtEveryLine),
			Bars: Bars{NoGap: restarted}, Exclusive: true,
		},
	}
	for i := range scenarios {
		scenarios[i].Want = HandedOver
		if scenarios[i].After == nil {
			scenarios[i].After = upgradeRest
		}
	}
	return scenarios
}

// upgrade is the owner of the control plane, who upgrades the API servers when the status allows it, and then says so.
func upgrade(ctx context.Context, p *Play) error {
	if err := p.upgradeAllowed(ctx); err != nil {
		return err
	}
	if err := p.upgradeComponent(ctx, apiServerName); err != nil {
		return err
	}
	return p.sayUpgraded(ctx)
}
