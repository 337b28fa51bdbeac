package controlplane

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// wrapped is what KKP's http-prober gets as -command: it waits for the API server and then becomes this process.
// https://github.com/kubermatic/kubermatic/blob/main/cmd/http-prober/api/httpprober.go
type wrapped struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// isWrapper says whether the executable is http-prober.
func isWrapper(executable item) bool {
	return executable.name == "" && path.Base(executable.words[0].text) == "http-prober"
}

// unwrap puts the command line of the wrapped process in place of the wrapper's.
func (l *commandLine) unwrap() error {
	name := l.container.Name
	l.outer, l.items, l.payload = l.items, nil, -1
	for i, item := range l.outer {
		if item.name == "command" {
			l.payload = i
		}
	}
	if l.payload < 0 {
		return fmt.Errorf("container %s runs http-prober without argument \"-command\": what it becomes cannot be read", name)
	}
	flag := l.outer[l.payload]
	process := wrapped{}
	decoder := json.NewDecoder(strings.NewReader(flag.value))
	decoder.DisallowUnknownFields()
	// The decoder's own message may quote the value, which may hold secrets.
	if decoder.Decode(&process) != nil || process.Command == "" || decoder.Decode(&wrapped{}) != io.EOF {
		return fmt.Errorf("argument %q of container %s is not the JSON of a command that http-prober understands",
			flag.spelling, name)
	}
	words := []word{{text: process.Command, inArgs: true}}
	for _, text := range process.Args {
		words = append(words, word{text: text, inArgs: true})
	}
	items, err := readItems(name, words)
	if err != nil {
		return fmt.Errorf("within %s: %w", flag.spelling, err)
	}
	if items[0].name != "" || isWrapper(items[0]) {
		return fmt.Errorf("argument %q of container %s does not begin with the component's executable", flag.spelling, name)
	}
	l.items = items
	return nil
}

// wrap is the wrapper's command line around the component's.
func (l *commandLine) wrap() ([]item, error) {
	var words []string
	for _, item := range l.items {
		for _, word := range item.words {
			words = append(words, word.text)
		}
	}
	text, err := json.Marshal(wrapped{Command: words[0], Args: words[1:]})
	if err != nil {
		return nil, fmt.Errorf("wrap the command of container %s: %w", l.container.Name, err)
	}
	outer := slices.Clone(l.outer)
	outer[l.payload].set(string(text))
	return outer, nil
}
