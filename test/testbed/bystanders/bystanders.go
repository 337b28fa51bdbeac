package bystanders

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// count of shapes that a cluster gets: enough to meet each of them in a few runs, and too few to be felt.
const count = 9

// New are the bystanders that the seed draws for the user cluster of that name. Whoever is drawn, one Deployment has an image
// without registry and tag: that one stopped every pass once.
func New(seed uint64, cluster string) []client.Object {
	name := fnv.New64a()
	_, _ = name.Write([]byte(cluster))
	d := &draw{random: rand.New(rand.NewPCG(seed, name.Sum64()))}
	objects := []client.Object{d.deployment("plain", func(pod *corev1.PodSpec) { pod.Containers[0].Image = "nginx" })}
	all := shapes()
	for _, at := range d.random.Perm(len(all))[:count] {
		objects = append(objects, all[at](d)...)
	}
	return objects
}

// All are one of each shape.
func All(seed uint64) []client.Object {
	d := &draw{random: rand.New(rand.NewPCG(seed, 0))}
	var objects []client.Object
	for _, shape := range shapes() {
		objects = append(objects, shape(d)...)
	}
	return objects
}

// Create makes those that are missing. Pods are refused until KCM has made their ServiceAccount: call it again then.
func Create(ctx context.Context, c client.Client, objects []client.Object) error {
	for _, object := range objects {
		made := object.DeepCopyObject().(client.Object)
		if err := c.Create(ctx, made); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("%T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}
