package supportbundle

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// redacted stands where a secret may have been.
const redacted = "[redacted]"

// The names of fields, flags, variables, and keys of cloud configurations whose values may be secrets, or what they end with.
const (
	secretWords = `password|passwd|passphrase|passcode|pwd|secret|token|credentials?|authorization|cookie|signature` +
		`|(?:api|access|account|client|private|secret|shared|storage|encryption|ssh)[-_]?key(?:[-_]?(?:id|data))?` +
		`|certificate[-_]data|certificate-authority-data|application[-_]credential[-_](?:id|name)|client[-_]?id`
	secretNames = `(?i)(?:` + secretWords + `|\buser|\buser[-_]?name|\buser[-_]?id)$`
)

// rule is a pattern, and what stands in its place.
type rule struct {
	pattern *regexp.Regexp
	with    string
}

// redactor takes out what looks like a secret. It rather takes out too much.
type redactor struct {
	rules               []rule
	name, value, random *regexp.Regexp
}

func newRedactor() redactor {
	of := func(pattern, with string) rule { return rule{regexp.MustCompile(pattern), with} }
	return redactor{
		name: regexp.MustCompile(secretNames),
		// In quotes of JSON in JSON, in quotes, in a block of YAML, or one word.
		value: regexp.MustCompile(`\A(?:\\+"[^"]*"|"(?:\\.|[^"\\])*"|'[^']*'|[|>][-+0-9]*(?:\n[ \t]+.*)+|[^\s"']+)`),
		rules: []rule{
			of(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\z)`, "[redacted PEM]"),
			// The tail of a log may begin within a block.
			of(`(?:[A-Za-z0-9+/=]+\s+)+-----END [A-Z0-9 ]+-----`, "[redacted PEM]"),
			of(`LS0tLS1CRUdJTi[A-Za-z0-9+/=_-]*(?:\s+[A-Za-z0-9+/]{40,}={0,2})*`, "[redacted base64 of PEM]"),
			of(`eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*`, "[redacted JWT]"),
			of(`(?i)\b(bearer|authorization:? +basic)[ \t]+[\w.~+/=-]{8,}`, "$1 "+redacted),
			of(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s"'<>/]*@`, "${1}"+redacted+"@"),
			of(`(?i)(--?[\w-]*(?:`+secretWords+`)[ \t]+)[^\s-]\S*`, "${1}"+redacted),
			of(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, redacted),
		},
		random: regexp.MustCompile(`[A-Za-z0-9+/_-]{60,}={0,2}`),
	}
}

// text without what looks like a secret.
func (r redactor) text(text string) string {
	for _, rule := range r.rules {
		text = rule.pattern.ReplaceAllString(text, rule.with)
	}
	return r.random.ReplaceAllStringFunc(r.pairs(text), withoutRandom)
}

// pairs of a name and a value lose the value where the name says that it is a secret. One pattern for both is slow in long logs.
func (r redactor) pairs(text string) string {
	out := &strings.Builder{}
	for {
		at := strings.IndexAny(text, ":=")
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at+1])
		before := out.String()
		text = text[at+1:]
		named := strings.TrimRight(before[:len(before)-1], " \t\"'\\")
		from := strings.LastIndexFunc(named, func(c rune) bool {
			return !strings.ContainsRune("-_./", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		}) + 1
		if !r.name.MatchString(named[from:]) {
			continue
		}
		value := strings.TrimLeft(text, " \t")
		out.WriteString(text[:len(text)-len(value)])
		length := len(r.value.FindString(value))
		if line, _, _ := strings.Cut(value, "\n"); beginsLine(named[:from]) && len(line) > length {
			length = len(line)
		}
		out.WriteString(withoutValue(value[:length]))
		text = value[length:]
	}
}

// beginsLine says that before a name there is nothing else in its line.
func beginsLine(before string) bool {
	before = strings.TrimRight(before, " \t-\"'")
	return before == "" || strings.HasSuffix(before, "\n")
}

// withoutValue keeps the quotes, and what is no secret.
func withoutValue(value string) string {
	if slices.Contains([]string{"", "true", "false", "null", "{}", "[]", `""`, "''"}, strings.TrimRight(value, ",")) {
		return value
	}
	quote := value[:len(value)-len(strings.TrimLeft(value, `\`))]
	if rest := value[len(quote):]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		quote += rest[:1]
	} else {
		quote = ""
	}
	return quote + redacted + quote
}

// withoutRandom keeps digests, names, and paths: long base64 has digits and letters of both sizes.
func withoutRandom(found string) string {
	for _, is := range []func(rune) bool{unicode.IsUpper, unicode.IsLower, unicode.IsDigit} {
		if !strings.ContainsFunc(found, is) {
			return found
		}
	}
	return redacted
}

// field is the value of an object's field, without what its name or its text says is a secret.
func (r redactor) field(name string, value any) any {
	switch value := value.(type) {
	case string:
		if r.name.MatchString(name) && value != "" {
			return redacted
		}
		return r.text(value)
	case []any:
		if name == "args" || name == "command" {
			return r.arguments(value)
		}
		for i := range value {
			value[i] = r.field(name, value[i])
		}
		return value
	case map[string]any:
		return r.fields(name, value)
	}
	return value
}

func (r redactor) fields(of string, value map[string]any) map[string]any {
	// The fields of all appliers are long, and an applied configuration is the object once more, with its variables.
	delete(value, "managedFields")
	delete(value, "kubectl.kubernetes.io/last-applied-configuration")
	for key := range value {
		if _, text := value[key].(string); text && of == "env" && key == "value" {
			value[key] = redacted
		}
		value[key] = r.field(key, value[key])
	}
	return value
}

// arguments of a container: the value of a flag may be the next one.
func (r redactor) arguments(values []any) []any {
	secretNext := false
	for i := range values {
		argument, _ := values[i].(string)
		flag := strings.HasPrefix(argument, "-")
		if values[i] = r.text(argument); secretNext && !flag {
			values[i] = redacted
		}
		secretNext = flag && r.name.MatchString(argument)
	}
	return values
}
