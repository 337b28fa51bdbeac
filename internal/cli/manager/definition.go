package manager

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
)

// maxFieldsShown keeps the line short: the first fields name the release well enough.
const maxFieldsShown = 10

// checkDefinition says at the start what would otherwise be seen only when the first status is refused. The manager goes on: what
// can be written is written, and condition Stalled of a Cluster says what cannot.
// The fields that are missing are returned.
func checkDefinition(ctx context.Context, reader client.Reader, metrics *cluster.Metrics, log logr.Logger) []string {
	ctx, cancel := context.WithTimeout(ctx, management.Timeout)
	defer cancel()
	missing, err := cluster.MissingFields(ctx, reader)
	if err != nil {
		log.Info("The CustomResourceDefinition of Clusters could not be read, so whether it is older than this manager is not known. "+
			"Compare it with config/crd of this release, and grant the right to get it", "name", cluster.DefinitionName, "error",
			err.Error())
		return nil
	}
	metrics.DefinitionLacks(len(missing))
	if len(missing) > 0 {
		log.Error(nil, "The CustomResourceDefinition of Clusters is older than this manager: a status with a field that it lacks is "+
			"refused. "+
			"Apply the CustomResourceDefinitions of this release, config/crd, and restart the manager",
			"name", cluster.DefinitionName, "count", len(missing), "fields", missing[:min(len(missing), maxFieldsShown)])
	}
	return missing
}
