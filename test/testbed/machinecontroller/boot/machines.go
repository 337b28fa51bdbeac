package boot

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// lookEvery is how often the cloud is asked for new instances.
const lookEvery = 500 * time.Millisecond

// Machines are all machines of one cluster.
type Machines struct {
	// Client is what a machine asks for its Secret with, and its kubelet registers with.
	Client client.Client
	// Instances are those that there are now.
	Instances func() []cloud.Instance
	// Version of the kubelets.
	Version string
	// Delay is the time from a new instance to its Node.
	Delay time.Duration
	Clock clock.WithTicker
	Log   logr.Logger

	// booting has when each instance without a Node was first seen, and joined those that have, or had, one: a kubelet does
	// not register again when its Node is deleted.
	booting map[string]time.Time
	joined  map[string]bool
}

// Run boots each new instance that has user data, until ctx ends. A machine whose Secret can't be read tries again.
func (m *Machines) Run(ctx context.Context) error {
	m.booting, m.joined = map[string]time.Time{}, map[string]bool{}
	ticker := m.Clock.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			m.look(ctx)
		}
	}
}

func (m *Machines) look(ctx context.Context) {
	for _, instance := range m.Instances() {
		if instance.UserData == "" || m.joined[instance.ID] {
			continue
		}
		if _, seen := m.booting[instance.ID]; !seen {
			m.booting[instance.ID] = m.Clock.Now()
		}
		if m.Clock.Since(m.booting[instance.ID]) < m.Delay {
			continue
		}
		if err := m.join(ctx, &instance); err != nil {
			m.Log.Error(err, "machine will be retried", "machine", instance.Name)
			continue
		}
		delete(m.booting, instance.ID)
		m.joined[instance.ID] = true
	}
}

func (m *Machines) join(ctx context.Context, instance *cloud.Instance) error {
	name, err := machines.ConfigSecretIn(instance.UserData)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{}
	if err := m.Client.Get(ctx, client.ObjectKey{Namespace: machines.BootstrapNamespace, Name: name}, secret); err != nil {
		return fmt.Errorf("fetch what starts the kubelet: %w", err)
	}
	external, err := machines.StartsExternal(secret)
	if err != nil {
		return err
	}
	node := Node(Kubelet{Node: instance.Name, Version: m.Version, External: external}, instance)
	if err := m.Client.Create(ctx, node, client.FieldOwner("kubelet")); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register Node %s: %w", node.Name, err)
	}
	m.Log.Info("registered", "node", node.Name, "externalCloudProvider", external)
	return nil
}
