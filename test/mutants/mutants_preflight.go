package main

// What was found before the start keeps the migration back, and what nobody could look at is not passed.
func preflightRules() []mutant {
	const pkg = "pkg/migration/preflight"
	check := func(name, file, old, changed string) mutant {
		return mutant{rule: "preflight", name: name, file: pkg + "/" + file, old: old, new: changed, packages: []string{pkg}}
	}
	read := func(name, file, old, changed string) mutant {
		return mutant{rule: "preflight", name: name, file: "pkg/usercluster/" + file, old: old, new: changed, packages: []string{"pkg/usercluster"}}
	}
	return []mutant{
		in("preflight", "findings do not matter", "finding.go", "		default:\n			objections = append(objections, finding)\n		}\n	}\n	return judge(objections, unknown, \"\")\n}\n\n// JudgesPreflight",
			"		default:\n		}\n	}\n	return judge(objections, unknown, \"\")\n}\n\n// JudgesPreflight"),
		in("preflight", "one accepted object is all of them", "finding.go", "if len(left) == 0 {\n			finding.Accepted", "if len(because) > 0 {\n			finding.Accepted"),
		in("preflight", "what is accepted is so for good", "finding.go", "entry.Until != nil && !now.Before(entry.Until.Time)", "false"),
		in("preflight", "another finding is accepted, too", "finding.go", "entry.ID != finding.ID || ", ""),
		in("preflight", "the cloud is not asked before the roll", "roll.go", "p.cloudAsked, p.measured}", "p.measured}"),
		in("preflight", "the cloud is asked before the start", "finding.go", "!f.Accepted && !f.BeforeRoll", "!f.Accepted"),
		in("3 unknown", "findings that nobody looked for are none", "finding.go", "	if p.o.Findings.IsUnknown() {", "	if false {"),
		in("3 unknown", "a check that could not look has passed", "finding.go", "		case finding.NotLookedAt:\n			unknown = append(unknown, strings.TrimSuffix(strings.TrimPrefix(finding.Message, couldNotLookAt), \".\"))\n		default:\n			objections = append(objections, finding)\n		}\n	}\n	return judge(objections, unknown, \"\")\n}\n\n// JudgesPreflight",
			"		case finding.NotLookedAt:\n		default:\n			objections = append(objections, finding)\n		}\n	}\n	return judge(objections, unknown, \"\")\n}\n\n// JudgesPreflight"),
		check("a look that failed has found nothing", "judge.go", "if why := c.unseen(o); why != \"\" {", "if why := c.unseen(o); why == \"-\" {"),
		check("an unknown leader is nobody", "controlplane.go", "now.Sub(lease.ChangedAt) < lasts:", "false:"),
		check("a leader that was not watched is dead", "controlplane.go", "now.Sub(lease.WatchedAt) < lasts:", "false:"),
		check("a webhook that nobody knows of answers", "access.go", "case webhook.Ready.IsUnknown():", "case false:"),
		check("credentials that run out block what has started", "access.go", "tooEarly && o.Cluster.Status.StartedAt == nil", "tooEarly"),
		check("what is public is as bad as what is not", "network.go", "if registries.Public || later {", "if later {"),
		check("a term of a volume is enough that matches in part", "volumes.go", "			return false\n		}\n	}\n	return true\n}\n\n// asTheCCMLabels", "			continue\n		}\n	}\n	return true\n}\n\n// asTheCCMLabels"),
		read("a webhook for everything is for nothing", "preflight_webhooks.go", "return true, nil // A webhook", "return false, nil // A webhook"),
		read("what failed is remembered for long", "preflight.go", "memory.complete && age", "age"),
		read("a finished pod counts", "preflight_pods.go", "if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {", "if false {"),
		read("an event of success answers nothing", "preflight_cloud.go", "!answered || eventTime(success).Before(eventTime(event))", "true || eventTime(success).Before(eventTime(event)) || !answered"),
	}
}
