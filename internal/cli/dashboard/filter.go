package dashboard

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/report"
)

// pageSize is how many Clusters one page lists.
const pageSize = 100

// filter is which Clusters are listed, as the address of a page says it.
type filter struct {
	Text, Provider, State string
	Page                  int
}

func filterOf(query url.Values) filter {
	f := filter{Text: query.Get("q"), Provider: query.Get("provider"), State: query.Get("state")}
	f.Page, _ = strconv.Atoi(query.Get("page"))
	return f
}

func (f filter) takes(line *report.Line) bool {
	return strings.Contains(line.Cluster, strings.TrimSpace(f.Text)) && (f.Provider == "" || line.Provider == f.Provider) &&
		(f.State == "" || line.State.ID == f.State)
}

// listed is one page of a fleet.
type listed struct {
	filter
	Lines           []report.Line
	From, To, Total int
	Providers       []string
	States          []report.State
}

func (f filter) list(lines []report.Line) listed {
	list := listed{filter: f, States: report.States()}
	var taken []report.Line
	for i := range lines {
		if !slices.Contains(list.Providers, lines[i].Provider) {
			list.Providers = append(list.Providers, lines[i].Provider)
		}
		if f.takes(&lines[i]) {
			taken = append(taken, lines[i])
		}
	}
	slices.Sort(list.Providers)
	list.Total = len(taken)
	list.Page = max(0, min(f.Page, (list.Total-1)/pageSize))
	start := list.Page * pageSize
	list.Lines = taken[start:min(start+pageSize, list.Total)]
	list.From, list.To = min(start+1, list.Total), start+len(list.Lines)
	return list
}

// Before is the address of the page before; empty for the first one.
func (l listed) Before() string { return l.address(l.Page-1, l.Page > 0) }

// After is the address of the next page; empty for the last one.
func (l listed) After() string { return l.address(l.Page+1, l.To < l.Total) }

func (l listed) address(page int, there bool) string {
	if !there {
		return ""
	}
	query := url.Values{"page": {strconv.Itoa(page)}}
	for name, value := range map[string]string{"q": l.Text, "provider": l.Provider, "state": l.State} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "/?" + query.Encode() + "#clusters"
}
