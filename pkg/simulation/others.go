package simulation

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// OtherManager is a cloud-controller-manager that someone else installed.
type OtherManager struct {
	Seen observation.ForeignCCM
	// Until someone takes it away; zero: no one does by himself.
	Until time.Time
}

// Free says that it runs its loops whoever holds our Lease: the truth that a rule is about, told apart from the code under test.
func (m *OtherManager) Free() bool {
	flags := m.Seen.Arguments.Flags
	return flags["leader-elect"] == "false" || flags["leader-elect-resource-name"] != ""
}

func (ccm *CCM) observeOthers() []observation.ForeignCCM {
	var seen []observation.ForeignCCM
	for _, m := range ccm.Others {
		seen = append(seen, m.Seen)
	}
	return seen
}
