package observation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Text is a message, or a part of one, with the objects that it names: whoever writes the words has the objects at hand, and no
// one has to find them in the words again.
type Text struct {
	Words string
	// Objects that the words name, in their order, each once.
	Objects []Ref
}

// Object is what a message can name: a Ref, and whatever is known of an object beside its Ref.
type Object interface {
	fmt.Stringer
	Reference() Ref
}

// Say joins the parts of a message: words, parts that were joined before, and objects, which are named by their String.
func Say(parts ...any) Text {
	var words strings.Builder
	var text Text
	for _, part := range parts {
		switch part := part.(type) {
		case Text:
			words.WriteString(part.Words)
			text = text.About(part.Objects...)
		case Object:
			words.WriteString(part.String())
			text = text.About(part.Reference())
		default:
			fmt.Fprint(&words, part)
		}
	}
	text.Words = words.String()
	return text
}

// About adds objects to those that are named.
func (t Text) About(objects ...Ref) Text {
	t.Objects = slices.Clone(t.Objects)
	for _, object := range objects {
		if !slices.ContainsFunc(t.Objects, func(other Ref) bool { return other.String() == object.String() }) {
			t.Objects = append(t.Objects, object)
		}
	}
	return t
}

// String is what people read.
func (t Text) String() string { return t.Words }

// Names says that it names an object, whatever its UID.
func (t Text) Names(object Ref) bool { return slices.Contains(RefNames(t.Objects), object.String()) }

// Without takes the end of a sentence away, so that it can go on.
func (t Text) Without(end string) Text {
	t.Words = strings.TrimSuffix(t.Words, end)
	return t
}

// Also is the text with one more clause in its last sentence, so that it keeps to two sentences. No words add none.
func (t Text) Also(clause ...any) Text {
	if more := Say(clause...); more.Words != "" {
		return Say(t.Without("."), "; ", more, ".")
	}
	return t
}

// Clauses makes one sentence of several; the last text may have one more.
func Clauses(texts []Text) Text {
	joined := Join(texts[:min(1, len(texts))], "")
	for _, text := range texts[min(1, len(texts)):] {
		joined = Say(joined.Without("."), "; ", text)
	}
	return joined
}

// FirstOf several texts about one matter is the first of them, with the number and the objects of the others, as "2 more doubts:
// Pod a, Pod b".
func FirstOf(texts []Text, one, many string) Text {
	if len(texts) < 2 {
		return Join(texts, "")
	}
	var others []Ref // What each of them is about is the first that it names.
	for _, text := range texts[1:] {
		others = append(others, text.Objects[:min(1, len(text.Objects))]...)
	}
	more := Say(wording.Count(len(texts)-1, "more "+one, "more "+many))
	if len(others) > 0 {
		more = Say(more, ": ", Names(others))
	}
	return texts[0].Also(more)
}

// Names joins what a message names: sorted, and bounded as by wording.Names.
func Names[T any](list []T) Text {
	texts := SortTexts(Texts(list))
	shown, rest := texts[:min(len(texts), wording.MostNames)], len(texts)-wording.MostNames
	if rest > 0 {
		return Say(Join(shown, ", "), " and "+wording.Count(rest, "more", "more"))
	}
	return Join(shown, ", ")
}

// Texts are the parts of a message one by one.
func Texts[T any](list []T) []Text {
	texts := make([]Text, 0, len(list))
	for _, part := range list {
		texts = append(texts, Say(part))
	}
	return texts
}

// SortTexts gives them the order of their words, each once.
func SortTexts(texts []Text) []Text {
	texts = slices.SortedFunc(slices.Values(texts), func(a, b Text) int { return strings.Compare(a.Words, b.Words) })
	return slices.CompactFunc(texts, func(a, b Text) bool { return a.Words == b.Words })
}

// Join puts words between texts.
func Join(texts []Text, between string) Text {
	var joined Text
	for i, text := range texts {
		if i > 0 {
			joined.Words += between
		}
		joined = Say(joined, text)
	}
	return joined
}

// Words of each.
func Words(texts []Text) []string {
	words := make([]string, 0, len(texts))
	for _, text := range texts {
		words = append(words, text.Words)
	}
	return words
}
