package vsphere

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// entry is one name=value of a file, or, with an empty key, the header of a section.
type entry struct {
	line int
	// section and key are in lower case; subsections are compared with regard to case.
	section, subsection, key, value string
	// implied says that there is no equals sign, which means true.
	implied bool
}

// parser reads files as the in-tree provider and the CSI driver do, which is not how other INI files are read: a backslash
// counts, and quotes may begin anywhere. https://pkg.go.dev/gopkg.in/gcfg.v1#hdr-Syntax_description
//
// No problem quotes the file: a line that is not understood may hold a credential.
type parser struct {
	rest                string
	line                int
	section, subsection string
	entries             []entry
}

func readINI(text string) (entries []entry, problem string) {
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
	made := entry{line: p.line, section: p.section, subsection: p.subsection, key: p.name()}
	p.skipBlanks()
	if rest, found := strings.CutPrefix(p.rest, "="); found {
		p.rest = rest
		p.skipBlanks()
		if made.value, found = p.value(); !found {
			return `has a value that is not finished: put it into double quotes, and write \\ for a backslash and \" for a quote in it`
		}
	} else if made.implied = true; !p.ended() {
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
		part, closed := p.quoted()
		if !closed || part == "" {
			return false
		}
		p.subsection = part
		p.skipBlanks()
	}
	rest, closed := strings.CutPrefix(p.rest, "]")
	p.rest = rest
	p.skipBlanks()
	p.entries = append(p.entries, entry{line: p.line, section: p.section, subsection: p.subsection})
	return closed && p.section != "" && p.ended()
}

// name of a section or a key, in lower case.
func (p *parser) name() string {
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
			part, closed := p.quoted()
			if !closed {
				return "", false
			}
			out.WriteString(part)
			kept = out.Len()
		case '\\':
			// Outside of quotes it only continues a line.
			rest, found := strings.CutPrefix(strings.TrimPrefix(p.rest[size:], "\r"), "\n")
			if !found {
				return "", false
			}
			p.rest = rest
			p.line++
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

// quoted text, which begins here.
func (p *parser) quoted() (text string, closed bool) {
	var out strings.Builder
	escaped := false
	for at, r := range p.rest[1:] {
		switch {
		case escaped:
			known := strings.IndexRune(`nt\"`, r)
			if known < 0 {
				return "", false
			}
			out.WriteByte("\n\t\\\""[known])
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

// quote is what quoted reads.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}
