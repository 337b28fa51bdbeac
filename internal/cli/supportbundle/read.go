package supportbundle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const (
	mostPods   = 20
	mostEvents = 500
)

// reader reads the management cluster with the person's own rights.
type reader struct {
	client           client.Client
	core             typedcorev1.CoreV1Interface
	config           *rest.Config
	cluster          *ucv1.Cluster
	managerNamespace string
	logLines         int64
	*bundle
}

// objects of the Cluster.
func (r *reader) objects(ctx context.Context) {
	r.object("cluster.yaml", r.cluster)
	r.events(ctx)
	if admission := r.cluster.Status.Admission; admission != nil {
		r.get(ctx, "fleetmigration.yaml", client.ObjectKey{Name: admission.FleetMigration}, &ucv1.FleetMigration{})
	} else {
		r.without("fleetmigration.yaml", "no FleetMigration has queued or admitted the Cluster")
	}
	r.get(ctx, "providerprofile.yaml", client.ObjectKey{Name: r.cluster.Spec.Cloud.ProviderName}, &ucv1.ProviderProfile{})
	if r.cluster.Spec.ControlPlane.Type == ucv1.ExternalControlPlane {
		r.without("the control plane", "it runs as static pods in the user cluster")
	}
	for _, name := range deploymentsOf(r.cluster) {
		deployment, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: r.cluster.Namespace, Name: name}
		if r.get(ctx, "control-plane/deployment-"+name+".yaml", key, deployment) {
			r.podsOf(ctx, "control-plane/pod-", deployment)
		}
	}
}

// deploymentsOf the Cluster in the management cluster.
func deploymentsOf(cluster *ucv1.Cluster) (names []string) {
	if plane := cluster.Spec.ControlPlane; plane.Type != ucv1.ExternalControlPlane {
		names = append(names, cluster.KubeControllerManager().Name)
		for program, component := range map[string]*ucv1.ControlPlaneComponent{
			"kube-apiserver": plane.KubeAPIServer, "kube-scheduler": plane.KubeScheduler,
		} {
			if component == nil {
				component = &ucv1.ControlPlaneComponent{}
			}
			names = append(names, component.WithDefaults(program).Name)
		}
	}
	machines := cluster.Spec.MachineController
	for program, one := range map[string]ucv1.LocatedDeployment{
		"machine-controller": machines.MachineController, "machine-controller-webhook": machines.Webhook,
		"operating-system-manager": machines.OperatingSystemManager.LocatedDeployment,
	} {
		if one.Location != ucv1.UserClusterLocation && (one.Location != "" || machines.Location != ucv1.UserClusterLocation) {
			names = append(names, one.WithDefaults(program).Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// get an object into a file, and say whether it was there.
func (r *reader) get(ctx context.Context, file string, key client.ObjectKey, object client.Object) bool {
	switch err := r.client.Get(ctx, key, object); {
	case apierrors.IsNotFound(err):
		r.without(file, fmt.Sprintf("%s does not exist", strings.TrimPrefix(key.String(), "/")))
		return false
	case err != nil:
		r.couldNotRead(file, err)
		return false
	}
	r.object(file, object)
	return true
}

// object into a file.
func (r *reader) object(file string, object client.Object) {
	kind, err := apiutil.GVKForObject(object, r.client.Scheme())
	if err != nil {
		r.couldNotRead(file, err)
		return
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		r.couldNotRead(file, err)
		return
	}
	fields["apiVersion"], fields["kind"] = kind.GroupVersion().String(), kind.Kind
	text, err := yaml.Marshal(r.redactor.field("", fields))
	if err != nil {
		r.couldNotRead(file, err)
		return
	}
	r.add(file, kind.Kind, kindAndName(kind.Kind, client.ObjectKeyFromObject(object)), string(text))
}

// podsOf a Deployment into files.
func (r *reader) podsOf(ctx context.Context, prefix string, deployment *appsv1.Deployment) []corev1.Pod {
	what := "the Pods of " + kindAndName("Deployment", client.ObjectKeyFromObject(deployment))
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		r.couldNotRead(what, err)
		return nil
	}
	list := &corev1.PodList{}
	err = r.client.List(ctx, list, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector},
		client.Limit(mostPods))
	if err != nil {
		r.couldNotRead(what, err)
		return nil
	}
	switch {
	case list.Continue != "":
		r.without("more of "+what, fmt.Sprintf("at most %d are read", mostPods))
	case len(list.Items) == 0:
		r.without(what, "there are none")
	}
	for i := range list.Items {
		r.object(prefix+list.Items[i].Name+".yaml", &list.Items[i])
	}
	return list.Items
}

// events of the Cluster, the oldest first.
func (r *reader) events(ctx context.Context) {
	list := &corev1.EventList{}
	err := r.client.List(ctx, list, client.InNamespace(r.cluster.Namespace), client.Limit(mostEvents),
		client.MatchingFields{"involvedObject.kind": "Cluster", "involvedObject.name": r.cluster.Name})
	if err != nil {
		r.couldNotRead("events.txt", err)
		return
	}
	if list.Continue != "" {
		r.without("more events", fmt.Sprintf("at most %d are read", mostEvents))
	}
	last := func(e corev1.Event) time.Time {
		return slices.MaxFunc([]time.Time{e.CreationTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time}, time.Time.Compare)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return last(a).Compare(last(b)) })
	out := &strings.Builder{}
	for _, event := range list.Items {
		fmt.Fprintf(out, "%s %s %s %dx %s\n", terminal.At(&metav1.Time{Time: last(event)}), event.Type, event.Reason, event.Count,
			event.Message)
	}
	r.add("events.txt", fmt.Sprintf("%d events", len(list.Items)), kindAndName("Cluster", client.ObjectKeyFromObject(r.cluster)),
		out.String())
}

// secrets that the Cluster refers to: their keys go into a file, their values into the needles.
func (r *reader) secrets(ctx context.Context) (n *needles, scanned string) {
	n = newNeedles()
	names := []string{r.cluster.KubeconfigSecret().Name, r.cluster.Spec.Cloud.ConfigSecretRef.Name}
	inventory := ""
	if baseline := r.cluster.Status.Baseline; baseline != nil {
		inventory = baseline.SecretName
		names = append(names, inventory)
	}
	keys := &strings.Builder{}
	var looked, unread []string
	for _, name := range slices.Compact(names) {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: r.cluster.Namespace, Name: name}
		switch err := r.client.Get(ctx, key, secret); {
		case apierrors.IsNotFound(err):
			r.without(kindAndName("Secret", key), "it does not exist")
			continue
		case err != nil:
			r.couldNotRead("the scan for the values of "+kindAndName("Secret", key), err)
			unread = append(unread, key.String())
			continue
		}
		fmt.Fprintf(keys, "Secret %s, type %s\n", key, secret.Type)
		for _, field := range slices.Sorted(maps.Keys(secret.Data)) {
			fmt.Fprintf(keys, "  key %s, %d bytes\n", field, len(secret.Data[field]))
		}
		if name != inventory {
			n.take(secret)
			looked = append(looked, key.String())
		}
	}
	r.add("secrets.txt", "Secrets that the Cluster refers to: keys and sizes only", "namespace "+r.cluster.Namespace, keys.String())
	return n, scannedFor(n, looked, unread)
}

func scannedFor(n *needles, looked, unread []string) string {
	text := fmt.Sprintf("No file has one of the %d values of the Secrets that were searched for (%s), raw or in base64. "+
		"%d values of less than %d characters, or that name a place such as a region, were not searched for.",
		len(n.values), strings.Join(looked, ", "), len(n.skipped), shortest)
	if len(looked) == 0 {
		text = "No Secret was searched for."
	}
	if len(unread) > 0 {
		text += fmt.Sprintf("\nNOT searched for: the values of %s, which could not be read.", strings.Join(unread, ", "))
	}
	return text
}

// finish makes the archive, and looks through it.
func (r *reader) finish(ctx context.Context, folder string, now time.Time) (archive []byte, scanned string, err error) {
	n, scanned := r.secrets(ctx)
	for _, name := range r.leaveOut {
		if !slices.ContainsFunc(r.gaps, func(g gap) bool { return strings.HasSuffix(g.what, name) }) {
			return nil, "", terminal.UsageError(fmt.Errorf("--leave-out names %s, which is no file of this archive", name))
		}
	}
	r.files[readmeName] = file{text: r.redactor.text(r.readme(client.ObjectKeyFromObject(r.cluster).String(), now, scanned))}
	archive, err = r.archive(folder, now)
	if err != nil {
		return nil, "", err
	}
	fmt.Fprintf(r.progress, "Searching the archive for %d values of Secrets\n", len(n.values))
	if err := scan(archive, n); err != nil {
		return nil, "", terminal.WithCode(fmt.Errorf("no archive was written: %w; leave such a file out by --leave-out=FILE, "+
			"without its folder, and report this", err), terminal.ExitRefused)
	}
	return archive, scanned, nil
}
