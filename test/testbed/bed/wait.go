package bed

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds every wait of the testbed's own set-up; machines are shared and noisy.
const patience = 3 * time.Minute

// WaitFor asks until the condition holds; the error says what it last lacked.
func (b *Bed) WaitFor(
	ctx context.Context,
	what string,
	patience time.Duration,
	holds func(context.Context) (lacks string, err error),
) error {
	lacks, failed := "nothing was looked at", ""
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		// The last look may fail only because the time is over: what was seen before it says more.
		seen, err := holds(ctx)
		if failed = ""; err != nil {
			failed = "; the last look failed: " + err.Error()
		} else {
			lacks = seen
		}
		return err == nil && lacks == "", nil
	})
	if broken := b.Err(); broken != nil {
		return broken
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %s%s", what, lacks, failed)
	}
	return nil
}

// WaitForDeployment waits until a Deployment of the management cluster is rolled out.
func (b *Bed) WaitForDeployment(namespace, name string) error {
	return b.WaitFor(b.ctx, "Deployment "+namespace+"/"+name, patience, func(ctx context.Context) (string, error) {
		d := &appsv1.Deployment{}
		if err := b.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
			return "", err
		}
		if d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas < *d.Spec.Replicas ||
			d.Status.Replicas != d.Status.UpdatedReplicas {
			return fmt.Sprintf("%d of %d replicas available", d.Status.AvailableReplicas, *d.Spec.Replicas), nil
		}
		return "", nil
	})
}
