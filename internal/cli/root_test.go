package cli

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func TestErrorsOfAllCommandsAreNeutral(t *testing.T) {
	NewWithT(t).Expect(Command().ErrOrStderr()).To(BeAssignableToTypeOf(terminal.Output{}))
}
