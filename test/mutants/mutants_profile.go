package main

// Rule 2 where an operator's ProviderProfile is laid over the CCM: it changes nothing that the hand-over rests on, and with a
// fault in it nothing at all.
func profiles() []mutant {
	inCatalogue := func(name, file, old, changed string) mutant {
		return mutant{
			rule: "2 profile", name: name, file: "pkg/provider/" + file, old: old, new: changed, packages: []string{"pkg/provider"},
		}
	}
	inController := func(name, old, changed string) mutant {
		return mutant{
			rule: "2 profile", name: name, file: "controllers/cluster/cluster_profile.go", old: old, new: changed,
			packages: []string{"controllers/cluster"},
		}
	}
	return []mutant{
		inCatalogue("flags that are there at times may be set", "overlay_problems.go", "case reserved(flag):", "case false:"),
		inCatalogue("leader election may be set", "overlay_problems.go", `strings.HasPrefix(flag, "leader-elect")`, "false"),
		inCatalogue("what the catalogue passes may be passed twice", "overlay_problems.go", "case passed[flag]:", "case false:"),
		inCatalogue("what is passed in this cluster may be passed twice", "overlay.go", "; passed[flag] {", "; passed[flag] && false {"),
		inCatalogue("an underscore hides a flag", "overlay_contents.go", `strings.ReplaceAll(name, "_", "-")`, "name"),
		inCatalogue("a switch takes the next flag for its value", "overlay_problems.go", "case !form.MatchString(argument):", "case !form.MatchString(argument) && false:"),
		inCatalogue("a profile with problems is applied", "overlay.go", "if len(problems) > 0 {", "if len(problems) < 0 {"),
		inCatalogue("the probe is of the image that is built in", "overlay.go", ", {&addons.Probe, ProbeSuffix}", ""),
		inController("a profile that cannot be read is none", "case apierrors.IsNotFound(err),", "case apierrors.IsNotFound(err), err != nil,"),
		inController("the built-in images are applied in place of a profile with problems", "s.profileProblem = profileUnusable(facts.Name, problems)", "s.profileProblem = \"\""),
		inController("a draft under another name is applied", "err == nil && !profile.Used()", "false"),
	}
}
