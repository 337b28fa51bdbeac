package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	// mirrorAnnotation is on every mirror pod; its value identifies the manifest that the kubelet runs
	// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/kubelet/types/pod_update.go).
	mirrorAnnotation = "kubernetes.io/config.mirror"
	// staticPodKind stands in messages for all static pods of a component.
	staticPodKind = "StaticPod"
	// pageSize bounds the memory that a large kube-system takes: of each page only the control plane is kept.
	pageSize = 500
	// serializingMinor is the first minor whose kubelets, in every patch release, start a static pod only after the one of
	// the same name before it has ended (https://github.com/kubernetes/kubernetes/pull/104743).
	serializingMinor = 23
)

// StaticControlPlane observes a control plane of static pods by their mirror pods. user reads the user cluster; it is nil
// while there is no connection. Absent means that no mirror pod shows a KCM and that none was ever recorded: later, pods
// that are missing are pods that cannot be looked at.
func (r *Reader) StaticControlPlane(
	ctx context.Context,
	cluster *ucv1.Cluster,
	user client.Reader,
) observation.Observed[observation.ControlPlane] {
	if user == nil {
		return observation.Unknown[observation.ControlPlane]("the user cluster is not connected")
	}
	look, err := r.lookAtStaticPods(ctx, cluster, user)
	if err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error())
	}
	kcm := look.component(cluster.KubeControllerManager().Container)
	if len(kcm.Pods) == 0 && cluster.Status.Handover == nil {
		return observation.Absent[observation.ControlPlane]()
	}
	if len(kcm.Pods) == 0 {
		return observation.Unknown[observation.ControlPlane]("no Node shows a static pod with container " + kcm.Container)
	}
	plane := observation.ControlPlane{KCM: kcm, ManagementNodes: look.nodes}
	look.lookBeside(&plane)
	return observation.Known(plane)
}

// staticLook is one look at the user cluster.
type staticLook struct {
	reader  *Reader
	cluster *ucv1.Cluster
	nodes   map[string]observation.ManagementNode
	objects map[string]*corev1.Node
	pods    []corev1.Pod
}

// lookAtStaticPods reads the pods before the Nodes: what a mirror pod shows is then never younger than its Node.
func (r *Reader) lookAtStaticPods(ctx context.Context, cluster *ucv1.Cluster, user client.Reader) (*staticLook, error) {
	look := &staticLook{
		reader:  r,
		cluster: cluster,
		nodes:   map[string]observation.ManagementNode{},
		objects: map[string]*corev1.Node{},
	}
	containers := []string{cluster.KubeControllerManager().Container}
	for _, other := range componentsBeside(cluster) {
		containers = append(containers, other.ref.Container)
	}
	if err := look.readPods(ctx, user, containers); err != nil {
		return nil, err
	}
	return look, look.readNodes(ctx, user)
}

// readNodes keeps of each Node what is asked for later.
func (l *staticLook) readNodes(ctx context.Context, user client.Reader) error {
	for next := ""; ; {
		page := &corev1.NodeList{}
		if err := user.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
			return fmt.Errorf("list the Nodes of the user cluster: %w", err)
		}
		for i := range page.Items {
			node := &page.Items[i]
			l.objects[node.Name] = &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels},
				Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: node.Status.NodeInfo.KubeletVersion}},
			}
			l.nodes[node.Name] = observation.ManagementNode{
				BootID: bounded(node.Status.NodeInfo.BootID), SystemUUID: bounded(node.Status.NodeInfo.SystemUUID), Ready: isReady(node),
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// readPods keeps the pods that run one of the containers, whatever made them: a process that someone started beside the
// static pods counts like them.
func (l *staticLook) readPods(ctx context.Context, user client.Reader, containers []string) error {
	for next := ""; ; {
		page := &corev1.PodList{}
		if err := user.List(
			ctx,
			page,
			client.InNamespace(metav1.NamespaceSystem),
			client.Limit(pageSize),
			client.Continue(next),
		); err != nil {
			return fmt.Errorf("list the Pods in namespace %s of the user cluster: %w", metav1.NamespaceSystem, err)
		}
		for i := range page.Items {
			if slices.ContainsFunc(
				containers,
				func(name string) bool { return containerNamed(page.Items[i].Spec.Containers, name) != nil },
			) {
				l.pods = append(l.pods, page.Items[i])
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// component is what runs the container, on all control-plane Nodes.
func (l *staticLook) component(container string) observation.Component {
	component := observation.Component{
		Ref:       observation.Ref{Kind: staticPodKind, Namespace: metav1.NamespaceSystem, Name: container},
		Container: container,
	}
	shown := map[string]bool{}
	for i := range l.pods {
		pod := &l.pods[i]
		if containerNamed(pod.Spec.Containers, container) == nil || l.vouchedFor(pod) {
			continue
		}
		component.Pods = append(component.Pods, l.process(pod, container))
		if isMirror(pod) {
			shown[pod.Spec.NodeName] = true
		} else if !hasFinished(pod) {
			component.Unseen = append(
				component.Unseen,
				observation.Say(observation.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, " runs container "+container+
					" and is no static pod."),
			)
		}
	}
	slices.SortFunc(component.Pods, func(a, b observation.Process) int { return strings.Compare(a.PodName, b.PodName) })
	expected := l.expected(container, shown)
	component.Unseen = append(component.Unseen, l.unseen(container, expected, shown)...)
	component.Missing = slices.DeleteFunc(expected, func(node string) bool { return shown[node] })
	live := alive(component.Pods)
	component.Replicas = int32(len(live))
	component.Arguments, component.FieldOwner = argumentsOfStatic(live, container)
	component.RolledOut = len(component.Unseen) == 0 && agree(live)
	return component
}

// process is what the mirror pod, or a pod beside it, shows.
func (l *staticLook) process(pod *corev1.Pod, container string) observation.Process {
	process, node := newProcess(pod, container), l.nodes[pod.Spec.NodeName]
	process.BootID = node.BootID
	if !isMirror(pod) {
		return process
	}
	// That a mirror pod is deleted says nothing about the static pod: its kubelet goes on and makes another one.
	process.Ended = process.Ended && process.Finished
	process.ConfigHash, process.SystemUUID = bounded(pod.Annotations[mirrorAnnotation]), node.SystemUUID
	if object := l.objects[pod.Spec.NodeName]; object != nil {
		process.Hostname = object.Labels[corev1.LabelHostname]
	}
	if status := statusOf(pod, container); status != nil && status.State.Running != nil {
		process.RunningSince = l.reader.runs.look(
			types.NamespacedName{Namespace: string(l.cluster.UID), Name: pod.Name},
			status.ContainerID,
			l.reader.now(),
		)
	}
	return process
}

// unseen names the control-plane Nodes that cannot be looked at, or do not show what they should.
func (l *staticLook) unseen(container string, expected []string, shown map[string]bool) []observation.Text {
	var sentences []observation.Text
	say := func(name, what string) {
		sentences = append(sentences, observation.Say(observation.NodeRef(name), what))
	}
	for _, name := range expected {
		node := l.objects[name]
		switch {
		case node == nil:
			say(name, " is gone: what runs on its machine is not known.")
		case !l.nodes[name].Ready:
			say(name, " is not Ready: what runs on it is not known.")
		case !shown[name]:
			say(name, " shows no static pod with container "+container+"; if none is to run there, take its control-plane label off.")
		case observation.MinorOf(node.Status.NodeInfo.KubeletVersion) < serializingMinor:
			say(name, fmt.Sprintf(" has kubelet %s, which may start a static pod before the one before it has ended; upgrade it to 1.%d "+
				"or later.", bounded(node.Status.NodeInfo.KubeletVersion), serializingMinor))
		}
	}
	return sentences
}

// expected are the Nodes that show the container, that are labelled as control-plane Nodes, and, for KCM, that ran it when
// it was recorded and have not been proven to be rid of it; but those that a person vouches for.
func (l *staticLook) expected(container string, shown map[string]bool) []string {
	expected, vouched := maps.Clone(shown), map[string]bool{}
	for name, node := range l.objects {
		if _, labelled := node.Labels["node-role.kubernetes.io/control-plane"]; labelled {
			expected[name] = true
		}
	}
	for _, process := range recordedProcesses(l.cluster) {
		_, exists := l.objects[process.NodeName]
		if process.ConfigHash != "" && container == l.cluster.KubeControllerManager().Container && (exists || process.EndedAt == nil) {
			expected[process.NodeName] = true
		}
		if isAccepted(l.cluster, process) && (!shown[process.NodeName] || !l.nodes[process.NodeName].Ready) {
			vouched[process.NodeName] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(expected)), func(name string) bool { return vouched[name] })
}

// vouchedFor: a person says that what a lost Node ran has ended. When the Node is back, it is looked at again.
func (l *staticLook) vouchedFor(pod *corev1.Pod) bool {
	return slices.Contains(l.cluster.Spec.Handover.AcceptLostManagers, pod.Name) && !l.nodes[pod.Spec.NodeName].Ready
}

// argumentsOfStatic are those that a decision rests on: of a pod that we cannot read, else of one that runs cloud loops
// whoever has the migration lock, else of one that runs them by it, else of any.
func argumentsOfStatic(live []observation.Process, container string) (arguments observation.Arguments, owner string) {
	arguments = observation.Arguments{Problem: "no Node shows a static pod with container " + container}
	var loud []string
	most := -1
	for _, process := range live {
		if loudness := loudnessOf(process.Arguments); loudness > most {
			arguments, most = process.Arguments, loudness
		}
		if len(process.Arguments.CloudLoops()) > 0 {
			loud = append(loud, process.PodName)
		}
	}
	if len(loud) > 0 {
		owner = "whoever writes the manifests of " + strings.Join(loud, ", ")
	}
	return arguments, owner
}

// loudnessOf orders arguments by what they may do.
func loudnessOf(arguments observation.Arguments) int {
	switch {
	case !arguments.Understood():
		return 3
	case handover.MayRunUnlocked(arguments):
		return 2
	case len(arguments.CloudLoops()) > 0:
		return 1
	}
	return 0
}

// alive are those that may run, or be started again.
func alive(pods []observation.Process) []observation.Process {
	return slices.DeleteFunc(slices.Clone(pods), func(process observation.Process) bool {
		return process.Ended || process.Finished && !process.Started
	})
}

// agree says that every pod runs, and that all of them have the same cloud loops.
func agree(live []observation.Process) bool {
	return len(live) > 0 && !slices.ContainsFunc(live, func(process observation.Process) bool {
		return process.RunningSince.IsZero() || !slices.Equal(process.Arguments.CloudLoops(), live[0].Arguments.CloudLoops())
	})
}

// isMirror says that the kubelet of the pod's Node made it for a static pod.
func isMirror(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return pod.Annotations[mirrorAnnotation] != "" && owner != nil && owner.Kind == "Node" && owner.Name == pod.Spec.NodeName
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

// bounded is as long as the API of the Cluster allows: it is written by others, and our status must not be refused.
func bounded(text string) string {
	const most = 63
	return text[:min(len(text), most)]
}
