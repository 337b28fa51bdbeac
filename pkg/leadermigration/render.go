package leadermigration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DefaultConfigPath is where the rendered flags look for the file.
const DefaultConfigPath = "/etc/kubernetes/leader-migration.yaml"

// Plan is a hand-over by the lock.
type Plan struct {
	// From is the release whose KCM runs the cloud loops, To the one whose CCM takes them over: the next minor, as the KEP
	// has it, or the same one.
	From, To Version
	// Provider is the value of KCM's --cloud-provider.
	Provider string
	// LockName is UpstreamLockName unless it is given.
	LockName string
	// ConfigPath is where both managers find the file; DefaultConfigPath unless it is given.
	ConfigPath string
	// NodeIPAM moves the node IPAM loop, too.
	NodeIPAM bool
	// APIServer is the release of kube-apiserver when CCM starts; To unless it is given.
	APIServer Version
}

// Flag is a flag of a component; the name has its dashes.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String is the flag as an argument.
func (f Flag) String() string { return f.Name + "=" + f.Value }

// JoinFlags writes flags as arguments.
func JoinFlags(flags []Flag, separator string) string { return joined(flags, separator, Flag.String) }

// Artifacts are what to place. The flags are in addition to those that the managers have; a gate belongs into the list of
// gates that is there, and excluded controllers at the end of theirs.
type Artifacts struct {
	// Files are the configuration of each manager. They are the same but for 1.21, which knows no "*".
	Files map[Component]string `json:"files,omitempty"`
	// KCM of release From gets these on all replicas before CCM starts.
	KCM []Flag `json:"kcm,omitempty"`
	// CCM of release To gets these.
	CCM []Flag `json:"ccm,omitempty"`
	// KCMAfter are those of the KCM that no longer runs the loops: release To, or the same one.
	KCMAfter []Flag `json:"kcmAfterwards,omitempty"`
	// KCMRemove are the flags and gates that this KCM must not have any more.
	KCMRemove []string `json:"kcmAfterwardsWithout,omitempty"`
}

// Render makes what a hand-over needs. With an error among the violations there is nothing to place.
func Render(plan Plan) (Artifacts, []Violation) {
	plan = plan.withDefaults()
	kcm, ccm := plan.lock(KCM), plan.lock(CCM)
	before, after := Configuration{KCM, plan.From, &kcm}, Configuration{CCM, plan.To, &ccm}
	violations := append(plan.violations(before, after), Check(Cluster{
		Configurations: []Configuration{before, after}, Provider: plan.Provider, InPlace: plan.inPlace(),
	})...)
	// KCM of release From was there before kube-apiserver was upgraded, so only CCM is judged.
	judged := Cluster{Configurations: []Configuration{after}, APIServers: []Version{plan.APIServer}}
	violations = inOrder(append(violations, skew(judged)...))
	if HasErrors(violations) {
		return Artifacts{}, violations
	}
	return Artifacts{
		Files: map[Component]string{KCM: string(kcm.Marshal()), CCM: string(ccm.Marshal())},
		KCM:   plan.armed(plan.From.Minor), CCM: plan.armed(plan.To.Minor), KCMAfter: plan.after(), KCMRemove: plan.remove(),
	}, violations
}

func (p Plan) withDefaults() Plan {
	p.LockName = cmp.Or(p.LockName, UpstreamLockName)
	p.ConfigPath = cmp.Or(p.ConfigPath, DefaultConfigPath)
	p.APIServer = cmp.Or(p.APIServer, p.To)
	return p
}

// inPlace says that the hand-over happens within one minor.
func (p Plan) inPlace() bool { return p.From.Minor == p.To.Minor }

// violations are the objections that Check cannot have: about the plan, not about what is configured.
func (p Plan) violations(before, after Configuration) []Violation {
	var violations []Violation
	object := func(loops []Loop, v Violation) {
		v.Loops = loops
		violations = append(violations, between(v, before, after))
	}
	if p.To.Minor < p.From.Minor {
		object(p.loops(), failed(NextMinor,
			fmt.Sprintf("From %s to %s is no hand-over: the lock goes from KCM of one minor to CCM of the next one.", p.From, p.To),
			fmt.Sprintf("Hand over from %s to 1.%d.", p.From, p.From.Minor+1)))
	}
	if p.Provider == "" {
		object(p.loops(), failed(HonouredLock, "No provider is named, and whether the lock works is a matter of its CCM.",
			"Name the provider as in --cloud-provider of KCM."))
	}
	if provider, known := LookupProvider(p.Provider); p.NodeIPAM && known && !provider.NodeIPAM {
		object([]Loop{NodeIPAMLoop}, failed(RunsSomewhere,
			fmt.Sprintf("The CCM of provider %s ships no node IPAM loop, so no one would give Nodes their CIDRs.", provider.Name),
			"Leave node IPAM in KCM."))
	}
	return violations
}

func (p Plan) loops() []Loop {
	if p.NodeIPAM {
		return AllLoops()
	}
	return CloudLoops()
}

// lock is the portable configuration: an apiVersion and a resourceLock that every minor of the range reads, "*" where all of
// them know it, and each loop by all the names that one of them compares. Names that a version does not compare are ignored.
func (p Plan) lock(manager Component) Lock {
	lock := Lock{APIVersion: group + "v1beta1", Name: p.LockName, ResourceLock: Leases}
	component := Either
	if min(p.From.Minor, p.To.Minor) < WildcardMinor {
		lock.APIVersion, component = group+"v1alpha1", manager
	}
	for _, minor := range []int{p.From.Minor, p.To.Minor} {
		for _, loop := range p.loops() {
			entry := Entry{Name: RegisteredName(loop, minor), Component: component}
			if !slices.Contains(lock.Entries, entry) {
				lock.Entries = append(lock.Entries, entry)
			}
		}
	}
	return lock
}

// armed are the flags of a manager with the lock.
func (p Plan) armed(minor int) []Flag {
	flags := []Flag{{"--leader-elect", "true"}, {"--enable-leader-migration", "true"}, {"--leader-migration-config", p.ConfigPath}}
	if minor < WildcardMinor {
		flags = append(flags, Flag{"--feature-gates", "ControllerManagerLeaderMigration=true"})
	}
	return flags
}

// after: within one minor KCM keeps its in-tree provider, which volumes may still need, and loses the loops by name.
func (p Plan) after() []Flag {
	var excluded []string
	var flags []Flag
	if p.inPlace() {
		excluded = SpellLoopsOff(p.To.Minor)
	} else {
		flags = append(flags, Flag{"--cloud-provider", "external"})
	}
	if p.NodeIPAM {
		excluded = append(excluded, "-"+RegisteredName(NodeIPAMLoop, p.To.Minor))
	}
	if len(excluded) > 0 {
		flags = append(flags, Flag{"--controllers", strings.Join(append([]string{"*"}, excluded...), ",")})
	}
	return flags
}

// remove names what the later KCM would arm itself with, and what its minor or the next one rejects.
func (p Plan) remove() []string {
	names := []string{"--enable-leader-migration", "--leader-migration-config"}
	for _, fact := range Facts() {
		if fact.Component != KCM || fact.Kind == ControllerFact || fact.Name == inTreeProviderFlag ||
			fact.In(p.From.Minor) == Rejected {
			continue
		}
		if fact.In(p.To.Minor) == Rejected || fact.In(p.To.Minor+1) == Rejected {
			names = append(names, fact.Name)
		}
	}
	return names
}
