package gcfg

import "strings"

// Header is the line that begins a section, or one of its subsections.
func Header(section, subsection string) string {
	if subsection == "" {
		return "[" + section + "]\n"
	}
	return "[" + section + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(subsection) + "\"]\n"
}

// Line is one that has a key with its value.
func Line(key, value string) string {
	return key + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + "\"\n"
}

// Bool knows the words that mean true and false: https://pkg.go.dev/gopkg.in/gcfg.v1/types#BoolValues
func Bool(value string) (truth, known bool) {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}
