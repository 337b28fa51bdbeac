package controlplane

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// ParseArguments reads the command line of a container: --flag=value, --flag value, --flag for true, each with one
// dash or two, behind the executable or for the image's entrypoint, also within the JSON that KKP's http-prober wraps
// around a component. Everything else is a Problem: shells, positional arguments, variables without a literal value in
// flags that decisions rest on, and a command line without any flag, which no component has.
func ParseArguments(container *corev1.Container) observation.Arguments {
	line, err := readCommandLine(container)
	if err != nil {
		return observation.Arguments{Problem: err.Error()}
	}
	flags, err := line.flags()
	if err != nil {
		return observation.Arguments{Problem: err.Error()}
	}
	return observation.Arguments{Flags: flags}
}

// flags are the values that the component sees.
func (l *commandLine) flags() (map[string]string, error) {
	flags := map[string]string{}
	for _, item := range l.items {
		if item.name == "" {
			continue
		}
		value := item.value
		if concernsMigration(item.name) {
			var err error
			if value, err = expand(value, l.container.Env); err != nil {
				return nil, fmt.Errorf("argument %s of container %s %w", item.spelling, l.container.Name, err)
			}
		}
		flags[item.name] = merge(item.name, flags, value)
	}
	if len(flags) == 0 {
		return nil, fmt.Errorf("container %s has no flags: what it runs cannot be read", l.container.Name)
	}
	return flags, nil
}

// merge follows the components' flag types for a flag that is given again: a list is appended to, gates overwrite gates
// of the same name (the first mention counts in migration.Arguments), everything else is replaced.
func merge(name string, flags map[string]string, value string) string {
	former, again := flags[name]
	switch {
	case again && name == "controllers":
		return former + "," + value
	case again && name == "feature-gates":
		return value + "," + former
	}
	return value
}

// expand replaces $(VARIABLE) as the kubelet does, from literal values in the container's env only.
func expand(value string, env []corev1.EnvVar) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(value, "$")
		out.WriteString(before)
		switch {
		case !found:
			return out.String(), nil
		case strings.HasPrefix(rest, "$"):
			out.WriteString("$")
			value = rest[1:]
		case strings.HasPrefix(rest, "(") && strings.Contains(rest, ")"):
			name, behind, _ := strings.Cut(rest[1:], ")")
			literal, err := literalValue(name, env)
			if err != nil {
				return "", err
			}
			out.WriteString(literal)
			value = behind
		default:
			out.WriteString("$")
			value = rest
		}
	}
}

// literalValue is the value of a variable that stands in the pod itself; the last one of a name counts.
func literalValue(name string, env []corev1.EnvVar) (string, error) {
	for _, variable := range slices.Backward(env) {
		if variable.Name != name {
			continue
		}
		if variable.ValueFrom != nil || strings.Contains(variable.Value, "$(") {
			return "", fmt.Errorf("refers to variable %s, whose value is not literal; write the value into the argument", name)
		}
		return variable.Value, nil
	}
	return "", fmt.Errorf("refers to variable %s, which the container's env does not define; "+
		"write the value into the argument", name)
}

// Change renders what the container's command and args become; both are as before when nothing is to be changed. A flag
// that is there keeps its place and its spelling, a new one goes to the end, into args unless there are none.
func Change(container *corev1.Container, change outcome.ArgumentChange) (command, args []string, err error) {
	line, err := readCommandLine(container)
	if err != nil {
		return nil, nil, err
	}
	if _, err := line.flags(); err != nil {
		return nil, nil, err
	}
	for _, name := range change.Remove {
		line.remove(flagName(name), 0)
	}
	for _, flag := range change.Set {
		if err := line.set(flag); err != nil {
			return nil, nil, err
		}
	}
	if _, err := line.flags(); err != nil {
		return nil, nil, fmt.Errorf("after the change: %w", err)
	}
	return line.render()
}

// set gives the component the flag with that value.
func (l *commandLine) set(flag outcome.Flag) error {
	name := flagName(flag.Name)
	if !strings.HasPrefix(flag.Name, "-") || !isFlagName(name) {
		return errors.New("a flag to set has no dashes or no name: this is a fault of the program")
	}
	if flags, err := l.flags(); err == nil {
		if value, given := flags[name]; given && value == flag.Value {
			return nil
		}
	}
	l.changed = true
	value := strings.ReplaceAll(flag.Value, "$", "$$")
	for i := range l.items {
		if l.items[i].name == name {
			l.items[i].set(value)
			l.remove(name, i+1)
			return nil
		}
	}
	inArgs := len(l.container.Args) > 0
	added := item{name: name, spelling: flag.Name, words: []word{{inArgs: inArgs}}}
	added.set(value)
	l.items = append(l.items, added)
	return nil
}

// remove takes out the flag wherever it stands at or behind a place.
func (l *commandLine) remove(name string, from int) {
	kept := l.items[:from:from]
	for _, item := range l.items[from:] {
		if item.name == name {
			l.changed = true
			continue
		}
		kept = append(kept, item)
	}
	l.items = kept
}
