package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// many is how many commands have a flag that is said once for all of them.
const many = 3

// commandTables are those of docs/cli.md, from the tree of commands.
func commandTables() map[string]string {
	commands := runnable(cli.Command())
	return map[string]string{"exit codes": exitCodes(), "commands": commandList(commands), "flags": flagTables(commands)}
}

func exitCodes() string {
	var out strings.Builder
	out.WriteString("| Exit code | Means |\n|---|---|\n")
	for _, code := range terminal.Codes() {
		fmt.Fprintf(&out, "| %d | %s |\n", code.Number, code.Means)
	}
	return out.String()
}

// runnable are the commands that do something of ours, in the order of the help.
func runnable(command *cobra.Command) (found []*cobra.Command) {
	if !command.HasSubCommands() && command.IsAvailableCommand() {
		found = append(found, command)
	}
	for _, sub := range command.Commands() {
		if sub.Name() != "completion" && sub.Name() != "help" {
			found = append(found, runnable(sub)...)
		}
	}
	return found
}

// usage is how a command is called, without the program.
func usage(command *cobra.Command) string {
	_, arguments, _ := strings.Cut(command.Use, " ")
	return strings.ReplaceAll(strings.TrimSpace(nameOf(command)+" "+arguments), "|", `\|`)
}

func nameOf(command *cobra.Command) string {
	_, name, _ := strings.Cut(command.CommandPath(), " ")
	return name
}

func commandList(commands []*cobra.Command) string {
	var out strings.Builder
	out.WriteString("| Command | Does |\n|---|---|\n")
	for _, command := range commands {
		fmt.Fprintf(&out, "| `%s` | %s |\n", usage(command), cell(command.Short))
	}
	return out.String()
}

// flagTables have the flags that many commands have, and then those of each command.
func flagTables(commands []*cobra.Command) string {
	having := map[string][]string{}
	said := map[string]*pflag.Flag{}
	for _, command := range commands {
		for _, flag := range flagsOf(command) {
			key := saying(flag)
			having[key], said[key] = append(having[key], nameOf(command)), flag
		}
	}
	shared := func(flag *pflag.Flag) bool { return len(having[saying(flag)]) >= many }
	keys := slices.DeleteFunc(sorted(said), func(key string) bool { return !shared(said[key]) })

	var out strings.Builder
	out.WriteString("| Flag of several commands | For | Of |\n|---|---|---|\n")
	for _, key := range keys {
		fmt.Fprintf(&out, "| %s | %s |\n", flagRow(said[key]), strings.Join(having[key], ", "))
	}
	out.WriteString("\n| Command | Flag of its own | For |\n|---|---|---|\n")
	for _, command := range commands {
		for _, flag := range flagsOf(command) {
			if !shared(flag) {
				fmt.Fprintf(&out, "| `%s` | %s |\n", nameOf(command), flagRow(flag))
			}
		}
	}
	return out.String()
}

// saying is all that is said of a flag: where one is another one, such as its default, it is not the same flag.
func saying(flag *pflag.Flag) string { return flag.Name + flag.Usage + flag.DefValue }

func sorted(flags map[string]*pflag.Flag) []string {
	keys := make([]string, 0, len(flags))
	for key := range flags {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// flagsOf a command, those of its group among them.
func flagsOf(command *cobra.Command) (flags []*pflag.Flag) {
	add := func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" {
			flags = append(flags, flag)
		}
	}
	command.LocalFlags().VisitAll(add)
	command.InheritedFlags().VisitAll(add)
	return flags
}

// flagRow is two cells: how a flag is written, and what it is for.
func flagRow(flag *pflag.Flag) string {
	value, text := pflag.UnquoteUsage(flag)
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + value
	}
	text = cell(text)
	if value := flag.DefValue; !slices.Contains([]string{"", "false", "[]"}, value) {
		text += " Default: `" + value + "`."
	}
	return "`" + name + "` | " + text
}

// cell is a text as a cell of a table, as a sentence.
func cell(text string) string {
	text = strings.NewReplacer("<", "&lt;", "|", `\|`, "\n", " ").Replace(text)
	if text = strings.ToUpper(text[:1]) + text[1:]; !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
