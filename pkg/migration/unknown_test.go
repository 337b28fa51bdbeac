package migration

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// lose makes every fact unknown, or absent, by name.
func lose(missing bool) map[string]func(*Observation) {
	return map[string]func(*Observation){
		"Contenders":        func(o *Observation) { loseFact(&o.Contenders, missing) },
		"Provider":          func(o *Observation) { loseFact(&o.Provider, missing) },
		"CloudConfig":       func(o *Observation) { loseFact(&o.CloudConfig, missing) },
		"ControlPlane":      func(o *Observation) { loseFact(&o.ControlPlane, missing) },
		"MachineController": func(o *Observation) { loseFact(&o.MachineController, missing) },
		"Addons":            func(o *Observation) { loseFact(&o.Addons, missing) },
		"Fence":             func(o *Observation) { loseFact(&o.Fence, missing) },
		"KCMLease":          func(o *Observation) { loseFact(&o.KCMLease, missing) },
		"CCMLease":          func(o *Observation) { loseFact(&o.CCMLease, missing) },
		"Machines":          func(o *Observation) { loseFact(&o.Machines, missing) },
		"Nodes":             func(o *Observation) { loseFact(&o.Nodes, missing) },
		"Inventory":         func(o *Observation) { loseFact(&o.Inventory, missing) },
		"Baseline":          func(o *Observation) { loseFact(&o.Baseline, missing) },
		"OtherManagers":     func(o *Observation) { loseFact(&o.ForeignCCMs, missing) },
		"Measured":          func(o *Observation) { loseFact(&o.Measured, missing) },
		"StorageClasses":    func(o *Observation) { loseFact(&o.StorageClasses, missing) },
		"Findings":          func(o *Observation) { loseFact(&o.Findings, missing) },
		"Canary":            func(o *Observation) { loseFact(&o.Canary, missing) },
		"Drains":            func(o *Observation) { loseFact(&o.Drains, missing) },
	}
}

func loseFact[T any](fact *observation.Observed[T], missing bool) {
	*fact = observation.Unknown[T]("timeout")
	if missing {
		*fact = observation.Absent[T]()
	}
}

// restsOn names the facts without which a stage's action must not be done.
func restsOn(d Decision) []string {
	inputs := []string{"Contenders", "Provider", "CloudConfig", "ControlPlane", "CCMLease", "OtherManagers"}
	handover := []string{"Addons", "Fence", "Nodes", "ControlPlane"}
	configured := []string{"Addons", "ControlPlane", "Provider", "MachineController", "OtherManagers"}
	roll := append([]string{"CCMLease", "Machines", "Nodes"}, configured...)
	verify := append([]string{"Inventory", "Baseline"}, roll...)
	facts := map[string][]string{
		"Preflight//Record":                   append([]string{"Findings"}, inputs...),
		"Addons//Record":                      inputs,
		"Addons//ApplyAddons":                 {"Addons"},
		"Handover/BaselineTaken/TakeBaseline": {"Addons", "Fence", "Inventory"},
		"Handover/LoopsOff/ChangeArguments":   handover,
		"Handover/FenceOpen/OpenFence":        append([]string{"KCMLease", "OtherManagers"}, handover...),
		"Handover//Record":                    {"Addons", "Fence", "ControlPlane", "KCMLease", "CCMLease"},
		"MachineController//ChangeArguments":  configured,
		"MachineController//Record":           append([]string{"CCMLease"}, configured...),
		"Roll//Record":                        append([]string{"KCMLease", "Findings", "Measured"}, roll...),
		"Roll//RollMachineDeployment":         append([]string{"KCMLease", "Measured"}, roll...),
		"Verify//Record":                      verify,
		"Complete//Record":                    append([]string{"KCMLease"}, verify...),
		"Finalize//ChangeArguments":           {"ControlPlane"},
		"Finalize//SwitchDefaultClass":        {"Provider", "StorageClasses"},
	}
	return facts[string(d.Step)+"/"+d.Stage+"/"+string(d.Next().Kind)]
}

func place(d Decision) int {
	rows := Table(ucv1.OriginMigrating)
	at := slices.IndexFunc(rows, func(row Row) bool { return row.Step == d.Step })
	if at < 0 {
		return len(rows)
	}
	return at
}

// TestWhatIsUnknownNeverPasses takes every fact away in every stage: no later step is reached, no action that rests on the
// fact is done, and no row that holds says less than it should.
func TestWhatIsUnknownNeverPasses(t *testing.T) {
	for _, stage := range stages() {
		o := stage()
		with := Decide(o, noon())
		for fact, forget := range lose(false) {
			t.Run(fmt.Sprintf("%s without %s", with.Step, fact), func(t *testing.T) {
				g := NewWithT(t)
				blind := stage()
				forget(&blind)
				without := Decide(blind, noon())
				g.Expect(place(without)).To(BeNumerically("<=", place(with)), "%s passes", with.Step)
				g.Expect(without.Calls()).To(BeNil(), "what is unknown is no failure")
				if without.Wait != nil && with.Wait == nil && without.Wait.Reason != ucv1.ProvingSilenceReason {
					g.Expect(without.Wait.Unknown).To(BeTrue(), without.Wait.Message)
				}
				if without.Next() == nil {
					return
				}
				g.Expect(with.Next()).NotTo(BeNil())
				g.Expect(without.Next()).To(Equal(with.Next()))
				g.Expect(restsOn(with)).NotTo(BeEmpty(), "say what %s rests on", with.Next().Kind)
				g.Expect(restsOn(with)).NotTo(ContainElement(fact), "%s is done without %s", with.Next().Kind, fact)
			})
		}
	}
}

// TestWhatIsAbsentNeverPasses does the same with the certainty that there is no such thing, for the facts whose absence
// is not what one hopes for.
func TestWhatIsAbsentNeverPasses(t *testing.T) {
	for _, stage := range stages() {
		with := Decide(stage(), noon())
		for _, fact := range []string{
			"Provider", "CloudConfig", "ControlPlane", "MachineController", "Addons", "Fence", "CCMLease", "Nodes", "Inventory",
		} {
			t.Run(fmt.Sprintf("%s with %s absent", with.Step, fact), func(t *testing.T) {
				g := NewWithT(t)
				o := stage()
				lose(true)[fact](&o)
				without := Decide(o, noon())
				g.Expect(place(without)).To(BeNumerically("<=", place(with)))
				// Before the start, no CCM that leads is what one hopes for.
				hoped := fact == "CCMLease" && o.Cluster.Status.Handover == nil
				if without.Next() != nil && !hoped {
					g.Expect(without.Next()).To(Equal(with.Next()))
					g.Expect(restsOn(with)).NotTo(ContainElement(fact))
				}
			})
		}
	}
}

func TestNothingIsDecidedFromNothing(t *testing.T) {
	for _, stage := range stages() {
		g := NewWithT(t)
		o := Observation{Cluster: stage().Cluster}
		d := Decide(o, noon())
		if o.Cluster.Status.CompletedAt == nil {
			g.Expect(d.Next()).To(BeNil())
			g.Expect(d.Wait.Unknown).To(BeTrue())
		}
	}
}
