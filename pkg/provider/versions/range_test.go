package versions_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// The tables of the lock may reach further than the catalogue, whose CCMs come out later, and never less far.
func TestTheLockIsKnownForEveryMinorOfTheCatalogue(t *testing.T) {
	for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
		_, known := leadermigration.KnownMinor(minor)
		NewWithT(t).Expect(known).To(BeTrue(), "1.%d", minor)
	}
}
