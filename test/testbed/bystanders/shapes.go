package bystanders

import (
	"math/rand/v2"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// draw decides what is left to chance.
type draw struct {
	random *rand.Rand
}

func (d *draw) image() string {
	all := images()
	return all[d.random.IntN(len(all))]
}

// shape makes the objects of one kind of bystander.
type shape func(*draw) []client.Object

func shapes() []shape {
	return []shape{
		one(func(d *draw) client.Object { return d.deployment("image", nil) }),
		one(func(d *draw) client.Object { return d.deployment("images", manyContainers(d)) }),
		one(func(d *draw) client.Object {
			return d.deployment("blank-image", func(pod *corev1.PodSpec) { pod.Containers[0].Image = blankImage })
		}),
		one(stopped),
		one(longName),
		one(replicaSet),
		one(replicationController),
		one(statefulSet),
		one(toleratesAll),
		one(runsNowhere),
		one(job),
		one(cronJob),
		one(barePod),
		one(podOfAnotherKind),
		one(podOfTwoOwners),
		one(neverScheduled),
		one(selectsNothing),
		one(allowsAll),
		one(externalName),
		one(withoutSelector),
		one(ofAnotherClass),
		one(unboundClaim),
		one(networkVolume),
	}
}

func one(object func(*draw) client.Object) shape {
	return func(d *draw) []client.Object { return []client.Object{object(d)} }
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "bystander-" + name}
}

func (d *draw) pod(change func(*corev1.PodSpec)) corev1.PodSpec {
	spec := corev1.PodSpec{
		// Nothing runs that could be waited for.
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers:                    []corev1.Container{{Name: "main", Image: d.image()}},
	}
	if change != nil {
		change(&spec)
	}
	return spec
}

func (d *draw) template(name string, change func(*corev1.PodSpec)) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"bystander": name}
	return &metav1.LabelSelector{MatchLabels: labels},
		corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: d.pod(change)}
}

func (d *draw) deployment(name string, change func(*corev1.PodSpec)) *appsv1.Deployment {
	selector, template := d.template(name, change)
	return &appsv1.Deployment{
		ObjectMeta: named(name),
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(1)), Selector: selector, Template: template},
	}
}

func manyContainers(d *draw) func(*corev1.PodSpec) {
	return func(pod *corev1.PodSpec) {
		pod.Containers = append(
			pod.Containers,
			corev1.Container{Name: "beside", Image: d.image(), Command: []string{"sh", "-c", "exec sleep 1d"}},
		)
		pod.InitContainers = []corev1.Container{{Name: "first", Image: d.image(), Args: []string{"", "--", "$(NOTHING)"}}}
	}
}

// stopped is paused, too, and finds its pods by expressions.
func stopped(d *draw) client.Object {
	deployment := d.deployment("stopped", nil)
	deployment.Spec.Replicas, deployment.Spec.Paused = new(int32(0)), true
	deployment.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "bystander", Operator: metav1.LabelSelectorOpIn, Values: []string{"stopped", "halted"}},
		{Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	return deployment
}

// longName has pods whose names say little of it, and an annotation with characters that no screen should get.
func longName(d *draw) client.Object {
	deployment := d.deployment("long", nil)
	deployment.Name = strings.Repeat("bystander.with-a-name.", 10) + "end"
	deployment.Annotations = map[string]string{"note": "\x1b[31mred\x7f \u0085\u202e\ufffe\nend"}
	return deployment
}

func replicaSet(d *draw) client.Object {
	selector, template := d.template("replicaset", nil)
	return &appsv1.ReplicaSet{
		ObjectMeta: named("replicaset"), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(1)), Selector: selector, Template: template},
	}
}

func replicationController(d *draw) client.Object {
	selector, template := d.template("replicationcontroller", nil)
	return &corev1.ReplicationController{ObjectMeta: named("replicationcontroller"), Spec: corev1.ReplicationControllerSpec{
		Replicas: new(int32(1)), Selector: selector.MatchLabels, Template: &template,
	}}
}

// statefulSet names a Service that there is not.
func statefulSet(d *draw) client.Object {
	selector, template := d.template("statefulset", nil)
	return &appsv1.StatefulSet{ObjectMeta: named("statefulset"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(1)), ServiceName: "missing", Selector: selector, Template: template,
	}}
}

func toleratesAll(d *draw) client.Object {
	selector, template := d.template("everywhere", func(pod *corev1.PodSpec) {
		pod.HostNetwork = true
		pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	return &appsv1.DaemonSet{ObjectMeta: named("everywhere"), Spec: appsv1.DaemonSetSpec{
		Selector:       selector,
		Template:       template,
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType},
	}}
}

func runsNowhere(d *draw) client.Object {
	selector, template := d.template("nowhere", func(pod *corev1.PodSpec) {
		pod.NodeSelector = map[string]string{corev1.LabelOSStable: "windows"}
	})
	return &appsv1.DaemonSet{ObjectMeta: named("nowhere"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}}
}

func job(d *draw) client.Object {
	return &batchv1.Job{ObjectMeta: named("job"), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: d.pod(func(pod *corev1.PodSpec) { pod.RestartPolicy = corev1.RestartPolicyNever }),
	}}}
}

func cronJob(d *draw) client.Object {
	return &batchv1.CronJob{ObjectMeta: named("cronjob"), Spec: batchv1.CronJobSpec{
		Schedule: "0 0 29 2 *", Suspend: new(true),
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			Spec: d.pod(func(pod *corev1.PodSpec) { pod.RestartPolicy = corev1.RestartPolicyOnFailure }),
		}}},
	}}
}

// barePod has neither an owner nor a label.
func barePod(d *draw) client.Object { return &corev1.Pod{ObjectMeta: named("pod"), Spec: d.pod(nil)} }

// owner is of a kind that the API server does not know, as one is whose definition is gone. The garbage collector leaves what
// such owners have alone.
func owner(kind string, controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "games.example.com/v1", Kind: kind, Name: "missing", UID: types.UID("00000000-0000-4000-8000-000000000000"),
		Controller: new(controller),
	}
}

func podOfAnotherKind(d *draw) client.Object {
	pod := &corev1.Pod{ObjectMeta: named("of-another-kind"), Spec: d.pod(nil)}
	pod.OwnerReferences = []metav1.OwnerReference{owner("GameServer", true)}
	pod.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "6d4cf56db6"}
	return pod
}

func podOfTwoOwners(d *draw) client.Object {
	pod := &corev1.Pod{ObjectMeta: named("of-two-owners"), Spec: d.pod(nil)}
	pod.OwnerReferences = []metav1.OwnerReference{owner("GameServer", false), owner("Fleet", false)}
	return pod
}

func neverScheduled(d *draw) client.Object {
	return &corev1.Pod{ObjectMeta: named("never-scheduled"), Spec: d.pod(func(pod *corev1.PodSpec) { pod.SchedulerName = "no one" })}
}

func budget(name string, spec policyv1.PodDisruptionBudgetSpec) client.Object {
	return &policyv1.PodDisruptionBudget{ObjectMeta: named(name), Spec: spec}
}

// selectsNothing allows no disruption, of no pod.
func selectsNothing(*draw) client.Object {
	return budget("selects-nothing", policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: new(intstr.FromInt32(0)),
		Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"bystander": "missing"}},
	})
}

func allowsAll(*draw) client.Object {
	return budget("allows-all", policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: new(intstr.FromString("100%")),
		Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"bystander": "plain"}},
	})
}

func service(name string, spec corev1.ServiceSpec) client.Object {
	return &corev1.Service{ObjectMeta: named(name), Spec: spec}
}

func externalName(*draw) client.Object {
	return service("external-name", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example.com"})
}

func withoutSelector(*draw) client.Object {
	return service(
		"without-selector",
		corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 5432}}},
	)
}

// ofAnotherClass is none of the cloud's business, and waits for its address without end.
func ofAnotherClass(*draw) client.Object {
	return service("of-another-class", corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: new("example.com/other"), Ports: []corev1.ServicePort{{Port: 80}},
	})
}

func storage() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}

func unboundClaim(*draw) client.Object {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named("unbound"), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: new(""), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ti")}},
	}}
}

// networkVolume is of no cloud, and of no class.
func networkVolume(*draw) client.Object {
	volume := &corev1.PersistentVolume{ObjectMeta: named("network-volume"), Spec: corev1.PersistentVolumeSpec{
		Capacity: storage(), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource:        corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "192.0.2.1", Path: "/"}},
	}}
	volume.Namespace = ""
	return volume
}
