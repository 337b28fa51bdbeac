package main

// dashboard is what Grafana reads, as far as it is used here:
// https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
type dashboard struct {
	UID           string            `json:"uid"`
	Title         string            `json:"title"`
	Description   string            `json:"description"`
	Tags          []string          `json:"tags"`
	Links         []link            `json:"links"`
	Time          map[string]string `json:"time"`
	Refresh       string            `json:"refresh"`
	SchemaVersion int               `json:"schemaVersion"`
	Templating    templating        `json:"templating"`
	Annotations   annotations       `json:"annotations"`
	Panels        []panel           `json:"panels"`
}

type templating struct {
	List []variable `json:"list"`
}

type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Datasource *source `json:"datasource,omitempty"`
	Query      string  `json:"query"`
	// Refresh is 2: with each change of the time range.
	Refresh    int    `json:"refresh"`
	Sort       int    `json:"sort,omitempty"`
	Multi      bool   `json:"multi,omitempty"`
	IncludeAll bool   `json:"includeAll,omitempty"`
	AllValue   string `json:"allValue,omitempty"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type annotations struct {
	List []annotation `json:"list"`
}

type annotation struct {
	Name        string `json:"name"`
	Datasource  source `json:"datasource"`
	Enable      bool   `json:"enable"`
	IconColor   string `json:"iconColor"`
	Expr        string `json:"expr"`
	TitleFormat string `json:"titleFormat"`
	Step        string `json:"step"`
}

type link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type,omitempty"`
	URL         string   `json:"url,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	AsDropdown  bool     `json:"asDropdown,omitempty"`
	IncludeVars bool     `json:"includeVars,omitempty"`
	KeepTime    bool     `json:"keepTime,omitempty"`
	TargetBlank bool     `json:"targetBlank,omitempty"`
}

type panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         place            `json:"gridPos"`
	Datasource      *source          `json:"datasource,omitempty"`
	Targets         []target         `json:"targets,omitempty"`
	FieldConfig     *fieldConfig     `json:"fieldConfig,omitempty"`
	Options         map[string]any   `json:"options,omitempty"`
	Transformations []transformation `json:"transformations,omitempty"`
	Links           []link           `json:"links,omitempty"`
}

type place struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Instant      bool   `json:"instant,omitempty"`
	Range        bool   `json:"range,omitempty"`
	Format       string `json:"format,omitempty"`
}

type fieldConfig struct {
	Defaults  defaults `json:"defaults"`
	Overrides []any    `json:"overrides"`
}

type defaults struct {
	Unit       string         `json:"unit"`
	Min        *int           `json:"min,omitempty"`
	Thresholds *thresholds    `json:"thresholds,omitempty"`
	Mappings   []mapping      `json:"mappings,omitempty"`
	Links      []link         `json:"links,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

type thresholds struct {
	Mode  string      `json:"mode"`
	Steps []threshold `json:"steps"`
}

type threshold struct {
	Color string `json:"color"`
	// Value is null for the first.
	Value *float64 `json:"value"`
}

type mapping struct {
	Type    string           `json:"type"`
	Options map[string]shown `json:"options"`
}

type shown struct {
	Text  string `json:"text"`
	Color string `json:"color"`
}

type transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}
