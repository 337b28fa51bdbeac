package usercluster

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// weigh is what the transport makes of an answer.
func weigh(t *testing.T, serializer runtime.Encoder, object runtime.Object) int64 {
	t.Helper()
	out := &bytes.Buffer{}
	NewWithT(t).Expect(serializer.Encode(object, out)).To(Succeed())
	read := &answer{}
	read.add(out.Bytes(), true)
	return read.scale.weight
}

func TestAnAnswerWeighsWhatItTakes(t *testing.T) {
	formats := map[string]runtime.Encoder{
		"JSON":     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}),
		"protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	}
	labels := map[string]string{}
	for _, letter := range "abcdefghijklmnopqrstuvwxyz" {
		labels[string(letter)] = ""
	}
	labelled := make([]corev1.Node, 100)
	for i := range labelled {
		labelled[i].Labels = labels
	}
	for name, object := range map[string]runtime.Object{
		"empty Nodes": &corev1.NodeList{Items: make([]corev1.Node, 1000)},
		"empty Pods":  &corev1.PodList{Items: make([]corev1.Pod, 1000)},
		"empty Containers": &corev1.PodList{
			Items: []corev1.Pod{{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1000)}}},
		},
		"empty Volumes": &corev1.PodList{Items: []corev1.Pod{{Spec: corev1.PodSpec{Volumes: make([]corev1.Volume, 1000)}}}},
		"empty conditions": &corev1.NodeList{
			Items: []corev1.Node{{Status: corev1.NodeStatus{Conditions: make([]corev1.NodeCondition, 1000)}}},
		},
		"empty managed fields": &corev1.NodeList{
			Items: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{ManagedFields: make([]metav1.ManagedFieldsEntry, 1000)}}},
		},
		"empty texts": &corev1.PodList{
			Items: []corev1.Pod{{Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: make([]string, 1000)}}}}},
		},
		"labels with no values": &corev1.NodeList{Items: labelled},
	} {
		for format, serializer := range formats {
			t.Run(name+" as "+format, func(t *testing.T) {
				ctx := reads.WithBudget(t.Context())
				reads.Keep(ctx, object)
				NewWithT(t).Expect(weigh(t, serializer, object)).To(BeNumerically(">=", reads.Kept(ctx)))
			})
		}
	}
}

func TestTextsWeighLittle(t *testing.T) {
	g := NewWithT(t)
	scale := &jsonScale{}
	for _, b := range []byte(`"{[,:\"{[,:"`) {
		scale.add(b)
	}
	g.Expect(scale.weight).To(BeEquivalentTo(weightOfByte*12), "what is in a text is no object")
}
