package suite

import "time"

// Deadlines, after which something counts as failed. Machines are shared and noisy, and nothing here measures speed. Those
// of specs are NodeTimeouts: a SpecTimeout counts the start of the testbed to whichever spec happens to be the first.
const (
	// Patience bounds each wait of a story.
	Patience = 5 * time.Minute
	// StartTime bounds the start of a testbed, and its end.
	StartTime = 10 * time.Minute
	// StoryTime bounds the wait for the end of a story, with all stories that have to make room for it.
	StoryTime = 25 * time.Minute
	// SpecTime bounds a spec that tells no story.
	SpecTime = 2 * Patience
	// killTime bounds the end of processes that were killed.
	killTime = time.Minute
)

const (
	// LeaseDuration is shorter than upstream's, and long enough for a busy machine to renew in time.
	LeaseDuration = 6 * time.Second
	// PollTime is how often something is looked at.
	PollTime = 500 * time.Millisecond
)

// Waits in which nothing has to happen: they are as long as what the manager waits, and a bit.
const (
	// AwayTime is how long the fence has to stay closed while the manager is away.
	AwayTime = 2 * LeaseDuration
	// SurvivedTime is how long a process that outlives its pod has to hold everything up.
	SurvivedTime = 3 * LeaseDuration
	// AstrayTime is how long the fence has to stay closed while an administrator's work is half done.
	AstrayTime = 4 * LeaseDuration

	// Waits are the manager's, shorter than the real ones. Package rollback has the real ones, and so have unit and
	// integration tests, whose clocks are stepped.
	Waits = "settle=3s,probe=5s,addresses=15s"
	// kubeletTime is what a kubelet gets to end a KCM process whose pod is gone: the grace period, and the margin.
	kubeletTime = 10*time.Second + 30*time.Second
	// SilentTime is for a kubelet that is away, BackTime for one that has just come back.
	SilentTime = kubeletTime + LeaseDuration
	BackTime   = kubeletTime / 2

	// HeldTime is how long a roll has to stand still. The machine-controller has looked at everything many times by then.
	HeldTime = 30 * time.Second
	// SlowDeadline is longer than the minute of the objectives, which are violated first.
	SlowDeadline = 70 * time.Second
	// TooSlow is longer than the CCM waits for an answer of the cloud.
	TooSlow = 20 * time.Second
)
