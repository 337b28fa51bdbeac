package status

import (
	"reflect"
	"strings"
	"unicode"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// replacement is no longer than what it replaces, so that no bound of a field is exceeded by it.
const replacement = "?"

// neutral makes all texts of a status, or of a part of it, safe to write and to show. A user cluster says what it likes, for
// example in the error message of a Machine: the API server refuses a server-side apply with DEL, a character of C1 or a
// noncharacter in it (https://github.com/yaml/go-yaml/blob/v2.4.0/readerc.go), and a terminal obeys others.
func neutral(part any) {
	eachText(reflect.ValueOf(part), "", func(_, text string) string { return neutralText(text) })
}

// neutralText keeps letters, marks, numbers, punctuation, symbols, spaces, tabs and line feeds. Control, format and
// bidirectional characters, noncharacters and bytes that are no UTF-8 are replaced.
func neutralText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			return r
		}
		return rune(replacement[0])
	}, text)
}

// eachText replaces each text below a value, in the fields that are written. Kept as they were read are those that are given
// back to programs: what the CCM inherits, and the flags that a rollback restores.
func eachText(value reflect.Value, field string, replace func(field, text string) string) {
	switch kind := value.Kind(); {
	case kind == reflect.String:
		value.SetString(replace(field, value.String()))
	case kind == reflect.Pointer && !value.IsNil():
		eachText(value.Elem(), field, replace)
	case kind == reflect.Slice:
		for i := range value.Len() {
			eachText(value.Index(i), field, replace)
		}
	case kind == reflect.Struct:
		switch value.Interface().(type) {
		case ucv1.InheritedConfiguration, ucv1.OriginalArguments:
			return
		}
		for i := range value.NumField() {
			if field := value.Type().Field(i); field.IsExported() {
				eachText(value.Field(i), field.Name, replace)
			}
		}
	}
}

// NotShown stands in place of each message of a status whose texts were refused.
const NotShown = "The API server refused the texts of this status; the controller's log has them."

// WithoutMessages leaves nothing in a status that is there for people to read only.
func WithoutMessages(status *ucv1.ClusterStatus) {
	eachText(reflect.ValueOf(status), "", func(field, text string) string {
		if field == "Message" && text != "" {
			return NotShown
		}
		return text
	})
}
