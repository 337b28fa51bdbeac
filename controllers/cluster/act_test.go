package cluster

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestOneThatRefusesAChangeKeepsNoOtherFromIt(t *testing.T) {
	g, refused := NewWithT(t), errors.New("denied")
	var changed []string
	err := each([]observation.Ref{{Name: "a"}, {Name: "b"}}, func(ref observation.Ref) error {
		if ref.Name == "a" {
			return refused
		}
		changed = append(changed, ref.Name)
		return nil
	})
	g.Expect(err).To(MatchError(refused))
	g.Expect(changed).To(Equal([]string{"b"}))
	g.Expect(each([]observation.Ref{{Name: "b"}}, func(observation.Ref) error { return nil })).To(Succeed())
}
