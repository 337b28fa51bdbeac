//go:build realprovider

package provider_test

import (
	"os"
	"testing"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
)

func TestMain(m *testing.M) {
	suite.Prepare()
	os.Exit(suite.RunInOwnNetwork(m))
}

func TestProvider(t *testing.T) { suite.Run(t, "provider") }
