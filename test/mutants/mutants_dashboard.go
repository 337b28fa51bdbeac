package main

// Rules of the dashboard: only the person who started it sees it, and it never looks well when it could not look.
func dashboards() []mutant {
	const rule = "dashboard"
	return []mutant{
		of(dashboardPackage, rule, "any Host is answered", "door.guard", never("hosts")),
		of(dashboardPackage, rule, "the page needs no session", "door.guard", always("knows")),
		of(dashboardPackage, rule, "a POST is answered", "door.guard", never("MethodGet")),
		of(dashboardPackage, rule, "a token works twice", "door.enter", never("CompareAndSwap")),
		of(dashboardPackage, rule, "any token works", "door.enter", never("token")),
		of(dashboardPackage, rule, "a look ahead uses the token up", "door.enter", never("MethodHead")),
		of(dashboardPackage, rule, "scripts read the cookie", "door.enter", becomes("HttpOnly", "false")),
		of(dashboardPackage, rule, "other machines may connect", "loopback", without("allLoopback")),
		of(dashboardPackage, rule, "what shows nothing is shown", "pages.write",
			instead("ExecuteTemplate", "p.templates.ExecuteTemplate(out, name, shown)")),
		of(dashboardPackage, rule, "a lost connection is not said", "seen.notices", never("lost")),
		of(dashboardPackage, rule, "what was not read is judged", "seen.judges", without("clusters")),
		of(dashboardPackage, rule, "a page that cannot look has the title of one that can", "view.Title", never("live Known")),
	}
}
