package controlplane

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// word is one word of a container's command line, and whether it came from args or from command.
type word struct {
	text   string
	inArgs bool
}

// item is the executable (without a name) or one flag with its value: one word, or two.
type item struct {
	name     string
	spelling string
	value    string
	words    []word
}

// set changes the value and keeps the spelling.
func (i *item) set(value string) {
	i.value = value
	if len(i.words) == 2 {
		i.words[1].text = value
		return
	}
	i.words[0].text = i.spelling + "=" + value
}

// commandLine is a container's command line, taken apart so that flags can be read and changed in place.
type commandLine struct {
	container *corev1.Container
	// items of the component's own command line.
	items []item
	// outer is the command line of the wrapper around it, if there is one; payload is the place of its -command.
	outer   []item
	payload int
	// changed says that the items are not what the container says any more.
	changed bool
}

// readCommandLine takes the container's command line apart.
func readCommandLine(container *corev1.Container) (*commandLine, error) {
	var words []word
	for _, text := range container.Command {
		words = append(words, word{text: text})
	}
	for _, text := range container.Args {
		words = append(words, word{text: text, inArgs: true})
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("container %s has neither command nor args: what its image runs cannot be read; "+
			"give both in the pod template", container.Name)
	}
	items, err := readItems(container.Name, words)
	if err != nil {
		return nil, err
	}
	line := &commandLine{container: container, items: items}
	if isWrapper(items[0]) {
		return line, line.unwrap()
	}
	return line, nil
}

// readItems groups words into the executable and flags. Without an executable the image's entrypoint gets the flags.
//
// A word without "=" takes the next word as its value unless it is a known boolean, or is unknown and the next word
// begins with a dash. An unknown boolean followed by a positional argument would be misread, but no component that we
// know takes positional arguments.
func readItems(container string, words []word) ([]item, error) {
	var items []item
	if !strings.HasPrefix(words[0].text, "-") {
		if err := checkExecutable(container, words); err != nil {
			return nil, err
		}
		items = append(items, item{words: words[:1:1]})
	}
	for i := len(items); i < len(words); {
		flag, err := readFlag(words[i:])
		if err != nil {
			return nil, fmt.Errorf("argument %d%s of container %s %w", i+1, after(items), container, err)
		}
		items = append(items, flag)
		i += len(flag.words)
	}
	return items, nil
}

// after names the flag before an argument that must not be printed, because it may be a secret; and so may be what
// looks like a flag of one dash.
func after(items []item) string {
	if len(items) == 0 || !strings.HasPrefix(items[len(items)-1].spelling, "--") {
		return ""
	}
	return fmt.Sprintf(" (after %s)", items[len(items)-1].spelling)
}

// readFlag reads the flag that the words begin with.
func readFlag(words []word) (item, error) {
	text := words[0].text
	if !strings.HasPrefix(text, "-") || text == "-" || text == "--" {
		return item{}, errors.New("is not a flag; write all arguments as --flag=value")
	}
	spelling, value, inline := strings.Cut(text, "=")
	flag := item{name: flagName(spelling), spelling: spelling, value: value, words: words[:1:1]}
	if !isFlagName(flag.name) {
		return item{}, errors.New("does not look like a flag; write all arguments as --flag=value")
	}
	if inline {
		return flag, nil
	}
	if takesValue(flag.name) && len(words) == 1 {
		return item{}, fmt.Errorf("is %s without a value; write it as %s=value", spelling, spelling)
	}
	if takesNext(flag.name, words[1:]) {
		flag.value, flag.words = words[1].text, words[:2:2]
		return flag, nil
	}
	flag.value = "true"
	return flag, nil
}

// takesNext says whether the next word is the flag's value.
func takesNext(name string, next []word) bool {
	if len(next) == 0 || isBoolean(name) {
		return false
	}
	return takesValue(name) || !strings.HasPrefix(next[0].text, "-")
}

// checkExecutable refuses executables that may add or change arguments in ways that cannot be read here.
func checkExecutable(container string, words []word) error {
	executable := words[0].text
	if strings.Contains(executable, "$(") || executable == "" {
		return fmt.Errorf("the command of container %s is empty or a variable; name the executable", container)
	}
	if !isShell(executable) {
		return nil
	}
	for _, word := range words[1:] {
		if isScriptFlag(word.text) {
			return fmt.Errorf("argument %q of container %s is a shell script; name the executable and its flags instead",
				word.text, container)
		}
	}
	return fmt.Errorf("command %q of container %s is a shell script; name the executable and its flags instead",
		executable, container)
}

func isShell(executable string) bool {
	base := path.Base(executable)
	return slices.Contains([]string{"sh", "ash", "bash", "busybox", "dash", "ksh", "zsh"}, base) || strings.HasSuffix(base, ".sh")
}

// isScriptFlag recognizes -c of a shell, also with other letters before it as in -ec.
func isScriptFlag(text string) bool {
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "c") && len(text) <= 5
}

// render is the command line as command and args.
func (l *commandLine) render() (command, args []string, err error) {
	if !l.changed {
		return slices.Clone(l.container.Command), slices.Clone(l.container.Args), nil
	}
	items := l.items
	if l.outer != nil {
		if items, err = l.wrap(); err != nil {
			return nil, nil, err
		}
	}
	for _, item := range items {
		for _, word := range item.words {
			if word.inArgs {
				args = append(args, word.text)
			} else {
				command = append(command, word.text)
			}
		}
	}
	return command, args, nil
}
