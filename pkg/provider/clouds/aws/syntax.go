package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// config is a cloud.conf: sections of keys in their order. Names are spelled as the CCM spells them.
type config struct {
	sections []section
}

type section struct {
	name, label string
	settings    []setting
}

type setting struct {
	key, value string
}

// parse reads what gcfg reads, of which the CCM makes its configuration; names are compared without regard to case. It is
// stricter where gcfg lets mistakes pass that no one would see: keys that no one knows, and keys that are there twice.
// https://pkg.go.dev/gopkg.in/gcfg.v1#hdr-Syntax_description
func parse(text string) (config, string) {
	made := config{}
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		return config{}, "key cloud.conf is no UTF-8 text: save it as such"
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.Trim(line, " \t\r\n")
		problem := ""
		switch {
		case strings.ContainsFunc(line, isControl):
			problem = "has a control character: remove it"
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			problem = made.open(line)
		default:
			problem = made.add(line)
		}
		if problem != "" {
			// The line is not quoted: it may hold a credential.
			return config{}, fmt.Sprintf("key cloud.conf, line %d, %s", number, problem)
		}
	}
	return made, ""
}

// open begins a section, or goes on with one that is there already.
func (c *config) open(line string) string {
	header := regexp.MustCompile(`^\[[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:"((?:[^"\\]|\\["\\])+)"[ \t]*)?\][ \t]*(?:[;#].*)?$`)
	found := header.FindStringSubmatch(line)
	if found == nil {
		return `is a section that does not end, or whose name is none: write it like [Global] or [ServiceOverride "1"]`
	}
	name, known := canonical(found[1], globalSection, overrideSection)
	switch {
	case !known && foreign(found[1]) != "":
		return fmt.Sprintf("begins a section of %s: put the configuration of AWS there", foreign(found[1]))
	case !known:
		return "begins a section that the AWS cloud-controller-manager does not know: it knows Global and ServiceOverride"
	case name == globalSection && found[2] != "":
		return "gives section Global a label: write [Global]"
	case name == overrideSection && found[2] == "":
		return `gives section ServiceOverride no label: write [ServiceOverride "1"]`
	}
	c.enter(name, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(found[2]))
	return ""
}

// enter makes a section the last one, which is the one that is open.
func (c *config) enter(name, label string) {
	at := slices.IndexFunc(c.sections, func(s section) bool { return s.name == name && s.label == label })
	if at < 0 {
		c.sections = append(c.sections, section{name: name, label: label})
		return
	}
	again := c.sections[at]
	c.sections = append(slices.Delete(c.sections, at, at+1), again)
}

// add puts a setting into the section that is open.
func (c *config) add(line string) string {
	if len(c.sections) == 0 {
		return "stands before the first section: " + otherFormat(line)
	}
	open := &c.sections[len(c.sections)-1]
	found := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|[;#]|$)(.*)$`).FindStringSubmatch(line)
	if found == nil {
		return "is no setting: write it like key = value"
	}
	key, known := canonical(found[1], keysIn(open.name)...)
	switch {
	case !known && foreign(found[1]) != "":
		return fmt.Sprintf("has %s, a key of %s: put the configuration of AWS there", strings.ToLower(found[1]), foreign(found[1]))
	case !known:
		return fmt.Sprintf(
			"has a key that the AWS cloud-controller-manager does not know in section %s: correct it or remove it",
			open.name,
		)
	case key != familiesKey && slices.ContainsFunc(open.settings, func(s setting) bool { return s.key == key }):
		return fmt.Sprintf("has %s for the second time in section %s: keep one of them", key, open.name)
	}
	value, problem := "true", ""
	switch {
	case found[2] == "=":
		value, problem = unquote(found[3])
	case !isSwitch(key):
		problem = "has no value: write it like key = value"
	}
	if problem != "" {
		return fmt.Sprintf("key %s, %s", key, problem)
	}
	open.settings = append(open.settings, setting{key: key, value: value})
	return ""
}

// otherFormat says what the configurations of other providers look like.
func otherFormat(line string) string {
	if strings.HasPrefix(line, "{") {
		return "it looks like JSON, which the configuration of Azure is; put the configuration of AWS there, which begins with [Global]"
	}
	return "begin the file with [Global]"
}

// unquote ends a value at its comment and takes its quotes away, which may stand around a part of it too.
func unquote(text string) (value, problem string) {
	var out strings.Builder
	rest, kept := strings.TrimLeft(text, " \t"), 0
	for rest != "" {
		at := strings.IndexAny(rest, "\"\\#;")
		if at < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:at])
		if rest[at] == '\\' {
			return "", "has a backslash outside of quotation marks: put the value into quotation marks"
		}
		if rest[at] != '"' {
			break
		}
		var inner string
		if inner, rest, problem = quoted(rest[at+1:]); problem != "" {
			return "", problem
		}
		out.WriteString(inner)
		kept = out.Len()
	}
	// Spaces at the end belong to the value in quotation marks only.
	all := out.String()
	return all[:kept] + strings.TrimRight(all[kept:], " \t"), ""
}

// quoted reads up to the closing quotation mark.
func quoted(text string) (inner, rest, problem string) {
	var out strings.Builder
	for {
		at := strings.IndexAny(text, "\"\\")
		switch {
		case at < 0:
			return "", "", "has a quotation mark that is not closed"
		case text[at] == '"':
			return out.String() + text[:at], text[at+1:], ""
		case at+1 == len(text) || text[at+1] != '"' && text[at+1] != '\\':
			return "", "", "has a backslash that is followed by neither a backslash nor a quotation mark: write two of them"
		}
		out.WriteString(text[:at] + text[at+1:at+2])
		text = text[at+2:]
	}
}

// render writes what parse reads.
func render(conf config) string {
	var out strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, section := range conf.sections {
		if section.label == "" {
			fmt.Fprintf(&out, "[%s]\n", section.name)
		} else {
			fmt.Fprintf(&out, "[%s \"%s\"]\n", section.name, escape.Replace(section.label))
		}
		for _, setting := range section.settings {
			fmt.Fprintf(&out, "%s = \"%s\"\n", setting.key, escape.Replace(setting.value))
		}
	}
	return out.String()
}

func canonical(name string, known ...string) (string, bool) {
	at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
	if at < 0 {
		return "", false
	}
	return known[at], true
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\t' }
