package controlplane

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func kcmChange(flags ...outcome.Flag) outcome.ArgumentChange {
	return outcome.ArgumentChange{
		Target: observation.Ref{
			Kind:      "Deployment",
			Namespace: testNamespace,
			Name:      kubeControllerManager,
			UID:       kubeControllerManager,
		},
		Container: kubeControllerManager,
		Set:       flags,
	}
}

// applies counts the writes of a client.
func applies(count *int) interceptor.Funcs {
	return interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			*count++
			return c.Apply(ctx, obj, opts...)
		},
	}
}

func readBack(ctx context.Context, g *WithT, c client.Client) *appsv1.Deployment {
	deployment := &appsv1.Deployment{}
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: testNamespace, Name: kubeControllerManager}, deployment)).To(Succeed())
	return deployment
}

func TestChangeArgumentsAppliesTheFieldThatHeldTheFlags(t *testing.T) {
	g, ctx, writes := NewWithT(t), t.Context(), 0
	c := testClient(applies(&writes))
	g.Expect(c.Create(ctx, testDeployment(kubeControllerManager, "--cloud-provider=openstack"), client.FieldOwner("gitops"))).To(
		Succeed(),
	)
	g.Expect(fieldOwner(readBack(ctx, g, c), kubeControllerManager)).To(Equal("gitops"))

	change := kcmChange(outcome.Flag{Name: "--controllers", Value: "*,-service"})
	g.Expect(ChangeArguments(ctx, c, change)).To(Succeed())
	changed := readBack(ctx, g, c)
	container := changed.Spec.Template.Spec.Containers[0]
	g.Expect(container.Args).To(Equal([]string{"--cloud-provider=openstack", "--controllers=*,-service"}))
	g.Expect(container.Command).To(Equal([]string{kubeControllerManager}))
	g.Expect(container.Image).To(Equal("image"))
	g.Expect(appliedByUs(changed)).To(Equal(map[string]owned{kubeControllerManager: {args: true}}))
	g.Expect(fieldOwner(changed, kubeControllerManager)).To(BeEmpty(), "the executable alone is no claim on the flags")

	g.Expect(ChangeArguments(ctx, c, change)).To(Succeed())
	g.Expect(writes).To(Equal(1), "nothing is written when nothing changes")
}

func TestChangeArgumentsKeepsWhatItAppliedToOtherContainers(t *testing.T) {
	g, ctx, writes := NewWithT(t), t.Context(), 0
	c := testClient(applies(&writes))
	deployment := testDeployment(kubeControllerManager, "--v=1")
	deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers,
		corev1.Container{Name: kubeScheduler, Image: "image", Command: []string{kubeScheduler, "--v=1"}})
	g.Expect(c.Create(ctx, deployment)).To(Succeed())

	first := kcmChange(outcome.Flag{Name: "--v", Value: "2"})
	second := first
	second.Container = kubeScheduler
	third := kcmChange(outcome.Flag{Name: "--v", Value: "3"})
	for _, change := range []outcome.ArgumentChange{first, second, third} {
		g.Expect(ChangeArguments(ctx, c, change)).To(Succeed())
	}
	containers := readBack(ctx, g, c).Spec.Template.Spec.Containers
	g.Expect(containers[0].Args).To(Equal([]string{"--v=3"}))
	g.Expect(containers[1].Command).To(Equal([]string{kubeScheduler, "--v=2"}))
	g.Expect(writes).To(Equal(3))
}

func TestChangeArgumentsRefuses(t *testing.T) {
	flag := outcome.Flag{Name: "--v", Value: "4"}
	another := kcmChange(flag)
	another.Target.UID = "another"
	elsewhere := kcmChange(flag)
	elsewhere.Container = "kcm"
	tests := map[string]struct {
		deployment *appsv1.Deployment
		change     outcome.ArgumentChange
		message    string
	}{
		"a Deployment that was deleted": {
			deployment: testDeployment("another"), change: kcmChange(flag), message: "not found",
		},
		"a Deployment that was made again": {
			deployment: testDeployment(kubeControllerManager, "--v=2"), change: another,
			message: "is not the one that was observed (uid another, now kube-controller-manager): observe it again",
		},
		"a container that is not there": {
			deployment: testDeployment(kubeControllerManager, "--v=2"), change: elsewhere, message: "has no container kcm",
		},
		"arguments that are not understood": {
			deployment: testDeployment(kubeControllerManager, "positional", "--v=2"), change: kcmChange(flag),
			message: "argument 2 of container kube-controller-manager is not a flag",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, writes := NewWithT(t), 0
			c := testClient(applies(&writes), test.deployment)
			g.Expect(ChangeArguments(t.Context(), c, test.change)).To(MatchError(ContainSubstring(test.message)))
			g.Expect(writes).To(BeZero())
		})
	}
}

func TestChangeArgumentsOverwritesNoOnesChangeInBetween(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	c := testClient(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			deployment := &appsv1.Deployment{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: testNamespace, Name: kubeControllerManager}, deployment); err != nil {
				return err
			}
			deployment.Spec.Template.Spec.Containers[0].Args = []string{"--v=9"}
			return errors.Join(c.Update(ctx, deployment), c.Apply(ctx, obj, opts...))
		},
	}, testDeployment(kubeControllerManager, "--v=2"))
	err := ChangeArguments(ctx, c, kcmChange(outcome.Flag{Name: "--v", Value: "4"}))
	g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "got %v", err)
	g.Expect(readBack(ctx, g, c).Spec.Template.Spec.Containers[0].Args).To(Equal([]string{"--v=9"}))
}

func TestFieldOwnerNamesEveryOtherManagerOfTheFlags(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	c := testClient(interceptor.Funcs{})
	deployment := testDeployment(kubeControllerManager)
	deployment.Spec.Template.Spec.Containers[0].Command = []string{"kcm", "--v=2"}
	g.Expect(c.Create(ctx, deployment, client.FieldOwner("helm"))).To(Succeed())
	created := readBack(ctx, g, c)
	g.Expect(fieldOwner(created, kubeControllerManager)).To(Equal("helm"), "the flags are in the command")
	g.Expect(fieldOwner(created, "another")).To(BeEmpty())

	created.ManagedFields[0].Manager = ucv1.FieldManager
	g.Expect(fieldOwner(created, kubeControllerManager)).To(BeEmpty())
}
