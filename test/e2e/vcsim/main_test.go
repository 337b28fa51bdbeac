//go:build vcsim

package vcsim_test

import (
	"os"
	"testing"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
)

func TestMain(m *testing.M) {
	suite.Prepare()
	os.Exit(m.Run())
}

func TestVCSim(t *testing.T) { suite.Run(t, "vcsim") }
