package handover

import (
	"fmt"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const usualLease = 15 * time.Second

// fencedGap is the bar of protocol Fenced, whatever the lease is.
const fencedGap = 3 * time.Second

// Scenarios are all that there are. A new one is an element of one of these lists; a new topology is a field of Setup that
// Play.run gives to the user cluster.
func Scenarios() []Scenario {
	return plain()
}

// plain hand-overs are measured.
func plain() []Scenario {
	var scenarios []Scenario
	for _, lease := range []time.Duration{usualLease, 4 * usualLease} {
		for _, replicas := range []int32{1, 3} {
			scenarios = append(scenarios,
				Scenario{
					Name: fmt.Sprintf("fenced-%d-%g", replicas, lease.Seconds()), Want: HandedOver, Exclusive: true,
					Setup: Setup{Protocol: ucv1.FencedProtocolChoice, KCMReplicas: replicas, Lease: lease},
					Bars:  Bars{Gap: fencedGap}, CI: replicas == 3 && lease == usualLease,
				},
				Scenario{
					Name: fmt.Sprintf("serialized-%d-%g", replicas, lease.Seconds()), Want: HandedOver, Exclusive: true,
					Setup: Setup{Protocol: ucv1.SerializedProtocolChoice, KCMReplicas: replicas, Lease: lease},
					Bars:  Bars{Gap: lease * 3 / 2},
				})
		}
	}
	return scenarios
}
