package terminal

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

func TestExitCodes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ExitCode(nil)).To(Equal(0))
	g.Expect(ExitCode(errors.New("x"))).To(Equal(1))
	g.Expect(ExitCode(fmt.Errorf("x: %w", WithCode(errors.New("y"), ExitRefused)))).To(Equal(2))
}
