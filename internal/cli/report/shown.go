package report

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// Fleet is what status prints of all Clusters, in pieces for a page. Lines have the order of status.
type Fleet struct {
	// Summary is one line. Unattended are the Clusters whose cloud loops no manager runs.
	Summary    string
	Unattended []string
	Counts     []State
	Groups     []Group
	Lines      []Line
}

// State is a Cluster in one word. Said is how many Clusters have it.
type State struct{ ID, Words, Said, Sign, Class string }

// Group has the same trouble for the same reason. First is the first of its Clusters.
type Group struct {
	Words, Says, Class string
	First              string
	Count              int
}

// Line is a Cluster in a fleet.
type Line struct {
	Cluster, Provider, Version, Step, Steps, Machines, For, Says string
	State                                                        State
}

// Details are what status and why print of one Cluster.
type Details struct {
	Line
	Percent                       int
	Facts, Head, Said, Unattended string
	Acting, ActingClass           string
	Meaning, Kubeconfig, Runbook  string
	Steps                         []Row
	Commands                      []Commands
	Accepted                      []string
	Timeline                      []Entry
}

// Row is a step, or a part of one.
type Row struct {
	Name, Means, State, Sign, Class, Took, Note string
	Current                                     bool
	Parts                                       []Row
}

// Commands are run in one place.
type Commands struct {
	Head  string
	Lines []string
}

// Entry of a timeline.
type Entry struct{ At, Kind, Class, Says string }

// States are all there are, in the order of status.
func States() (all []State) {
	for _, state := range clusterStates() {
		all = append(all, stateShown(state))
	}
	return all
}

func stateShown(c clusterState) State {
	return State{ID: string(c), Words: c.words(), Sign: c.sign(terminal.Screen{}), Class: c.tone().Class()}
}

// FleetOf Clusters, as status prints it.
func FleetOf(clusters []ucv1.Cluster, now time.Time) Fleet {
	report := newFleetReport(clusters, &selection{})
	shown := Fleet{Unattended: report.unattended()}
	var said []string
	for _, state := range States() {
		if count := report.Counts[clusterState(state.ID)]; count > 0 {
			state.Said = clusterState(state.ID).counted(count)
			said, shown.Counts = append(said, state.Said), append(shown.Counts, state)
		}
	}
	shown.Summary = strings.TrimSuffix(report.total()+" "+strings.Join(said, " · "), ": ")
	for at := range report.Clusters {
		shown.Lines = append(shown.Lines, report.Clusters[at].shown(now))
	}
	for at, group := range report.Groups {
		members := report.Clusters[:together(report.Clusters)]
		report.Clusters = report.Clusters[len(members):]
		shown.Groups = append(shown.Groups, groupShown(report.Groups[at], group.words(), members))
	}
	return shown
}

func groupShown(group clusterGroup, words string, members []clusterReport) Group {
	first := &members[0]
	shown := Group{
		Words: words, Says: first.trouble(), First: first.Cluster, Count: group.Clusters, Class: first.State.tone().Class(),
	}
	if group.Trouble == cloudLoops {
		shown.Class = terminal.Bad.Class()
	}
	if !sameTrouble(members) {
		shown.Says = first.Cluster + ", for example: " + shown.Says
	}
	return shown
}

func (r *clusterReport) shown(now time.Time) Line {
	return Line{
		Cluster: r.Cluster, Provider: r.Provider, Version: r.Version, State: stateShown(r.State), Step: orDash(string(r.Step)),
		Steps: r.steps(), Machines: r.machines(), For: r.age(now), Says: r.trouble(),
	}
}

// DetailsOf a Cluster, as status and why print them.
func DetailsOf(cluster *ucv1.Cluster, now time.Time) Details {
	r := newClusterDetails(cluster)
	shown := Details{
		Line: r.shown(now), Percent: int(100 * r.progress()), Facts: r.facts(), Head: r.Next.head(), Said: r.Next.said(),
		Unattended: r.Unattended, Meaning: r.Next.Meaning, Kubeconfig: r.Next.Kubeconfig,
		Runbook: strings.TrimSuffix(r.Next.Runbook[strings.LastIndex(r.Next.Runbook, "/")+1:], ".md"),
	}
	tone, words := r.Next.acting()
	shown.ActingClass, shown.Acting = tone.Class(), words
	for i := range r.Steps {
		shown.Steps = append(shown.Steps, r.Steps[i].shown(cluster.Status.Step, now))
	}
	for _, blocks := range []struct {
		title string
		list  []commandBlock
	}{{"Look", r.Next.Look}, {"Remedy", r.Next.Remedy}} {
		for _, block := range blocks.list {
			shown.Commands = append(shown.Commands, Commands{Head: block.head(blocks.title), Lines: block.Commands})
		}
	}
	for _, accepted := range r.Acceptances {
		shown.Accepted = append(shown.Accepted, acceptedWords(accepted))
	}
	for _, entry := range slices.Backward(r.Timeline) {
		shown.Timeline = append(shown.Timeline, Entry{
			At: terminal.At(&entry.Time), Kind: string(entry.Kind), Class: toneOf(entry.Kind).Class(), Says: entryWords(entry),
		})
	}
	return shown
}

func (r *stepReport) shown(current ucv1.Step, now time.Time) Row {
	row := rowShown(r.State)
	row.Name, row.Means, row.Took, row.Note = string(r.Step), r.Means, r.took(now), r.Note
	row.Current = r.Step == current
	for _, part := range r.Parts {
		shown := rowShown(part.State)
		shown.Name, shown.Means = part.Name, part.Means
		row.Parts = append(row.Parts, shown)
	}
	return row
}

func rowShown(state stepState) Row {
	return Row{State: strings.ToLower(string(state)), Sign: state.sign(terminal.Screen{}), Class: state.tone().Class()}
}
