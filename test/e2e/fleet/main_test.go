package fleet_test

import (
	"os"
	"testing"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
)

func TestMain(m *testing.M) {
	suite.Prepare()
	os.Exit(m.Run())
}

func TestFleet(t *testing.T) { suite.Run(t, "fleet") }
