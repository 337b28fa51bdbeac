package prometheus

import (
	"fmt"
	"image"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type source struct{ Type, UID string }

type link struct{ URL string }

// dashboard as hack/dashboards writes it, as far as it is judged.
type dashboard struct {
	UID, Title, Description string
	Links                   []link
	Templating              struct{ List []variable }
	Annotations             struct{ List []annotation }
	Panels                  []panel
}

type variable struct {
	Name, Type, Query string
	Datasource        source
}

type annotation struct {
	Expr, TitleFormat string
	Datasource        source
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               source
	Targets                  []target
	FieldConfig              struct {
		Defaults struct {
			Unit       string
			Thresholds struct{ Steps []struct{ Value *float64 } }
		}
	}
	Links []link
}

type target struct {
	Expr, LegendFormat string
	Datasource         source
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(config, "grafana", "*.json"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	all := map[string]dashboard{}
	for _, file := range files {
		one := dashboard{}
		read(t, file, &one)
		all[filepath.Base(file)] = one
	}
	NewWithT(t).Expect(all).To(HaveLen(3))
	return all
}

// arrangement says which panels have a number twice, lie over each other, or stand beside the grid of 24 columns.
func arrangement(panels []panel) (problems []string) {
	area := func(p panel) image.Rectangle {
		at := p.GridPos
		return image.Rectangle{Min: image.Pt(at.X, at.Y), Max: image.Pt(at.X+at.W, at.Y+at.H)}
	}
	for i, one := range panels {
		if !area(one).In(image.Rect(0, 0, 24, 1000)) || area(one).Empty() {
			problems = append(problems, one.Title+" is outside of the grid")
		}
		for _, other := range panels[:i] {
			if area(one).Overlaps(area(other)) {
				problems = append(problems, one.Title+" lies over "+other.Title)
			}
			if one.ID == other.ID {
				problems = append(problems, fmt.Sprintf("%s and %s have number %d", one.Title, other.Title, one.ID))
			}
		}
	}
	return problems
}

// units that are used; these and others are in
// https://github.com/grafana/grafana/blob/v12.0.0/packages/grafana-data/src/valueFormats/categories.ts.
func units() []string {
	return []string{"none", "short", "percentunit", "bytes", "s", "ops", "reqps", "dateTimeAsIso", "dateTimeFromNow"}
}

// saying says what a panel lacks to be understood. A row is a heading.
func saying(p panel) (problems []string) {
	if p.Title == "" {
		problems = append(problems, "a panel has no title")
	}
	if p.Type == "row" {
		return problems
	}
	if !strings.HasSuffix(p.Description, ".") {
		problems = append(problems, p.Title+": no sentence describes it")
	}
	if !slices.Contains(units(), p.FieldConfig.Defaults.Unit) {
		problems = append(problems, fmt.Sprintf("%s: unit %q is not known", p.Title, p.FieldConfig.Defaults.Unit))
	}
	if steps := p.FieldConfig.Defaults.Thresholds.Steps; len(steps) == 0 || steps[0].Value != nil {
		problems = append(problems, p.Title+": no thresholds, so that Grafana takes its own")
	}
	if len(p.Targets) == 0 {
		problems = append(problems, p.Title+": no query")
	}
	for _, link := range p.Links {
		if problem := problemOf(link.URL); problem != "" {
			problems = append(problems, p.Title+": "+problem)
		}
	}
	return problems
}

// asking says which queries of a dashboard ask for what there is not, or another source than the one that is chosen.
func asking(d dashboard, all series) (problems []string) {
	declared := []string{}
	ask := func(where, expr, legend string, from source) {
		if (from != source{"prometheus", "$datasource"}) {
			problems = append(problems, where+": not from $datasource")
		}
		expr, found := filled(expr, declared)
		labels, more := problemsOf(expr, all)
		for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(legend, -1) {
			if !labels[label[1]] {
				more = append(more, "the legend has no label "+label[1])
			}
		}
		for _, problem := range append(found, more...) {
			problems = append(problems, where+": "+problem)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			parts := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(v.Query)
			if parts == nil {
				problems = append(problems, v.Name+": the query is not understood")
				continue
			}
			ask(v.Name, parts[1], "{{"+parts[2]+"}}", v.Datasource)
		}
		declared = append(declared, v.Name)
	}
	for _, a := range d.Annotations.List {
		ask("annotation", a.Expr, a.TitleFormat, a.Datasource)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			ask(p.Title, target.Expr, target.LegendFormat, target.Datasource)
		}
	}
	return problems
}

// filled puts values in the places of variables: of those that Grafana has, and of those declared before.
func filled(expr string, declared []string) (text string, problems []string) {
	values := map[string]string{"$__rate_interval": "5m", "$__interval": "1m", "$__range": "1h"}
	for _, name := range declared {
		values["$"+name] = "x"
	}
	text = regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(expr, func(name string) string {
		value, there := values[name]
		if !there {
			problems = append(problems, "there is no variable "+name)
		}
		return value
	})
	return text, problems
}

func TestDashboardsShowWhatThereIs(t *testing.T) {
	all, uids := known(t), map[string]string{}
	for name, d := range dashboards(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(asking(d, all)).To(BeEmpty())
			g.Expect(arrangement(d.Panels)).To(BeEmpty())
			for _, p := range d.Panels {
				g.Expect(saying(p)).To(BeEmpty())
			}
			for _, link := range d.Links {
				if link.URL != "" {
					g.Expect(problemOf(link.URL)).To(BeEmpty())
				}
			}
			g.Expect(d.Title).NotTo(BeEmpty())
			g.Expect(d.Description).To(HaveSuffix("."))
			g.Expect(d.UID).To(MatchRegexp(`^[a-z-]{1,40}$`), "what Grafana takes")
			g.Expect(uids).NotTo(HaveKey(d.UID))
			uids[d.UID] = name
		})
	}
}

// A dashboard that Grafana's sidecar does not get is not seen. kubectl apply keeps what it applied in an annotation of at most
// 256 KiB.
func TestDashboardsAreInstalled(t *testing.T) {
	g, component := NewWithT(t), struct {
		ConfigMapGenerator []struct {
			Files   []string
			Options struct{ Labels map[string]string }
		}
	}{}
	read(t, filepath.Join(config, "grafana", "kustomization.yaml"), &component)
	g.Expect(component.ConfigMapGenerator).To(HaveLen(1))
	g.Expect(component.ConfigMapGenerator[0].Files).To(ConsistOf(slices.Collect(maps.Keys(dashboards(t)))))
	g.Expect(component.ConfigMapGenerator[0].Options.Labels).To(HaveKeyWithValue("grafana_dashboard", "1"))
	size := 0
	for name := range dashboards(t) {
		text, err := os.ReadFile(filepath.Join(config, "grafana", name))
		g.Expect(err).NotTo(HaveOccurred())
		size += len(text)
	}
	g.Expect(size).To(BeNumerically("<", 200<<10))
}
