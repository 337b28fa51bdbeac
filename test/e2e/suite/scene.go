package suite

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Scene is what a story asserts and tells with, as a test does with its T.
type Scene struct {
	Gomega

	say func(line string)
}

// Logf tells something that a person may want to know.
func (s *Scene) Logf(format string, arguments ...any) {
	s.say(time.Now().Format(time.TimeOnly) + "  " + fmt.Sprintf(format, arguments...))
}

// ThisSpec is the Scene of the spec that runs, for specs that tell no story.
func ThisSpec() *Scene {
	return &Scene{Gomega: NewGomega(Fail), say: func(line string) { GinkgoWriter.Println(line) }}
}
