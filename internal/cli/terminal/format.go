package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Format is the value of flag --output. A format that is none is a wrong flag, before anything is read.
type Format struct {
	value *string
	known []string
}

var _ pflag.Value = Format{}

// BindFormat adds flag --output, short -o: text, json or yaml.
func BindFormat(flags *pflag.FlagSet, to *string) { BindFormats(flags, to, "text", "json", "yaml") }

// BindFormats adds flag --output, short -o. The first format is the default.
func BindFormats(flags *pflag.FlagSet, to *string, known ...string) {
	*to = known[0]
	last := len(known) - 1
	flags.VarP(Format{to, known}, "output", "o", "Format: "+strings.Join(known[:last], ", ")+" or "+known[last]+".")
}

// String implements pflag.Value.
func (f Format) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

// Set implements pflag.Value.
func (f Format) Set(value string) error {
	if !slices.Contains(f.known, value) {
		return fmt.Errorf("it is one of %s", strings.Join(f.known, ", "))
	}
	*f.value = value
	return nil
}

// Type implements pflag.Value.
func (f Format) Type() string { return "string" }

// Known are the formats that there are.
func (f Format) Known() []string { return f.known }
