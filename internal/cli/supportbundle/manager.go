package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// logLimit bounds what is read of a log or of metrics. The last fileLimit of it are kept.
const logLimit = 16 << 20

// manager is its Deployment, and of its Pods the logs and metrics.
func (r *reader) manager(ctx context.Context) {
	list := &appsv1.DeploymentList{}
	err := r.client.List(ctx, list, client.InNamespace(r.managerNamespace), client.Limit(mostPods),
		client.MatchingLabels{"app.kubernetes.io/name": "ccm-migration-controller"})
	if err != nil {
		r.couldNotRead("the manager", err)
		return
	}
	if len(list.Items) == 0 {
		r.without("the manager", "no Deployment of it is in namespace "+r.managerNamespace+"; --manager-namespace names another one")
	}
	for i := range list.Items {
		deployment := &list.Items[i]
		r.object("manager/deployment-"+deployment.Name+".yaml", deployment)
		for _, pod := range r.podsOf(ctx, "manager/pod-", deployment) {
			r.logs(ctx, &pod)
			r.metrics(ctx, &pod)
		}
	}
}

// logs of all containers of a Pod, and of those before them.
func (r *reader) logs(ctx context.Context, pod *corev1.Pod) {
	for _, container := range pod.Status.ContainerStatuses {
		r.log(ctx, pod, corev1.PodLogOptions{Container: container.Name})
		if container.RestartCount > 0 {
			r.log(ctx, pod, corev1.PodLogOptions{Container: container.Name, Previous: true})
		}
	}
}

func (r *reader) log(ctx context.Context, pod *corev1.Pod, options corev1.PodLogOptions) {
	name, what := "manager/log-"+pod.Name+"-"+options.Container, "the log of "+options.Container
	if options.Previous {
		name, what = name+"-previous", what+" before its last restart"
	}
	name += ".txt"
	fmt.Fprintf(r.progress, "Reading %s\n", name)
	options.TailLines, options.Timestamps = &r.logLines, true
	text, err := take(ctx, r.core.Pods(pod.Namespace).GetLogs(pod.Name, &options))
	if err != nil {
		r.couldNotRead("all of "+name, err)
	}
	if len(text) == logLimit {
		r.without("the end of "+name, fmt.Sprintf("its last %d lines have more than 16 MiB; --log-lines asks for fewer", r.logLines))
	}
	r.add(name, fmt.Sprintf("%s: at most its last %d lines", what, r.logLines), kindAndName("Pod", client.ObjectKeyFromObject(pod)),
		text)
}

// take what an answer has, up to a limit.
func take(ctx context.Context, from rest.ResponseWrapper) (string, error) {
	stream, err := from.Stream(ctx)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(stream, logLimit))
	return string(text), errors.Join(err, stream.Close())
}
