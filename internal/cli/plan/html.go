package plan

import (
	"fmt"
	"html/template"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Page is a plan as one page that needs nothing else: it can be attached to a change request.
type Page struct {
	plan.Plan
	MadeAt time.Time
	// MadeBy is who made it, as the management cluster calls him; empty where it does not say.
	MadeBy string
	// Started says that no one asks for an approval any more.
	Started bool
}

// program that made a page, as the compiler noted it.
func program() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return "ccm-migration-controller"
	}
	return "ccm-migration-controller " + info.Main.Version
}

// approving is the command that approves the plan, and lets the migration start by it only.
func approving(p Page) string {
	namespace, name, _ := strings.Cut(p.Cluster, "/")
	return fmt.Sprintf(`kubectl -n %s patch uc %s --type=merge \
  -p '{"spec":{"mode":"PlanOnly","features":{"externalCloudProvider":true},"approval":{"planDigest":"%s"}}}'`, namespace, name, p.Digest)
}

// severity is the class of a finding on the page.
func severity(f observation.Finding) string {
	switch {
	case f.Blocks():
		return "blocking"
	case f.Accepted, f.Severity == observation.Info:
		return "info"
	}
	return "warning"
}

// Write the page.
func (p Page) Write(out io.Writer) error {
	page, err := template.New("plan").Funcs(template.FuncMap{
		"lasting": lasting, "shown": shown, "ending": ending, "turningPoint": turningPoint, "moving": moving, "onlyWhen": onlyWhen,
		"numbered": numbered, "textOf": start.TextOf, "severity": severity, "program": program, "approving": approving,
		"join": func(list []string) string { return strings.Join(list, ", ") },
	}).Parse(planPage)
	if err != nil {
		return fmt.Errorf("parse the page of the plan: %w", err)
	}
	return page.Execute(out, p)
}

const planPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plan of Cluster {{.Cluster}}</title>
<style>
:root { color-scheme: light dark; }
html { background: light-dark(#fff, #16181d); color: light-dark(#1b1d22, #e6e7ea); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #8888; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8883; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
.blocking, .stalls, .waits { color: light-dark(#a3001b, #ff8a8a); font-weight: 600; }
.warning { color: light-dark(#7a4b00, #f0b860); font-weight: 600; }
.finishes { color: light-dark(#175c1d, #7fd08a); font-weight: 600; }
.create { color: light-dark(#175c1d, #7fd08a); } .delete { color: light-dark(#a3001b, #ff8a8a); } .note { font-style: italic; }
.top { border: 1px solid #8888; border-radius: .3rem; padding: .3rem 1rem; } .top th { width: 10rem; } .top tr:last-child > * { border: 0; }
pre { overflow-wrap: anywhere; white-space: pre-wrap; background: #8882; padding: .6rem; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; } table, tbody, tr, th, td { display: block; } th, td { border: 0; padding: .1rem 0; }
  tr { border-bottom: 1px solid #8886; padding: .3rem 0; } .top th { width: auto; } .columns { display: none; }
}
del { text-decoration: none; background: #c222; } ins { text-decoration: none; background: #2822; }
@media print { details > * { display: block; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
</style>
</head>
<body>
<main id="main">
<h1>Plan of Cluster {{.Cluster}}</h1>
<p>Made{{if not .MadeAt.IsZero}} at {{.MadeAt.UTC.Format "2006-01-02T15:04:05Z07:00"}}{{end}}{{with .MadeBy}} by {{.}}{{end}}, with {{program}}.</p>
<div class="top"><table>
<tr><th scope="row">Ends</th><td class="{{if eq .Outcome.State "Finishes"}}finishes{{else}}stalls{{end}}">{{ending .Outcome}}</td></tr>
<tr><th scope="row">Changes</th><td>{{.Summary}}</td></tr>
<tr><th scope="row">Findings</th><td>{{range .Findings}}<span class="{{severity .}}">{{.ID}}</span> {{else}}None.{{end}}</td></tr>
<tr><th scope="row">Takes</th><td>about {{lasting .Duration.Seconds}}</td></tr>
<tr><th scope="row">Point of no return</th><td>{{turningPoint .PointOfNoReturn}}</td></tr>
<tr><th scope="row">Cluster</th><td>{{.Provider}}, Kubernetes {{.Version}}. {{.Now}}</td></tr>
<tr><th scope="row">Digest</th><td><code>{{.Digest}}</code></td></tr>
</table></div>
{{if and .Digest (not .Started)}}<h2>How to approve it</h2>
{{if ne .Outcome.State "Finishes"}}<p>The plan does not come to its end by itself. Change what it waits for first; the digest is
another one then.</p>{{end}}
<p>This starts the migration if the plan has the same digest then, and not otherwise:</p>
<pre><code>{{approving .}}</code></pre>{{end}}
{{if .Outcome.Instructions}}<h2>What someone else has to change</h2>
<table><tr class="columns"><th>Component</th><th>Node</th><th>Set</th><th>Remove</th><th>Mount</th></tr>
{{range .Outcome.Instructions}}<tr><td>{{.Component}}</td><td>{{.Node}}</td><td><code>{{join .Set}}</code></td>
<td><code>{{join .Remove}}</code></td><td>{{range .Files}}<code>{{.Path}}</code> {{end}}</td></tr>
{{end}}</table>{{end}}
<h2>Findings</h2>
{{if .Findings}}<table>{{range .Findings}}<tr>
<td class="{{severity .}}">{{.State}}</td><td>{{.ID}}</td><td>{{textOf .}}</td></tr>
{{end}}</table>{{else}}<p>None.</p>{{end}}
{{if .Protocol}}<h2>Hand-over</h2><p>Protocol {{.Protocol}}: {{.ProtocolReason}}</p>{{end}}
<h2>Changes in order</h2>
<table><tr class="columns"><th>#</th><th>Step</th><th>What</th><th>Objects and fields</th></tr>
{{range .Actions}}<tr{{if .Number}} id="change-{{.Number}}"{{end}}><td>{{numbered .}}</td>
<td>{{.Step}}{{if .Stage}}<br>{{.Stage}}{{end}}</td>
<td><b>{{.Kind}}</b>, {{.Cluster}} cluster{{onlyWhen .}}<br>{{.Why}}</td>
<td>{{range .Objects}}<div><span class="{{.Operation}}">{{.Operation}}</span> <code>{{.Object}}</code>
{{if .Changes}}<ul>{{range .Changes}}<li><code>{{.Path}}</code>:
<del><code>{{shown .From}}</code></del> &rarr; <ins><code>{{shown .To}}</code></ins></li>{{end}}</ul>{{end}}
{{if .Note}}<div class="note">{{.Note}}</div>{{end}}</div>{{end}}</td></tr>
{{end}}</table>
<h2>Machines in order</h2>
{{if .Rollouts}}<table><tr class="columns"><th>MachineDeployment</th><th>Machines</th><th>Disruption</th><th>About</th></tr>
{{range .Rollouts}}<tr><td><code>{{.Object}}</code></td><td>{{len .Machines}}: {{join .Machines}}</td>
<td>{{.Disruption}} Pods that move: {{moving .}}.
{{if .Budgets}}<ul>{{range .Budgets}}<li>PodDisruptionBudget {{.Name}}: {{.Pods}} pods here, {{.Allowed}} may go now</li>{{end}}</ul>{{end}}</td>
<td>{{lasting .Seconds}}</td></tr>
{{end}}</table>{{else}}<p>None.</p>{{end}}
<h2>Duration: about {{lasting .Duration.Seconds}}</h2>
<table>{{range .Duration.Parts}}<tr><td>{{lasting .Seconds}}</td><td>{{.What}}</td><td>{{.Basis}}</td></tr>
{{end}}</table>
<h2>Different afterwards</h2>
{{if .Afterwards}}<table><tr class="columns"><th>What</th><th>Now</th><th>Then</th></tr>
{{range .Afterwards}}<tr><td>{{.What}}</td><td>{{shown .From}}</td><td>{{shown .To}}</td></tr>
{{end}}</table>{{else}}<p>Nothing.</p>{{end}}
<h2>What the plan cannot know</h2>
<ul>{{range .Limits}}<li>{{.}}</li>{{end}}</ul>
</main>
</body>
</html>
`
