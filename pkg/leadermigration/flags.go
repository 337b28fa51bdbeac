package leadermigration

// FactKind is what a Fact is about.
type FactKind string

// The kinds of facts.
const (
	FlagFact       FactKind = "flag"
	GateFact       FactKind = "feature gate"
	ControllerFact FactKind = "name in --controllers"
)

// State is what a minor makes of a flag, a feature gate or a controller's name.
type State string

// The states. A component does not start with what it rejects.
const (
	Known      State = "known"
	Deprecated State = "deprecated"
	Rejected   State = "rejected"
)

// Fact says from when to when a component knows something.
type Fact struct {
	Component Component `json:"component"`
	Kind      FactKind  `json:"kind"`
	Name      string    `json:"name"`
	// Since is the first minor that knows it, not before FirstMinor.
	Since int `json:"since"`
	// DeprecatedIn is the first minor that warns, or that leaves no choice any more; 0 means never.
	DeprecatedIn int `json:"deprecatedIn,omitempty"`
	// RemovedIn is the first minor that rejects it; 0 means never.
	RemovedIn int    `json:"removedIn,omitempty"`
	Note      string `json:"note,omitempty"`
	Source    string `json:"source"`
}

// In is what a minor makes of it.
func (f Fact) In(minor int) State {
	switch {
	case minor < f.Since || f.RemovedIn != 0 && minor >= f.RemovedIn:
		return Rejected
	case f.DeprecatedIn != 0 && minor >= f.DeprecatedIn:
		return Deprecated
	}
	return Known
}

// inTreeProviderFlag is a flag with some of its values.
const inTreeProviderFlag = "--cloud-provider with an in-tree provider"

// Facts is the table of what each minor knows, deprecates and rejects.
func Facts() []Fact {
	facts := append(lockFacts(KCM), lockFacts(CCM)...)
	facts = append(facts, controllerFacts()...)
	facts = append(facts, inTreeFacts(KCM)...)
	facts = append(facts, inTreeFacts(APIServer)...)
	const (
		noLoops = "https://github.com/kubernetes/kubernetes/pull/138002"
		noFlags = "https://github.com/kubernetes/kubernetes/pull/130162"
	)
	return append(facts,
		Fact{
			KCM, FlagFact, inTreeProviderFlag, FirstMinor, 29, 31,
			"from 1.29 on only with both Disable gates set to false; the last minor of each provider is in the table of providers",
			"https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/cloudprovider/providers/providers.go",
		},
		Fact{KCM, FlagFact, "--concurrent-service-syncs", FirstMinor, 31, 37, "of no effect from 1.31 on", noLoops},
		Fact{
			CCM, FlagFact, "--concurrent-service-syncs", FirstMinor, 0, 0, "",
			"https://github.com/kubernetes/cloud-provider/blob/v0.37.0/options/servicecontroller.go#L35",
		},
		Fact{APIServer, FlagFact, "--cloud-provider", FirstMinor, 29, 33, "", noFlags},
		Fact{APIServer, FlagFact, "--cloud-config", FirstMinor, 29, 33, "", noFlags},
	)
}

// lockFacts are those of both managers: k8s.io/controller-manager/options registers the flags for KCM and for every CCM.
func lockFacts(manager Component) []Fact {
	const options = "https://github.com/kubernetes/controller-manager/blob/v0.37.0/pkg/leadermigration/options/options.go"
	return []Fact{
		{manager, FlagFact, "--enable-leader-migration", FirstMinor, 0, 0, "of no effect with --leader-elect=false", options},
		{
			manager, FlagFact, "--leader-migration-config", FirstMinor, 0, 0,
			"required in 1.21; without it the built-in default is used, which is wrong from 1.28 on", options,
		},
		{
			manager, GateFact, "ControllerManagerLeaderMigration", FirstMinor, 24, 27,
			"off by default in 1.21, locked to true from 1.24 on",
			"https://github.com/kubernetes/kubernetes/pull/113534",
		},
	}
}

// inTreeFacts are the gates of k8s.io/kubernetes/pkg/features, which a CCM does not have.
func inTreeFacts(component Component) []Fact {
	const (
		note   = "on by default from 1.29 on, which ends in-tree providers unless set to false; locked to true from 1.31 on"
		source = "https://github.com/kubernetes/kubernetes/blob/v1.32.13/pkg/features/versioned_kube_features.go#L160"
	)
	return []Fact{
		{component, GateFact, "DisableCloudProviders", 22, 31, 33, note, source},
		{component, GateFact, "DisableKubeletCloudCredentialProviders", 23, 31, 33, note, source},
	}
}

func controllerFacts() []Fact {
	const (
		short  = "registered before 1.28, an alias from then on"
		empty  = "runs nothing from 1.32 on"
		inKCM  = "https://github.com/kubernetes/kubernetes/pull/138002"
		inCCM  = "https://github.com/kubernetes/cloud-provider/blob/v0.37.0/names/controller_names.go#L50"
		ofIPAM = "https://github.com/kubernetes/kubernetes/blob/v1.37.0/cmd/kube-controller-manager/app/core.go#L83"
	)
	var facts []Fact
	for _, loop := range CloudLoops() {
		facts = append(facts,
			Fact{KCM, ControllerFact, string(loop), FirstMinor, 32, namesGoneMinor, short + "; " + empty, inKCM},
			Fact{KCM, ControllerFact, loop.longName(), renamedMinor, 32, namesGoneMinor, empty, inKCM},
			Fact{CCM, ControllerFact, string(loop), FirstMinor, 0, 0, short, inCCM},
			Fact{CCM, ControllerFact, loop.longName(), renamedMinor, 0, 0, "", inCCM},
		)
	}
	return append(facts,
		Fact{KCM, ControllerFact, string(NodeIPAMLoop), FirstMinor, 0, 0, short, ofIPAM},
		Fact{KCM, ControllerFact, NodeIPAMLoop.longName(), renamedMinor, 0, 0, "", ofIPAM},
	)
}
