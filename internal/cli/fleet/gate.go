package fleet

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

const gateHelp = `Prints what an approval of a wave approves: the outcome of the waves before it, and the command that approves it
by the digest of that report. A failure that comes later changes the digest, and the approval approves nothing any more.`

func gateCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use: "gate NAME WAVE", Short: "Prints the report that an approval of a wave approves.", Long: gateHelp,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return o.print(command.Context(), command.OutOrStdout(), func(v *view) (printer, error) {
				return newGateReport(v, args[0], args[1])
			})
		},
	}
	o.bind(command)
	return command
}

// gateReport is what an approval approves.
type gateReport struct {
	FleetMigration string         `json:"fleetMigration"`
	Wave           string         `json:"wave"`
	State          ucv1.WaveState `json:"state"`
	WaitsFor       string         `json:"waitsFor,omitempty"`
	// Gate is absent where there is nothing to approve: Says is why.
	Gate *ucv1.GateStatus `json:"gate,omitempty"`
	Says string           `json:"says"`
	// Before are the waves before, with the Clusters that failed last.
	Before []gateWave `json:"before"`
	// Clusters of the wave itself: what the approval lets go.
	Clusters ucv1.FleetCount `json:"clusters"`
	// Command approves it; empty where that would approve nothing.
	Command string `json:"command,omitempty"`
}

type gateWave struct {
	Name     string               `json:"name"`
	State    ucv1.WaveState       `json:"state"`
	Clusters ucv1.FleetCount      `json:"clusters"`
	Failed   []ucv1.FailedCluster `json:"failed,omitempty"`
}

func newGateReport(v *view, name, wave string) (*gateReport, error) {
	m, err := v.migration(name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(m.plan.Waves, func(w fleet.WavePlan) bool { return w.Name == wave })
	if at < 0 {
		return nil, fmt.Errorf("FleetMigration %s has no wave %s; its waves are %s", name, wave, strings.Join(waveNames(m), ", "))
	}
	w := &m.plan.Waves[at]
	r := &gateReport{
		FleetMigration: name, Wave: wave, State: w.State, WaitsFor: w.WaitsFor, Gate: w.Gate, Clusters: w.Clusters,
		Before: []gateWave{},
	}
	for i := range m.plan.Waves[:at] {
		before := &m.plan.Waves[i]
		r.Before = append(r.Before, gateWave{before.Name, before.State, before.Clusters, before.Failed})
	}
	r.Says = saysOfGate(m, at)
	if w.Gate != nil && !approvedAlready(m.object, wave, w.Gate.Digest) {
		r.Command, err = approve(m.object, wave, w.Gate.Digest)
	}
	return r, err
}

func waveNames(m migration) []string {
	names := make([]string, 0, len(m.plan.Waves))
	for i := range m.plan.Waves {
		names = append(names, m.plan.Waves[i].Name)
	}
	return names
}

func approvedAlready(fm *ucv1.FleetMigration, wave, digest string) bool {
	return slices.ContainsFunc(fm.Spec.Approvals, func(a ucv1.ApprovedWave) bool { return a.Wave == wave && a.GateDigest == digest })
}

// saysOfGate is what an approval would come to now.
func saysOfGate(m migration, at int) string {
	w := &m.plan.Waves[at]
	switch {
	case w.Gate == nil && !w.OpenedAt.IsZero():
		return "It has opened at " + when(w.OpenedAt) + "; there is nothing to approve."
	case w.Gate == nil:
		return "It asks for no approval (spec.waves, approval)."
	case approvedAlready(m.object, w.Name, w.Gate.Digest):
		return "It is approved, and opens when nothing else is in the way: " + w.WaitsFor + "."
	case w.State == ucv1.WaveAwaitingApproval:
		return "It could open now, and waits for the approval only."
	}
	waits := "It waits for " + w.WaitsFor + "."
	if w.WaitsFor == ucv1.WaveWaitingReason {
		waits = "Wave " + m.plan.Status.Wave + " has not passed."
	}
	return waits + " An approval that is given now counts as long as no failure changes the digest."
}

func (r *gateReport) text(out io.Writer, s terminal.Screen) error {
	text := &strings.Builder{}
	bullet(text, s, terminal.Bold, "", fmt.Sprintf("Wave %s of FleetMigration %s: %s", r.Wave, r.FleetMigration, r.State))
	bullet(text, s, terminal.Plain, "", r.Says)
	if len(r.Before) > 0 {
		head(text, s, "  "+s.Cell("WAVES BEFORE", nameWidth)+"  "+s.Cell("STATE", nameWidth)+right("SUCCEEDED", 11)+
			right("FAILED", countWidth+3)+right("OF", countWidth+1))
	}
	for _, w := range r.Before {
		row(text, s, "  "+s.Cell(w.Name, nameWidth)+"  "+s.Cell(string(w.State), nameWidth)+number(w.Clusters.Succeeded, 11)+
			number(w.Clusters.Failed, countWidth+3)+number(w.Clusters.Total, countWidth+1))
		for _, f := range w.Failed {
			row(text, s, "    "+s.Sign("✗", "!")+" "+f.Cluster+"  "+f.Reason+" since "+when(f.Since.Time))
		}
	}
	if g := r.Gate; g != nil {
		head(text, s, "Approved is")
		bullet(text, s, terminal.Plain, "  ", fmt.Sprintf("%d succeeded, %d failed. Objectives: %d met, %d without verdict, %d "+
			"violated.", g.Succeeded, g.Failed, g.Met, g.Inconclusive, g.Violated))
		bullet(text, s, terminal.Plain, "  ", "The wave's settings, for "+wording.Count(int(r.Clusters.Total), "Cluster", "Clusters")+
			" now.")
		bullet(text, s, terminal.Plain, "  ", "Digest "+g.Digest)
	}
	if r.Command != "" {
		head(text, s, "To approve")
		for line := range strings.Lines(r.Command) {
			text.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
