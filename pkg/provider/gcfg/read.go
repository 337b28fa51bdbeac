package gcfg

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entry is one name=value of a file, or, with an empty key, the header of a section.
type Entry struct {
	Line int
	// Section and Key are in lower case; subsections are compared with regard to case.
	Section, Subsection, Key, Value string
	// Implied says that there is no equals sign, which means true.
	Implied bool
}

// parser knows how these files are not like other INI files: a backslash counts, and quotes may begin anywhere.
type parser struct {
	rest                string
	line                int
	section, subsection string
	entries             []Entry
}

// Read takes a file apart, or says what is wrong with it.
func Read(text string) (entries []Entry, problem string) {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return nil, "is not text in UTF-8: save it as such"
	}
	p := &parser{rest: text, line: 1}
	for p.skipBlanks(); p.rest != ""; p.skipBlanks() {
		at := p.line
		if problem := p.statement(); problem != "" {
			return nil, fmt.Sprintf("line %d, %s", at, problem)
		}
	}
	return p.entries, ""
}

func (p *parser) statement() (problem string) {
	switch first, size := utf8.DecodeRuneInString(p.rest); {
	case first == '\n':
		p.line++
		p.rest = p.rest[size:]
		return ""
	case first == '#' || first == ';':
		p.skipLine()
		return ""
	case first == '[':
		p.rest = p.rest[size:]
		if !p.header() {
			return `is not a section: write [Name], or [Name "part"], on a line of its own`
		}
		return ""
	case !unicode.IsLetter(first) || p.section == "":
		return "is neither a section, nor name=value in one: correct it"
	}
	made := Entry{Line: p.line, Section: p.section, Subsection: p.subsection, Key: p.name()}
	p.skipBlanks()
	if rest, found := strings.CutPrefix(p.rest, "="); found {
		p.rest = rest
		p.skipBlanks()
		if made.Value, found = p.value(); !found {
			return `has a value that is not finished: put it into double quotes, and write \\ for a backslash and \" for a quote in it`
		}
	} else if made.Implied = true; !p.ended() {
		return "is not of the form name=value: correct it"
	}
	p.entries = append(p.entries, made)
	return ""
}

// header of a section, after its bracket.
func (p *parser) header() bool {
	p.skipBlanks()
	p.section, p.subsection = p.name(), ""
	p.skipBlanks()
	if strings.HasPrefix(p.rest, `"`) {
		part, closed := p.quoted(`\"`)
		if !closed || part == "" {
			return false
		}
		p.subsection = part
		p.skipBlanks()
	}
	rest, closed := strings.CutPrefix(p.rest, "]")
	p.rest = rest
	p.skipBlanks()
	p.entries = append(p.entries, Entry{Line: p.line, Section: p.section, Subsection: p.subsection})
	return closed && p.section != "" && p.ended()
}

// name of a section or a key, in lower case; it begins with a letter.
func (p *parser) name() string {
	if first, _ := utf8.DecodeRuneInString(p.rest); !unicode.IsLetter(first) {
		return ""
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' })
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return strings.ToLower(name)
}

// value up to the end of its line, or a comment; blanks at its end count in quotes only.
func (p *parser) value() (value string, finished bool) {
	var out strings.Builder
	kept := 0
	for p.rest != "" && !strings.ContainsRune("\n;#", rune(p.rest[0])) {
		switch first, size := utf8.DecodeRuneInString(p.rest); first {
		case '"':
			part, closed := p.quoted(`\"nt`)
			if !closed {
				return "", false
			}
			out.WriteString(part)
			kept = out.Len()
		case '\\':
			if !p.unquotedEscape(&out) {
				return "", false
			}
			kept = out.Len()
		case '\r':
			p.rest = p.rest[size:]
		default:
			p.rest = p.rest[size:]
			out.WriteRune(first)
			if first != ' ' && first != '\t' {
				kept = out.Len()
			}
		}
	}
	return out.String()[:kept], true
}

// unquotedEscape: outside of quotes a backslash continues a line, or stands before a quote.
func (p *parser) unquotedEscape(out *strings.Builder) bool {
	rest := p.rest[1:]
	if quote, found := strings.CutPrefix(rest, `"`); found {
		p.rest = quote
		out.WriteByte('"')
		return true
	}
	rest, found := strings.CutPrefix(strings.TrimPrefix(rest, "\r"), "\n")
	if found {
		p.rest = rest
		p.line++
	}
	return found
}

// quoted text, which begins here. In the name of a section there are fewer escapes than in a value.
func (p *parser) quoted(escapes string) (text string, closed bool) {
	var out strings.Builder
	escaped := false
	for at, r := range p.rest[1:] {
		switch {
		case escaped:
			known := strings.IndexRune(escapes, r)
			if known < 0 {
				return "", false
			}
			out.WriteByte("\\\"\n\t"[known])
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			p.rest = p.rest[at+2:]
			return out.String(), true
		case r == '\n':
			return "", false
		case r != '\r':
			out.WriteRune(r)
		}
	}
	return "", false
}

func (p *parser) ended() bool { return p.rest == "" || strings.ContainsRune("\n;#", rune(p.rest[0])) }

func (p *parser) skipBlanks() { p.rest = strings.TrimLeft(p.rest, " \t\r") }

func (p *parser) skipLine() {
	if end := strings.IndexByte(p.rest, '\n'); end >= 0 {
		p.rest = p.rest[end:]
	} else {
		p.rest = ""
	}
}
