package outcome

const (
	// DefaultCanaryImage is what its pod runs unless the spec says otherwise.
	DefaultCanaryImage = "registry.k8s.io/pause:3.10"
)

// CanaryPlan is what the canary is made of besides its Machine.
type CanaryPlan struct {
	// Image of its pod.
	Image string
	// StorageClass of its volume; empty: it has none.
	StorageClass string
	// LoadBalancer says that it has a Service of that type.
	LoadBalancer bool
}

// Kinds of the objects of its workload.
func (plan CanaryPlan) Kinds() []string {
	kinds := []string{"Pod"}
	if plan.StorageClass != "" {
		kinds = append(kinds, "PersistentVolumeClaim")
	}
	if plan.LoadBalancer {
		kinds = append(kinds, "Service")
	}
	return kinds
}
