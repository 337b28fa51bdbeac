package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

type lines struct{ command, args []string }

// changed is a change of a command line.
type changed struct {
	before lines
	env    []corev1.EnvVar
	set    []outcome.Flag
	remove []string
	after  lines
}

func (c changed) run(t *testing.T) {
	g := NewWithT(t)
	container := containerWith(c.before.command, c.before.args)
	container.Env = c.env
	original := container.DeepCopy()
	change := outcome.ArgumentChange{Set: c.set, Remove: c.remove}
	command, args, err := Change(container, change)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines{command, args}).To(Equal(c.after))
	g.Expect(container).To(Equal(original), "rendering changed its input")

	again := containerWith(command, args)
	again.Env = c.env
	command, args, err = Change(again, change)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines{command, args}).To(Equal(c.after), "a second change is none")
}

func switchLoopsOff() outcome.Flag {
	return outcome.Flag{Name: "--controllers", Value: "*,-service"}
}

func TestChangeSetsFlags(t *testing.T) {
	loopsOff := switchLoopsOff()
	runAll(t, map[string]changed{
		"a flag keeps its place and its equals sign": {
			before: lines{args: []string{"--v=2", "--controllers=*", "--leader-elect"}},
			set:    []outcome.Flag{loopsOff},
			after:  lines{args: []string{"--v=2", "--controllers=*,-service", "--leader-elect"}},
		},
		"a flag keeps its two words and its one dash": {
			before: lines{command: []string{"kcm"}, args: []string{"-controllers", "*", "--v=2"}},
			set:    []outcome.Flag{loopsOff},
			after:  lines{command: []string{"kcm"}, args: []string{"-controllers", "*,-service", "--v=2"}},
		},
		"a flag in the command is changed there": {
			before: lines{command: []string{"kcm", "--controllers=*"}, args: []string{"--v=2"}},
			set:    []outcome.Flag{loopsOff},
			after:  lines{command: []string{"kcm", "--controllers=*,-service"}, args: []string{"--v=2"}},
		},
		"a new flag goes to the end of args": {
			before: lines{command: []string{"kcm"}, args: []string{"--v=2"}},
			set:    []outcome.Flag{loopsOff},
			after:  lines{command: []string{"kcm"}, args: []string{"--v=2", "--controllers=*,-service"}},
		},
		"a new flag goes to the end of the command when there are no args": {
			before: lines{command: []string{"machine-controller", "-worker-count=5"}},
			set:    []outcome.Flag{{Name: "-node-external-cloud-provider", Value: "true"}},
			after:  lines{command: []string{"machine-controller", "-worker-count=5", "-node-external-cloud-provider=true"}},
		},
		"a bare boolean that is on already stays as it is": {
			before: lines{args: []string{"-node-external-cloud-provider", "-worker-count=5"}},
			set:    []outcome.Flag{{Name: "-node-external-cloud-provider", Value: "true"}},
			after:  lines{args: []string{"-node-external-cloud-provider", "-worker-count=5"}},
		},
		"a bare boolean is switched off": {
			before: lines{args: []string{"--leader-elect", "--v=2"}},
			set:    []outcome.Flag{{Name: "--leader-elect", Value: "false"}},
			after:  lines{args: []string{"--leader-elect=false", "--v=2"}},
		},
	})
}

func TestChangeRemovesFlagsAndKeepsVariablesAndWrappers(t *testing.T) {
	loopsOff := switchLoopsOff()
	runAll(t, map[string]changed{
		"a flag that was given twice is there once": {
			before: lines{args: []string{"--controllers=*", "--v=2", "--controllers", "bootstrapsigner"}},
			set:    []outcome.Flag{loopsOff},
			after:  lines{args: []string{"--controllers=*,-service", "--v=2"}},
		},
		"flags are removed with their values": {
			before: lines{
				command: []string{"kcm"},
				args:    []string{"--cloud-provider", "openstack", "--v=2", "--cloud_config=/x", "--cloud-provider=a"},
			},
			remove: []string{"cloud-provider", "--cloud-config", "not-there"},
			after:  lines{command: []string{"kcm"}, args: []string{"--v=2"}},
		},
		"several flags in one change": {
			before: lines{args: []string{"--cloud-provider=openstack"}},
			set:    []outcome.Flag{{Name: "--feature-gates", Value: "A=true"}, {Name: "--v", Value: "4"}},
			remove: []string{"cloud-provider"},
			after:  lines{args: []string{"--feature-gates=A=true", "--v=4"}},
		},
		"a value from a variable that is right already stays": {
			before: lines{args: []string{"--cluster-name=$(NAME)"}}, env: []corev1.EnvVar{{Name: "NAME", Value: "alpha"}},
			set:   []outcome.Flag{{Name: "--cluster-name", Value: "alpha"}},
			after: lines{args: []string{"--cluster-name=$(NAME)"}},
		},
		"a value that looks like a variable is escaped": {
			before: lines{args: []string{"--v=2"}},
			set:    []outcome.Flag{{Name: "--cluster-name", Value: "$(NAME)"}},
			after:  lines{args: []string{"--v=2", "--cluster-name=$$(NAME)"}},
		},
		"the wrapper of KKP is changed within": {
			before: lines{
				command: []string{"/http-prober-bin/http-prober"},
				args:    []string{"-insecure", "-command", `{"command":"kcm","args":["--controllers","*"]}`, "--crd-to-wait-for", "x"},
			},
			set: []outcome.Flag{loopsOff, {Name: "--v", Value: "2"}},
			after: lines{
				command: []string{"/http-prober-bin/http-prober"},
				args: []string{
					"-insecure",
					"-command",
					`{"command":"kcm","args":["--controllers","*,-service","--v=2"]}`,
					"--crd-to-wait-for",
					"x",
				},
			},
		},
		"the wrapper of KKP with nothing to change keeps its spaces": {
			before: lines{command: []string{"http-prober"}, args: []string{"-command", `{ "command": "kcm", "args": ["--v=2"] }`}},
			set:    []outcome.Flag{{Name: "--v", Value: "2"}},
			after:  lines{command: []string{"http-prober"}, args: []string{"-command", `{ "command": "kcm", "args": ["--v=2"] }`}},
		},
	})
}

func TestChangeRefusesToLeaveNoFlags(t *testing.T) {
	g := NewWithT(t)
	_, _, err := Change(containerWith([]string{"kcm"}, []string{"--v=2"}), outcome.ArgumentChange{Remove: []string{"v"}})
	g.Expect(err).To(MatchError(ContainSubstring("has no flags")))
}

func TestChangeRefusesFlagsWithoutDashes(t *testing.T) {
	g := NewWithT(t)
	_, _, err := Change(containerWith(nil, []string{"--v=2"}), outcome.ArgumentChange{Set: []outcome.Flag{{Name: "v", Value: "4"}}})
	g.Expect(err).To(MatchError(ContainSubstring("no dashes")))
}
