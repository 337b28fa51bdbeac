package cluster

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func TestOneThatRefusesAChangeKeepsNoOtherFromIt(t *testing.T) {
	g, refused := NewWithT(t), errors.New("denied")
	var changed []string
	err := each([]migration.Ref{{Name: "a"}, {Name: "b"}}, func(ref migration.Ref) error {
		if ref.Name == "a" {
			return refused
		}
		changed = append(changed, ref.Name)
		return nil
	})
	g.Expect(err).To(MatchError(refused))
	g.Expect(changed).To(Equal([]string{"b"}))
	g.Expect(each([]migration.Ref{{Name: "b"}}, func(migration.Ref) error { return nil })).To(Succeed())
}
