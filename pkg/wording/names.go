package wording

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostNames that are joined; the others are counted.
const MostNames = 5

// Names joins names for a message: sorted, and bounded so that a large cluster does not make a large status.
func Names(names []string) string {
	names = slices.Sorted(slices.Values(names))
	names = slices.Compact(names)
	if len(names) > MostNames {
		rest := len(names) - MostNames
		return strings.Join(names[:MostNames], ", ") + " and " + Count(rest, "more", "more")
	}
	return strings.Join(names, ", ")
}

// Count is a number with its noun, such as "1 Machine" and "2 Machines".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Capital is a text as the beginning of a sentence.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Bounded cuts between characters: a part of one comes back from the API server as another one, and then every pass would find
// the status changed.
func Bounded(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most-3], "") + "..."
	}
	return text
}

// Clauses makes one sentence of several.
func Clauses(sentences []string) string {
	clauses := make([]string, 0, len(sentences))
	for _, sentence := range sentences {
		clauses = append(clauses, strings.TrimSuffix(sentence, "."))
	}
	return strings.Join(clauses, "; ") + "."
}
