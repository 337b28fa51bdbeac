package main

import "strconv"

const (
	// pages are where what a panel means is explained.
	pages = "https://github.com/ccm-migration/ccm-migration-controller/blob/main/docs/"
	tag   = "ccm-migration"
	// across is how many columns a dashboard of Grafana has.
	across = 24
)

// section is a row with its panels. They stand side by side as far as they fit.
type section struct {
	title  string
	panels []panel
}

// query of a panel, and how its series are called.
type query struct{ expr, legend string }

// prometheus is the source that the variable datasource chooses.
func prometheus() source { return source{Type: "prometheus", UID: "$datasource"} }

// dashboardOf sections. Its variables begin with the source.
func dashboardOf(uid, title, description string, variables []variable, sections ...section) dashboard {
	choice := variable{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1}
	return dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{tag},
		Links: []link{
			{Title: "Dashboards", Type: "dashboards", Tags: []string{tag}, KeepTime: true, IncludeVars: true},
			{Title: "Runbooks", Type: "link", URL: pages + "operations.md#runbooks", TargetBlank: true},
		},
		Time: map[string]string{"from": "now-24h", "to": "now"}, Refresh: "1m", SchemaVersion: 39,
		Templating:  templating{List: append([]variable{choice}, variables...)},
		Annotations: annotations{List: []annotation{}},
		Panels:      arranged(sections),
	}
}

// choice of a label's values.
func choice(name, label, query string) variable {
	from := prometheus()
	return variable{Name: name, Label: label, Type: "query", Datasource: &from, Query: query, Refresh: 2, Sort: 1}
}

// several values may be chosen at once, and all are at first.
func (v variable) several() variable {
	v.Multi, v.IncludeAll, v.AllValue = true, true, ".*"
	return v
}

// arranged gives each panel its place and its number, in the order of the sections.
func arranged(sections []section) (all []panel) {
	y := 0
	for _, section := range sections {
		all = append(all, panel{Type: "row", Title: section.title, GridPos: place{H: 1, W: across, Y: y}})
		x, height := 0, 1
		for _, panel := range section.panels {
			if x == 0 || x+panel.GridPos.W > across {
				x, y, height = 0, y+height, 0
			}
			panel.GridPos.X, panel.GridPos.Y = x, y
			x, height = x+panel.GridPos.W, max(height, panel.GridPos.H)
			all = append(all, panel)
		}
		y += height
	}
	for i := range all {
		all[i].ID = i + 1
	}
	return all
}

func panelOf(kind string, width, height int, title, description, unit string, queries []query) panel {
	from := prometheus()
	p := panel{
		Type: kind, Title: title, Description: description, GridPos: place{W: width, H: height}, Datasource: &from,
		FieldConfig: &fieldConfig{
			// Without thresholds, Grafana shows whatever is above 80 in red.
			Defaults:  defaults{Unit: unit, Thresholds: thresholdsOf(threshold{Color: "text"}), Custom: map[string]any{}},
			Overrides: []any{},
		},
	}
	for i, query := range queries {
		p.Targets = append(p.Targets, target{
			RefID: string(rune('A' + i)), Datasource: from, Expr: query.expr, LegendFormat: query.legend, Range: true,
		})
	}
	return p
}

// now shows values as they are, and no older one of a series that ended.
func now(title, description, unit string, queries ...query) panel {
	p := panelOf("stat", 4, 4, title, description, unit, queries).instant("")
	p.Options = map[string]any{"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}, "textMode": "auto"}
	return p
}

// names shows what series are called, for those that say something by their labels only.
func names(title, description string, queries ...query) panel {
	p := now(title, description, "none", queries...)
	p.Options["textMode"], p.Options["colorMode"] = "name", "none"
	return p
}

// over shows values over time.
func over(title, description, unit string, queries ...query) panel {
	zero := 0
	p := panelOf("timeseries", 12, 8, title, description, unit, queries)
	p.FieldConfig.Defaults.Min = &zero
	return p
}

// strip shows states over time, a line for each series.
func strip(title, description string, queries ...query) panel {
	return panelOf("state-timeline", 12, 8, title, description, "none", queries)
}

// bars show how full each of several things is.
func bars(title, description, unit string, queries ...query) panel {
	p := panelOf("bargauge", 12, 8, title, description, unit, queries).instant("")
	p.Options = map[string]any{"orientation": "horizontal", "displayMode": "basic"}
	return p
}

// list shows the labels of each series, and its value under a name.
func list(title, description, unit, value, expr string) panel {
	p := panelOf("table", across, 8, title, description, unit, []query{{expr: expr}}).instant("table")
	p.Transformations = []transformation{{ID: "organize", Options: map[string]any{
		"excludeByName": map[string]bool{"Time": true}, "renameByName": map[string]string{"Value": value},
	}}}
	return p
}

func (p panel) instant(format string) panel {
	for i := range p.Targets {
		p.Targets[i].Range, p.Targets[i].Instant, p.Targets[i].Format = false, true, format
	}
	return p
}

func (p panel) wide(columns int) panel {
	p.GridPos.W = columns
	return p
}

// reasoned shows what the series is called, too, although there is only one.
func (p panel) reasoned() panel {
	p.Options["textMode"] = "value_and_name"
	return p
}

// stacked adds the series up.
func (p panel) stacked() panel {
	custom := p.FieldConfig.Defaults.Custom
	custom["fillOpacity"], custom["stacking"] = 30, map[string]string{"mode": "normal", "group": "A"}
	return p
}

// from which values on someone has to look: yellow, and red; a yellow of zero is none.
func (p panel) from(yellow, red float64) panel {
	steps := []threshold{{Color: "green"}}
	if yellow != 0 {
		steps = append(steps, threshold{Color: "yellow", Value: &yellow})
	}
	p.FieldConfig.Defaults.Thresholds = thresholdsOf(append(steps, threshold{Color: "red", Value: &red})...)
	if p.Type == "timeseries" {
		p.FieldConfig.Defaults.Custom["thresholdsStyle"] = map[string]string{"mode": "line"}
	}
	return p
}

func thresholdsOf(steps ...threshold) *thresholds { return &thresholds{Mode: "absolute", Steps: steps} }

// below shows red below a value.
func (p panel) below(red float64) panel {
	p.FieldConfig.Defaults.Thresholds = thresholdsOf(threshold{Color: "red"}, threshold{Color: "green", Value: &red})
	return p
}

// means gives the values 0, 1, 2 … words and colors.
func (p panel) means(words ...shown) panel {
	options := map[string]shown{}
	for value, word := range words {
		options[strconv.Itoa(value)] = word
	}
	p.FieldConfig.Defaults.Mappings = []mapping{{Type: "value", Options: options}}
	return p
}

// page that says what to do.
func (p panel) page(path string) panel {
	p.Links = append(p.Links, link{Title: "What to do", URL: pages + path, TargetBlank: true})
	return p
}

// opens the dashboard of the Cluster in a line of a table.
func (p panel) opens() panel {
	p.FieldConfig.Defaults.Links = []link{{
		Title: "Cluster", URL: "/d/" + clusterUID + "?var-namespace=${__data.fields.namespace}&var-name=${__data.fields.name}" +
			"&var-datasource=${datasource}",
	}}
	return p
}
