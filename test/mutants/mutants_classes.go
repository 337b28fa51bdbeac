package main

// Rule 7: the default StorageClass of others is not touched, never are there two of ours, and it is judged once.
func defaultClasses() []mutant {
	const rule = "7 defaults"
	return []mutant{
		in(rule, "the default of another driver is taken", "defaultsOf", never("Plugin")),
		in(rule, "the former default stays one",
			"defaultClass", becomes("Objects", "append(former[:0], successor.Ref)")),
		in(rule, "the new default comes before the former has gone",
			"defaultClass", becomes("Objects", "append([]observation.Ref{successor.Ref}, former...)")),
		in(rule, "a default beside ours counts as judged", "defaultClass", without("former")),
		in(rule, "it is judged again in every pass", "judgesDefaultClass", never("DefaultStorageClass")),
		in(rule, "classes that cannot be looked at are none", "defaultClass", never("known")),
		in(rule, "the default changes while the migration can be rolled back",
			"machineController",
			begins("in.Facts.CompletedAt = in.Stamp()\nif out := defaultClass(in); out.Action != nil {\nreturn out\n}")),
		of(factsPackage, rule, "a class that just became the default gets another one beside it",
			"Reader.SwitchDefaultClass", never("isDefault")),
	}
}

// Rule 8: load balancers get the CCM's names when no way leads back, and no name that another one has.
func renamedLoadBalancers() []mutant {
	const rule = "8 names"
	return []mutant{
		in(rule, "load balancers are renamed while the migration can be rolled back",
			"renamesLoadBalancers", without("CompletedAt")).
			and("machineController", begins("if out := loadBalancersRenamed(in); out.Action != nil {\nreturn out\n}")),
		in(rule, "they are looked at for ever", "renamesLoadBalancers", without("RenamedLoadBalancers")),
		in(rule, "a cloud that cannot be asked has none", "loadBalancersRenamed", never("known")),
		in(rule, "a name is given that another one has", "sortedForRename", never("Holders")),
		in(rule, "one of two of the same name is renamed", "sortedForRename", judged("Twins", "len(balancer.Holders) > 0")),
		in(rule, "one is renamed again while the cloud changes it", "sortedForRename", never("Changing")),
		of(balancersPackage, rule, "a name that was taken a moment ago is given", "octavia.rename", never("taken")),
		of(balancersPackage, rule, "one that someone else renamed loses that name", "octavia.rename", never("From")),
		of(balancersPackage, rule, "one that goes counts as the Service's", "goes", never("balancer")),
	}
}
