package manager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// setupFleet runs FleetMigrations, and says which Clusters may start. A manager that is bound to namespaces runs none: their
// budgets count the Clusters of all namespaces, and it sees some.
func setupFleet(
	mgr ctrl.Manager,
	o *managerOptions,
	catalogue *provider.Catalogue,
	missing []string,
	log logr.Logger,
) (*fleetmigration.Turns, error) {
	bound := len(o.namespaces) > 0
	turns := fleetmigration.NewTurns(mgr.GetClient(), fleet.Policy(o.fleetAdmission), bound,
		&fleetmigration.Unmanaged{Most: o.maxUnmanagedStarts})
	if bound {
		log.Info("No FleetMigration is run, because --namespaces binds the manager to some namespaces. Clusters that a FleetMigration "+
			"has queued wait for the manager that runs it", "namespaces", o.namespaces)
		return turns, nil
	}
	fleets, err := fleetmigration.NewMetrics(metrics.Registry)
	if err != nil {
		return nil, err
	}
	reconciler := &fleetmigration.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Metrics: fleets, Turns: turns,
		Recorder: mgr.GetEventRecorder(ucv1.FleetFieldManager), CanMigrate: catalogue.CanMigrate, Problem: definitionProblem(missing),
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the fleet controller: %w", err)
	}
	return turns, nil
}

// definitionProblem is why no FleetMigration can be followed: the admission of a Cluster could not be written.
func definitionProblem(missing []string) string {
	lacks := slices.ContainsFunc(missing, func(field string) bool {
		return field == "status" || strings.HasPrefix(field, "status.admission") || field == "spec.admission"
	})
	if !lacks {
		return ""
	}
	return "the CustomResourceDefinition of Clusters is older than the manager; apply the one of this release, and restart it"
}
