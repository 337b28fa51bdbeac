package machinecontroller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// The kinds of the machine-controller.
const (
	machineKind           = "Machine"
	machineSetKind        = "MachineSet"
	machineDeploymentKind = "MachineDeployment"
)

// Kinds of the machine-controller.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		machineGroupVersion().WithKind(machineKind),
		machineGroupVersion().WithKind(machineSetKind),
		machineGroupVersion().WithKind(machineDeploymentKind),
	}
}

func resources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{resourceOf(machineKind), resourceOf(machineSetKind), resourceOf(machineDeploymentKind)}
}

func resourceOf(kind string) schema.GroupVersionResource {
	return machineGroupVersion().WithResource(strings.ToLower(kind) + "s")
}

// Rights that a migration needs and would miss only when it is under way.
func Rights() []authorizationv1.ResourceAttributes {
	needed := []authorizationv1.ResourceAttributes{}
	for _, resource := range []string{"machinedeployments", "machinesets", "machines"} {
		needed = append(
			needed,
			authorizationv1.ResourceAttributes{Group: machineGroupVersion().Group, Resource: resource, Verb: "patch"},
		)
	}
	return needed
}

func machineGroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: "cluster.k8s.io", Version: "v1alpha1"}
}

func (a *Adapter) eachOf(ctx context.Context, kind string, each func(*unstructured.Unstructured)) error {
	return reads.List(
		ctx,
		a.client,
		func() *unstructured.UnstructuredList { return emptyMachineKind(kind) },
		func(page *unstructured.UnstructuredList) {
			for i := range page.Items {
				each(&page.Items[i])
			}
		},
	)
}

func (a *Adapter) deployments(ctx context.Context) ([]unstructured.Unstructured, error) {
	var items []unstructured.Unstructured
	err := a.eachOf(
		ctx,
		machineDeploymentKind,
		func(object *unstructured.Unstructured) { items = append(items, reads.Keep(ctx, *object)) },
	)
	return items, err
}

func emptyMachineKind(kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(machineGroupVersion().WithKind(kind + "List"))
	return list
}

// watch starts the watches of the machine-controller's kinds; to be called only once their CRDs were seen.
func (a *Adapter) watch() {
	a.watches.Resources(resources()...)
}

// LookForKinds notices that the CRDs were installed after the last pass, for which nothing else would wake us.
func (a *Adapter) LookForKinds(ctx context.Context) {
	if !a.watches.Misses(resources()[0]) {
		return
	}
	if err := a.client.List(ctx, emptyMachineKind(machineKind), client.Limit(1)); err == nil {
		a.watch()
	}
}

func toMachineDeployment(object *unstructured.Unstructured) observation.MachineDeployment {
	replicas := integerOr(object, 1, "spec", "replicas")
	settled := integerOr(object, 0, "status", "observedGeneration") >= object.GetGeneration()
	// Not availableReplicas: it falls to 0 while minReadySeconds is endless.
	for _, field := range []string{"replicas", "updatedReplicas"} {
		settled = settled && integerOr(object, 0, "status", field) == replicas
	}
	paused, _, _ := unstructured.NestedBool(object.Object, "spec", "paused")
	surge, unavailable, problem := limitsOf(object, int(replicas))
	deployment := observation.MachineDeployment{
		Ref:            reads.RefOf(object),
		Paused:         paused,
		Deleting:       object.GetDeletionTimestamp() != nil,
		RestartValue:   restartValue(object),
		Replicas:       int32(replicas),
		Version:        object.GetResourceVersion(),
		Generation:     object.GetGeneration(),
		MaxSurge:       surge,
		MaxUnavailable: unavailable,
		LimitProblem:   problem,
		Settled:        settled,
		Guard:          guardOf(object),
	}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		deployment.DeletingSince, deployment.Finalizers = deleted.Time, holders(object.GetFinalizers())
	}
	return deployment
}

// limitsOf are maxSurge and maxUnavailable as the machine-controller resolves them: surge is rounded up and unavailable down, one
// more and none fewer are the defaults, and where both come to 0 one may be unavailable.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/util/machine_deployment.go (ResolveFenceposts)
func limitsOf(object *unstructured.Unstructured, replicas int) (surge, unavailable int32, problem observation.Text) {
	for _, limit := range []struct {
		name     string
		roundUp  bool
		fallback int64
		into     *int32
	}{{"maxSurge", true, 1, &surge}, {"maxUnavailable", false, 0, &unavailable}} {
		path := []string{"spec", "strategy", "rollingUpdate", limit.name}
		value := intstr.FromInt32(int32(integerOr(object, limit.fallback, path...)))
		if text, isText, err := unstructured.NestedString(object.Object, path...); err == nil && isText {
			value = intstr.FromString(text)
		}
		resolved, err := intstr.GetScaledValueFromIntOrPercent(&value, replicas, limit.roundUp)
		if err != nil || resolved < 0 {
			return 0, 0, observation.Say(reads.RefOf(object), ": "+limit.name+" "+strconv.Quote(value.String())+
				" is no number and no percentage; correct it")
		}
		*limit.into = int32(resolved)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, int32(replicas)), problem
}

// changing says what failed. A conflict means that the object is not what the decision rested on.
func changing(what string, ref observation.Ref, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("%s %s: it was changed or deleted meanwhile, look again: %w", what, ref, err)
	}
	return fmt.Errorf("%s %s: %w", what, ref, err)
}

func toMachine(object *unstructured.Unstructured) observation.Machine {
	node, _, _ := unstructured.NestedString(object.Object, "status", "nodeRef", "name")
	machine := observation.Machine{
		Ref:        reads.RefOf(object),
		Set:        controllerOf(object, machineSetKind),
		Annotation: object.GetAnnotations()[ucv1.ExternalCloudProviderAnnotation],
		NodeName:   node,
		CreatedAt:  object.GetCreationTimestamp().Time,
		Finalizers: foreignFinalizers(object.GetFinalizers()),
		OfCanary:   object.GetLabels()[ucv1.CanaryLabel] != "",
		GoesFirst:  object.GetAnnotations()[ucv1.DeleteMachineAnnotation] != "",
	}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		machine.Deleting, machine.DeletingSince = true, deleted.Time
	}
	reason, _, _ := unstructured.NestedString(object.Object, "status", "errorReason")
	message, _, _ := unstructured.NestedString(object.Object, "status", "errorMessage")
	machine.Problem = strings.Trim(reason+": "+message, ": ")
	return machine
}

func controllerOf(object *unstructured.Unstructured, kind string) string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == kind {
		return string(owner.UID)
	}
	return ""
}

func restartValue(object *unstructured.Unstructured) string {
	value, _, _ := unstructured.NestedString(
		object.Object,
		"spec",
		"template",
		"metadata",
		"annotations",
		ucv1.ForceRestartAnnotation,
	)
	return value
}

// integerOr reads a number; JSON of a CRD without schema may hold it as a float.
func integerOr(object *unstructured.Unstructured, fallback int64, path ...string) int64 {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || !found {
		return fallback
	}
	switch number := value.(type) {
	case int64:
		return number
	case float64:
		return int64(number)
	default:
		return fallback
	}
}

// operatingSystemManagerFinalizer keeps a MachineDeployment until the operating-system-manager has deleted its bootstrap data.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go#L58
const operatingSystemManagerFinalizer = "kubermatic.io/cleanup-operating-system-configs"

// holders are the finalizers of a MachineDeployment that is being deleted, without that with which the machine-controller has
// the garbage collector wait for its MachineSets.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/controller.go#L162
func holders(finalizers []string) []string {
	var names []string
	for _, finalizer := range finalizers {
		switch finalizer {
		case metav1.FinalizerDeleteDependents:
		case operatingSystemManagerFinalizer:
			names = append(names, finalizer+" of the operating-system-manager")
		default:
			names = append(names, finalizer)
		}
	}
	return names
}

// foreignFinalizers are those that the machine-controller does not set, neither for each Machine nor in its drivers of clouds.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L77-L78
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/rhsm/util.go#L26
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/provider/azure/provider.go#L65-L69
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/provider/openstack/provider.go#L57
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/provider/alibaba/provider.go#L48
func foreignFinalizers(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool {
		switch finalizer {
		case "machine-delete-finalizer", "machine-node-delete-finalizer", "kubermatic.io/red-hat-subscription",
			"kubermatic.io/release-openstack-floating-ip", "kubermatic.io/cleanup-alibaba-instance":
			return true
		}
		return strings.HasPrefix(finalizer, "kubermatic.io/cleanup-azure-")
	})
}
