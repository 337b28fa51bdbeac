package machines

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
)

// StrategyRollingUpdate is the only strategy.
const StrategyRollingUpdate = "RollingUpdate"

// SetDefaults fills what the author of a MachineDeployment left out.
func SetDefaults(spec *MachineDeploymentSpec) {
	fill(&spec.Replicas, 1)
	fill(&spec.MinReadySeconds, 0)
	fill(&spec.RevisionHistoryLimit, 1)
	fill(&spec.ProgressDeadlineSeconds, 600)
	if spec.Strategy == nil {
		spec.Strategy = &Strategy{}
	}
	if spec.Strategy.Type == "" {
		spec.Strategy.Type = StrategyRollingUpdate
	}
	if spec.Strategy.RollingUpdate == nil {
		spec.Strategy.RollingUpdate = &RollingUpdate{}
	}
	fill(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromInt32(1))
	fill(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(0))
}

func fill[T any](field **T, value T) {
	if *field == nil {
		*field = new(value)
	}
}

// TemplateHash identifies a template. The hash label itself does not count, so
// that a MachineDeployment's template and its MachineSet's give the same.
func TemplateHash(template *MachineTemplateSpec) (string, error) {
	bare := template.DeepCopy()
	delete(bare.Labels, TemplateHashLabel)
	if len(bare.Labels) == 0 {
		bare.Labels = nil
	}
	raw, err := json.Marshal(bare)
	if err != nil {
		return "", fmt.Errorf("encode the machine template: %w", err)
	}
	sum := fnv.New32a()
	if _, err := sum.Write(raw); err != nil {
		return "", fmt.Errorf("hash the machine template: %w", err)
	}
	return rand.SafeEncodeString(fmt.Sprint(sum.Sum32())), nil
}
