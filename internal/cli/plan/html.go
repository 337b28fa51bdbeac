package plan

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
)

// planHTML writes one page that needs nothing else: it can be attached to a change request.
func planHTML(out io.Writer, made plan.Plan) error {
	page, err := template.New("plan").Funcs(template.FuncMap{
		"lasting": lasting, "shown": shown, "ending": ending, "turningPoint": turningPoint, "moving": moving, "onlyWhen": onlyWhen,
		"numbered": numbered, "textOf": start.TextOf, "join": func(list []string) string { return strings.Join(list, ", ") },
	}).Parse(planPage)
	if err != nil {
		return fmt.Errorf("parse the page of the plan: %w", err)
	}
	return page.Execute(out, made)
}

const planPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plan of Cluster {{.Cluster}}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #8888; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8883; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
.blocking, .stalls, .waits { color: #c22; font-weight: 600; } .finishes { color: #282; font-weight: 600; }
.create { color: #282; } .delete { color: #c22; } .note { opacity: .75; font-style: italic; }
del { text-decoration: none; background: #c222; } ins { text-decoration: none; background: #2822; }
@media print { details > * { display: block; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
</style>
</head>
<body>
<h1>Plan of Cluster {{.Cluster}}</h1>
<p>{{.Provider}}, Kubernetes {{.Version}}. {{.Now}}</p>
<p>{{.Summary}}</p>
<p>Digest <code>{{.Digest}}</code></p>
<p class="{{if eq .Outcome.State "Finishes"}}finishes{{else}}stalls{{end}}">{{ending .Outcome}}</p>
{{if .Outcome.Instructions}}<h2>What someone else has to change</h2>
<table><tr><th>Component</th><th>Node</th><th>Set</th><th>Remove</th><th>Mount</th></tr>
{{range .Outcome.Instructions}}<tr><td>{{.Component}}</td><td>{{.Node}}</td><td><code>{{join .Set}}</code></td>
<td><code>{{join .Remove}}</code></td><td>{{range .Files}}<code>{{.Path}}</code> {{end}}</td></tr>
{{end}}</table>{{end}}
<h2>Findings</h2>
{{if .Findings}}<table>{{range .Findings}}<tr>
<td class="{{if .Blocks}}blocking{{end}}">{{.State}}</td><td>{{.ID}}</td><td>{{textOf .}}</td></tr>
{{end}}</table>{{else}}<p>None.</p>{{end}}
{{if .Protocol}}<h2>Hand-over</h2><p>Protocol {{.Protocol}}: {{.ProtocolReason}}</p>{{end}}
<h2>Changes in order</h2>
<table><tr><th>#</th><th>Step</th><th>What</th><th>Objects and fields</th></tr>
{{range .Actions}}<tr{{if .Number}} id="change-{{.Number}}"{{end}}><td>{{numbered .}}</td>
<td>{{.Step}}{{if .Stage}}<br>{{.Stage}}{{end}}</td>
<td><b>{{.Kind}}</b>, {{.Cluster}} cluster{{onlyWhen .}}<br>{{.Why}}</td>
<td>{{range .Objects}}<div><span class="{{.Operation}}">{{.Operation}}</span> <code>{{.Object}}</code>
{{if .Changes}}<ul>{{range .Changes}}<li><code>{{.Path}}</code>:
<del><code>{{shown .From}}</code></del> &rarr; <ins><code>{{shown .To}}</code></ins></li>{{end}}</ul>{{end}}
{{if .Note}}<div class="note">{{.Note}}</div>{{end}}</div>{{end}}</td></tr>
{{end}}</table>
<h2>Machines in order</h2>
{{if .Rollouts}}<table><tr><th>MachineDeployment</th><th>Machines</th><th>Disruption</th><th>About</th></tr>
{{range .Rollouts}}<tr><td><code>{{.Object}}</code></td><td>{{len .Machines}}: {{join .Machines}}</td>
<td>{{.Disruption}} Pods that move: {{moving .}}.
{{if .Budgets}}<ul>{{range .Budgets}}<li>PodDisruptionBudget {{.Name}}: {{.Pods}} pods here, {{.Allowed}} may go now</li>{{end}}</ul>{{end}}</td>
<td>{{lasting .Seconds}}</td></tr>
{{end}}</table>{{else}}<p>None.</p>{{end}}
<h2>Duration: about {{lasting .Duration.Seconds}}</h2>
<table>{{range .Duration.Parts}}<tr><td>{{lasting .Seconds}}</td><td>{{.What}}</td><td>{{.Basis}}</td></tr>
{{end}}</table>
<h2>Point of no return</h2>
<p>{{turningPoint .PointOfNoReturn}}</p>
<h2>Different afterwards</h2>
{{if .Afterwards}}<table><tr><th>What</th><th>Now</th><th>Then</th></tr>
{{range .Afterwards}}<tr><td>{{.What}}</td><td>{{shown .From}}</td><td>{{shown .To}}</td></tr>
{{end}}</table>{{else}}<p>Nothing.</p>{{end}}
<h2>What the plan cannot know</h2>
<ul>{{range .Limits}}<li>{{.}}</li>{{end}}</ul>
</body>
</html>
`
