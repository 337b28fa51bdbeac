package main

// A support bundle has no secret: what looks like one is replaced, and no archive is written that has a value of one.
func supportBundles() []mutant {
	const rule = "support bundle"
	ofBundle := func(name, function string, how operator) mutant {
		return of(supportBundlePackage, rule, name, function, how)
	}
	return []mutant{
		ofBundle("a bearer token stays", "newRedactor", lacks("bearer redacted")),
		ofBundle("a JWT stays", "newRedactor", lacks("eyJ JWT")),
		ofBundle("the tail of a block of PEM stays", "newRedactor", lacks("s END redacted -BEGIN")),
		ofBundle("base64 of PEM stays", "newRedactor", lacks("LS0tLS1CRUdJTi PEM")),
		ofBundle("a password in a URL stays", "newRedactor", lacks("Za z0 9 1 redacted")),
		ofBundle("the value behind a flag stays", "redactor.arguments", never("secretNext flag")),
		ofBundle("the value of a secret field stays", "redactor.field", never("MatchString")),
		ofBundle("variables of containers stay", "redactor.fields", never("env")),
		ofBundle("an applied configuration stays", "redactor.fields", skips("last applied")),
		ofBundle("the value of a secret name in a text stays", "redactor.pairs", always("MatchString")),
		ofBundle("a value with spaces loses its first word only", "redactor.pairs", never("beginsLine")),
		ofBundle("a file is not redacted", "bundle.add", skips("redactor")),
		ofBundle("an error is not redacted", "reader.finish",
			instead("redactor readme", "r.readme(client.ObjectKeyFromObject(r.cluster).String(), now, scanned)")),
		ofBundle("what could not be read was left out", "bundle.couldNotRead", becomes("gaps", "append(b.gaps, gap{what: what})")),
		ofBundle("the archive is not searched", "reader.finish", never("scan")),
		ofBundle("only the first Secret is searched for", "reader.secrets", ranges("looked", "[:1]")),
		ofBundle("only the first file is searched", "scan", begins("return nil")),
		ofBundle("fields of a kubeconfig are not searched for", "needles.parts", skips("fields key of")),
		ofBundle("lines are not searched for", "needles.parts", skips("add name")),
		ofBundle("what base64 says is not searched for", "needles.parts", skips("decoded value -add")),
		ofBundle("what was not searched for is not said", "scannedFor", never("unread")),
		ofBundle("the answer of a manager that refuses is taken for its metrics", "get", never("StatusCode")),
		ofBundle("an API server before 1.30 forwards no port", "dialerOf", without("IsUpgradeFailure")),
	}
}
