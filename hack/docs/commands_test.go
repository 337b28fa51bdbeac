package main

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestThePageOfCommandsHasThoseOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	is, err := os.ReadFile("../../docs/cli.md")
	g.Expect(err).NotTo(HaveOccurred())
	want, err := filled("../../docs/cli.md", commandTables())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(is)).To(Equal(want), "run make generate")
}
