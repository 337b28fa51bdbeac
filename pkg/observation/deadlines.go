package observation

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Deadlines are the times that the controller waits for, but for those that a Cluster's spec sets.
type Deadlines struct {
	// In these nothing has to happen, and that is the proof. A testbed may shorten them: ShortenWait.

	// Settle is how long the successor of a static pod has to run, as one container and on our clock, before it proves its
	// predecessor's end. A kubelet remembers the order of static pods in memory: one that was restarted in between starts the
	// new one at once and ends what it no longer has a manifest for two seconds later
	// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/kubelet/kubelet.go, housekeepingPeriod). A KCM that cannot
	// have its port, because another one holds it, does not run for that long.
	Settle time.Duration
	// Reconciler is how long whoever reconciles KCM's Deployment has to write its former arguments back after a touch. Who watches
	// it does so within a second; a pod of KCM takes longer to be replaced.
	Reconciler time.Duration
	// ProbeTime is how long the same process has to lead: a cloud that refuses the configuration ends a CCM at once.
	ProbeTime time.Duration
	// Addresses is how long the addresses of Nodes are compared while the CCM leads with its loop cloud-node, and
	// AddressesOfNode how much longer for each Node. The loop writes all of them when it starts, before 1.27 one Node after
	// the other, and a kubelet of the in-tree provider writes its own back within ten seconds:
	// https://github.com/kubernetes/cloud-provider/blob/v0.25.16/controllers/node/node_controller.go (UpdateNodeStatus)
	// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/kubelet_node_status.go (updateNodeStatus)
	Addresses, AddressesOfNode time.Duration
	// AdoptionNotice is how long a plan stands in the status before it is carried out.
	AdoptionNotice time.Duration

	// KubeletMargin is what a kubelet gets beyond the grace period to end containers whose pod is gone. It keeps its length
	// everywhere: a kubelet that was away for less than the duration of its Lease does not count as cut off, and with a
	// shorter margin its time would be over before it came back.
	KubeletMargin time.Duration

	// After these something counts as failed. They keep their length everywhere, so that a slow machine does not look like a
	// broken cluster.

	// Leader is how long the CCM may take to lead after the fence was opened; it retries every one or two seconds.
	Leader time.Duration
	// Handover is how long the hand-over may wait before a person is called.
	Handover time.Duration
	// Probe is how long the probe may take until it has led for ProbeTime.
	Probe time.Duration
	// VolumeRegistration is how long the CSI driver may take to register an in-tree volume: two of its intervals.
	VolumeRegistration time.Duration
	// CanaryRemoval is how long the canary's workload may take to go before its Machine is taken away all the same.
	CanaryRemoval time.Duration

	// After these something that failed is tried again.

	// ProbeRetry is when a probe that failed is tried again although its configuration is the same.
	ProbeRetry time.Duration
	// CanaryRetry is when a canary that failed is replaced: until then a person can look at it.
	CanaryRetry time.Duration
}

// OrReal are the real ones where none were given: a wait that is left out by mistake is not skipped.
func (d Deadlines) OrReal() Deadlines {
	if d == (Deadlines{}) {
		return RealDeadlines()
	}
	return d
}

// ShortenWait shortens a wait in which nothing has to happen, by its name. It returns false for any other name, and for a
// wait that would be longer than the real one, or none.
func (d *Deadlines) ShortenWait(name string, to time.Duration) bool {
	wait := map[string]*time.Duration{
		"settle": &d.Settle, "reconciler": &d.Reconciler, "probe": &d.ProbeTime,
		"addresses": &d.Addresses, "adoption-notice": &d.AdoptionNotice,
	}[name]
	if wait == nil || to <= 0 || to > *wait {
		return false
	}
	*wait = to
	return true
}

// SkewTolerance is by how much the clocks of the two clusters may differ before a Node that is initialized in time can look late:
// the deadline is judged by ours, and a Node's registration by the user cluster's. Half of the deadline, less what a pass takes.
func (d Deadlines) SkewTolerance(cluster *ucv1.Cluster) time.Duration {
	return InitializationDeadline(cluster)/2 - 30*time.Second
}

// RegistrationInterval is how long it is from one look of vSphere's CSI driver for in-tree volumes to the next. Its first one
// comes when its syncer starts, and it refuses to look less often than this:
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/syncer/types.go#L39 (defaultFullSyncIntervalInMin)
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/syncer/metadatasyncer.go#L157-L182
// (getFullSyncIntervalInMin)
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/syncer/metadatasyncer.go#L689-L743 (its ticker)
const RegistrationInterval = 30 * time.Minute

// RealDeadlines are those of every cluster that is not a testbed's.
func RealDeadlines() Deadlines {
	return Deadlines{
		KubeletMargin:      30 * time.Second,
		Settle:             10 * time.Second,
		Reconciler:         3 * time.Second,
		ProbeTime:          10 * time.Second,
		Addresses:          time.Minute,
		AddressesOfNode:    time.Second,
		AdoptionNotice:     time.Minute,
		Leader:             2 * time.Minute,
		Handover:           10 * time.Minute,
		Probe:              3 * time.Minute,
		CanaryRemoval:      5 * time.Minute,
		VolumeRegistration: 2 * RegistrationInterval,
		ProbeRetry:         5 * time.Minute,
		CanaryRetry:        10 * time.Minute,
	}
}

// The defaults of the deadlines in a Cluster's spec.
const (
	defaultInitializationDeadline = 3 * time.Minute
	defaultNodeDeadline           = 20 * time.Minute
	DefaultSoak                   = 5 * time.Minute
)

// InitializationDeadline is from the registration of a Node.
func InitializationDeadline(cluster *ucv1.Cluster) time.Duration {
	return SecondsOr(cluster.Spec.Rollout.InitializationDeadlineSeconds, defaultInitializationDeadline)
}

// NodeDeadline is from the creation of a Machine until its Node is Ready.
func NodeDeadline(cluster *ucv1.Cluster) time.Duration {
	return SecondsOr(cluster.Spec.Rollout.NodeDeadlineSeconds, defaultNodeDeadline)
}

// SoakTime is how long a migrated cluster has to be stable before it is completed.
func SoakTime(cluster *ucv1.Cluster) time.Duration {
	return SecondsOr(cluster.Spec.Rollout.SoakSeconds, DefaultSoak)
}

// SecondsOr is a field of a spec, in seconds, or its default.
func SecondsOr(seconds *int32, otherwise time.Duration) time.Duration {
	if seconds == nil {
		return otherwise
	}
	return time.Duration(*seconds) * time.Second
}
