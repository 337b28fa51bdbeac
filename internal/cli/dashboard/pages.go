package dashboard

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"sync"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/report"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// files are the templates, the style and the script of the pages.
//
//go:embed pages/*
var files embed.FS

const stylePath = "/style.css"

// keptFor is how long a view is shown again while nothing changes: ages and windows do.
const keptFor = 5 * time.Second

// pages shows what a source has.
type pages struct {
	now  func() time.Time
	read func(context.Context) *seen
	// version of what would be read.
	version   func() uint64
	templates *template.Template

	mu   sync.Mutex
	last *view
}

func newPages(now func() time.Time, read func(context.Context) *seen, version func() uint64) (*pages, error) {
	templates, err := template.New("").Funcs(template.FuncMap{
		"at": terminal.At, "add": func(a, b int32) int32 { return a + b },
	}).ParseFS(files, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	return &pages{now: now, read: read, version: version, templates: templates}, nil
}

// handler of all pages behind the door.
func (p *pages) handler(events http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.fleet)
	mux.HandleFunc("GET /clusters/{namespace}/{name}", p.cluster)
	mux.HandleFunc("GET /runbooks/{reason}", p.runbook)
	mux.Handle("GET /events", events)
	for _, name := range []string{stylePath, "/page.js"} {
		mux.HandleFunc("GET "+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "pages"+name) })
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		p.refuse(w, http.StatusNotFound, "No such page", "The dashboard has no page at this address. Go back to the fleet.")
	})
	return mux
}

// current view. It is made once for all pages that ask for it.
func (p *pages) current(ctx context.Context) *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); p.last == nil || p.last.version != p.version() || now.Sub(p.last.At) >= keptFor {
		p.last = newView(p.read(ctx), now)
	}
	return p.last
}

// page is what every template gets.
type page struct {
	*view
	Name    string
	List    listed
	Cluster *ucv1.Cluster
	Details report.Details
	Runbook template.HTML
}

func (p *pages) fleet(w http.ResponseWriter, r *http.Request) {
	v := p.current(r.Context())
	p.write(w, http.StatusOK, "fleet.html", page{view: v, List: filterOf(r.URL.Query()).list(v.Fleet.Lines)})
}

func (p *pages) cluster(w http.ResponseWriter, r *http.Request) {
	v := p.current(r.Context())
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	at := slices.IndexFunc(v.clusters, func(c ucv1.Cluster) bool { return c.Namespace == namespace && c.Name == name })
	shown, code := page{view: v, Name: namespace + "/" + name}, http.StatusNotFound
	if at >= 0 {
		code, shown.Cluster = http.StatusOK, &v.clusters[at]
		shown.Details = report.DetailsOf(shown.Cluster, v.At)
		if runbook, found := runbooks.Lookup(shown.Details.Runbook); found {
			shown.Runbook, _ = rendered(runbook) // It is written into memory, which cannot fail.
		}
	}
	p.write(w, code, "cluster.html", shown)
}

func (p *pages) runbook(w http.ResponseWriter, r *http.Request) {
	runbook, found := runbooks.Lookup(r.PathValue("reason"))
	if !found {
		p.refuse(w, http.StatusNotFound, "No such runbook", "There is no runbook of this name. Go back to the fleet.")
		return
	}
	shown := page{view: p.current(r.Context()), Name: runbook.Reason}
	shown.Runbook, _ = rendered(runbook) // It is written into memory, which cannot fail.
	p.write(w, http.StatusOK, "runbook.html", shown)
}

// refuse says why there is no such page.
func (p *pages) refuse(w http.ResponseWriter, code int, title, text string) {
	p.write(w, code, "refused.html", struct{ Title, Text string }{title, text})
}

// write a page. What shows nothing is left out, as on a terminal: tenants have a say in messages.
func (p *pages) write(w http.ResponseWriter, code int, name string, shown any) {
	out := &bytes.Buffer{}
	if err := p.templates.ExecuteTemplate(terminal.Output{Writer: out}, name, shown); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = out.WriteTo(w) // A browser that left needs no answer.
}
