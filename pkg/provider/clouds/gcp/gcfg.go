package gcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Keys of section global that something depends on.
const (
	projectKey   = "project-id"
	zoneKey      = "local-zone"
	diskZoneKey  = "zone"
	networkKey   = "network-name"
	multizoneKey = "multizone"
	stackKey     = "stack-type"
	tokenURLKey  = "token-url"
	tokenBodyKey = "token-body"
)

// kind of a key's value.
type kind int

const (
	text kind = iota
	boolean
	list
)

// kinds are the keys that the in-tree provider and the CCM know; both ignore others. Only stack-type is new in the CCM.
// https://github.com/kubernetes/cloud-provider-gcp/blob/v36.0.7/providers/gce/gce.go (ConfigGlobal)
func kinds() map[string]kind {
	return map[string]kind{
		projectKey: text, "network-project-id": text, networkKey: text, "subnetwork-name": text, stackKey: text,
		"secondary-range-name": text, "node-tags": list, "node-instance-prefix": text, "regional": boolean, multizoneKey: boolean,
		"api-endpoint": text, "container-api-endpoint": text, zoneKey: text, "alpha-features": list,
		tokenURLKey: text, tokenBodyKey: text,
	}
}

// global is that section: the values of its keys, none of them empty. Only lists have more than one.
type global map[string][]string

func (g global) first(name string) string {
	if len(g[name]) == 0 {
		return ""
	}
	return g[name][0]
}

func (g global) copied() global {
	made := global{}
	for name, values := range g {
		made[name] = slices.Clone(values)
	}
	return made
}

// render writes the section with its keys sorted.
func (g global) render() []byte {
	var out strings.Builder
	out.WriteString("[global]\n")
	for _, name := range slices.Sorted(maps.Keys(g)) {
		for _, value := range g[name] {
			out.WriteString(name + " = " + quote(value) + "\n")
		}
	}
	return []byte(out.String())
}

// quote leaves alone what has no character of the syntax in it.
func quote(value string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.:/@+,", r))
	}
	if !strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// parse reads the section as gcfg does: names without regard to case, comments after # and ;, values in quotes. A key that
// stands there twice is refused, where gcfg would take the last one.
// https://pkg.go.dev/gopkg.in/gcfg.v1#hdr-Syntax_description
func parse(file []byte) (global, string) {
	made, known, header := global{}, kinds(), ""
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(file), "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		// No line is quoted in a message: it may hold a credential.
		here := fmt.Sprintf("key gce.conf, line %d, ", number)
		if line[0] == '[' {
			name, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				return nil, here + "is a section without its closing bracket: add it"
			}
			header = strings.ToLower(strings.TrimSpace(name))
			continue
		}
		if header == "" {
			return nil, here + "comes before section [global]: write the configuration of the in-tree provider gce, in the form of an " +
				"INI file"
		}
		if header != "global" {
			continue
		}
		name, value, given := strings.Cut(line, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		kind, wanted := known[name]
		if !wanted {
			continue
		}
		if problem := made.add(name, value, kind, given); problem != "" {
			return nil, here + "has " + problem
		}
	}
	return made, ""
}

// add takes one more value and says what is wrong with it.
func (g global) add(name, raw string, kind kind, given bool) string {
	value, ok := unquote(raw)
	switch {
	case !ok:
		return "a value of " + name + " that does not end or has a character that cannot be there: write it in one line, in quotes, " +
			`with \\ and \" for the two characters`
	case kind == boolean && !given:
		value = "true"
	case kind == boolean:
		if value, ok = truth(value); !ok {
			return "a value of " + name + " that is neither true nor false: write one of them"
		}
	case value == "":
		return ""
	}
	if kind != list && len(g[name]) > 0 {
		return name + " for the second time: keep one of them"
	}
	g[name] = append(g[name], value)
	return ""
}

// truth knows the words that gcfg knows (https://pkg.go.dev/gopkg.in/gcfg.v1/types#BoolValues).
func truth(value string) (string, bool) {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return "true", true
	case "false", "no", "off", "0":
		return "false", true
	}
	return "", false
}

// unquote ends an unquoted value at its comment and takes the quotes off a quoted one.
func unquote(raw string) (string, bool) {
	if strings.ContainsFunc(raw, unwritable) {
		return "", false
	}
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range raw {
		switch {
		case escaped && !strings.ContainsRune(`\"`, r):
			return "", false
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && strings.ContainsRune("#;", r):
			return strings.TrimSpace(out.String()), true
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String()), !quoted && !escaped
}

// unwritable are bytes that are no text, and characters that a file cannot have inside of a line.
func unwritable(r rune) bool {
	return r != '\t' && (unicode.IsControl(r) || r == unicode.ReplacementChar)
}
