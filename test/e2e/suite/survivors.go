package suite

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Survivors are pods whose processes outlive them.
type Survivors struct {
	mu   sync.Mutex
	pods map[types.UID]bool
}

func (s *Survivors) outlive(pod *corev1.Pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[pod.UID]
}

// Set says whether the pod's process outlives it.
func (s *Survivors) Set(pod *corev1.Pod, outlives bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods == nil {
		s.pods = map[types.UID]bool{}
	}
	s.pods[pod.UID] = outlives
}
