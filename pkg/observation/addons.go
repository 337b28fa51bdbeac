package observation

// Addons is the state of the CCM and CSI objects in the user cluster.
type Addons struct {
	CCM AddonSet
	CSI AddonSet
	// InventoryObjects is the number of objects that we applied.
	InventoryObjects int
	// Obsolete are objects of the inventory that are in no wanted set any more.
	Obsolete []Ref
}

// AddonSet is one of the two sets of objects.
type AddonSet struct {
	Version string
	// WorkloadWithheld says that the wanted objects are all but the workload, Withdrawn that none is.
	WorkloadWithheld bool
	Withdrawn        bool
	// Drifted are wanted objects that are missing or differ.
	Drifted []Ref
	// Foreign are objects that exist, are wanted, and are not in our inventory, with their owner in the Kind's place
	// of a message.
	Foreign []Text
	// Takeovers are what adopting the foreign ones would change.
	Takeovers []Takeover
	// DriverProblem says why a CSIDriver that is someone else's does not satisfy ours; empty when it does, or there is none.
	DriverProblem Text
	// SatisfiedBy is a healthy set that is someone else's and satisfies ours: it stays untouched.
	SatisfiedBy string
	// Unhealthy are sentences about workloads that are not ready yet.
	Unhealthy []Text
	// Unschedulable says that the workloads wait for a Node only.
	Unschedulable bool
}

// Due is the set without what is not applied yet: where the workload is withheld, that of someone else is overwritten later.
func (s AddonSet) Due() AddonSet {
	if !s.WorkloadWithheld || len(s.Takeovers) == 0 {
		return s
	}
	all := s.Takeovers
	s.Foreign, s.Takeovers = nil, nil
	for _, takeover := range all {
		if takeover.Kind != "Deployment" && takeover.Kind != "DaemonSet" {
			s.Foreign, s.Takeovers = append(s.Foreign, takeover.Text()), append(s.Takeovers, takeover)
		}
	}
	return s
}

// Takeover is what the adoption of one object of someone else changes.
type Takeover struct {
	Ref
	// Object with whoever seems to manage it.
	Object string
	// Fields that change, as sorted paths without their values.
	Fields []string
	// Problem is a sentence when the API server refuses the change.
	Problem string
}

// Text is how messages name it.
func (t Takeover) Text() Text { return Text{Words: t.Object, Objects: []Ref{t.Ref}} }
