package cluster

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func TestOneThatRefusesAPauseKeepsNoOtherFromIt(t *testing.T) {
	g, refused := NewWithT(t), errors.New("denied")
	var paused []string
	err := each([]migration.Ref{{Name: "a"}, {Name: "b"}}, func(ref migration.Ref) error {
		if ref.Name == "a" {
			return refused
		}
		paused = append(paused, ref.Name)
		return nil
	})
	g.Expect(err).To(MatchError(refused))
	g.Expect(paused).To(Equal([]string{"b"}))
	g.Expect(each([]migration.Ref{{Name: "b"}}, func(migration.Ref) error { return nil })).To(Succeed())
}
