package main

// Rules of a CCM beside the control plane: it is bound by the same fence, its pods count, and what is the management
// cluster's stays apart from what is the user cluster's.
func placements() []mutant {
	inCatalogue := func(name, old, changed string) mutant {
		return mutant{
			rule: "2 placement", name: name, file: "pkg/provider/placement.go", old: old, new: changed, packages: []string{"pkg/provider"},
		}
	}
	inSession := func(name, file, old, changed string) mutant {
		return mutant{
			rule: "2 placement", name: name, file: "pkg/usercluster/" + file, old: old, new: changed, packages: []string{"pkg/usercluster"},
		}
	}
	return []mutant{
		inCatalogue("credentials go into the user cluster", `case "Secret", "ConfigMap":`, `case "ConfigMap":`),
		inCatalogue("pods get a token of the management cluster", "pod.AutomountServiceAccountToken = \"\", new(false)", "pod.AutomountServiceAccountToken = \"\", new(true)"),
		inCatalogue("Clusters of one namespace share their pods", "		p.mark(template.Labels)\n", ""),
		inCatalogue("pods do not follow the API server", "Checksum(map[string][]byte{kubeconfigKey: p.Kubeconfig})", "Checksum(nil)"),
		inSession("pods beside the control plane do not count", "undo_observe.go", "	if access == nil {", "	if access != nil {"),
		inSession("pods that cannot be listed are none", "undo_observe.go", "		return migration.Unknown[[]string](\"listing Pods of \" + access", "		return migration.Known(names)\n		return migration.Unknown[[]string](\"listing Pods of \" + access"),
		inSession("pods start before there is a token", "addons_apply.go",
			"		func() error { return apply(ctx, s.beside.client, beside) },\n", "		func() error { return apply(ctx, s.beside.client, append(pods, beside...)) },\n"),
		inSession("a token is never renewed", "beside.go", "s.clock.Now().After(renewal(secret)) ||", "s.clock.Now().Before(renewal(secret).Add(-24*365*time.Hour)) ||"),
		inSession("a token of a ServiceAccount that is gone is good", "beside.go", "		secret.Annotations[accountAnnotation] != string(account.UID), nil", "		false, nil"),
		inSession("an inventory names other namespaces", "inventory.go", "		entry.Namespace = \"\"\n", ""),
		inSession("a changed Deployment is seen late", "beside.go", "generations = append(generations, deployment.Generation)", "generations = append(generations, 0)"),
		inSession("the kubeconfig has our credentials", "kubeconfig.go", "{user: {TokenFile: tokenFile}}", "{user: {TokenFile: tokenFile, Token: \"ours\"}}"),
	}
}
