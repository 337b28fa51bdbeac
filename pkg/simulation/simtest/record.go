package simtest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Abandon the Cluster: it goes at once when it is deleted.
func Abandon(w *World) {
	metav1.SetMetaDataAnnotation(&w.Cluster.ObjectMeta, ucv1.AbandonAnnotation, "true")
}

// Return applies the Cluster again that is gone, from the same file: it has the feature from its first generation.
func Return(w *World) {
	if !w.Released {
		return
	}
	DropStatus(w)
	w.Cluster.DeletionTimestamp, w.Released = nil, false
}

// DropStatus is a backup that is restored: another object, of the same name, with the same spec and without a status.
func DropStatus(w *World) {
	w.Cluster = &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.Cluster.Name, Namespace: w.Cluster.Namespace, UID: types.UID(w.ID("cluster")), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.Now), DeletionTimestamp: w.Cluster.DeletionTimestamp,
		},
		Spec: *w.Cluster.Spec.DeepCopy(),
	}
}

// Gone is for interventions that come when the deleted Cluster is gone.
func Gone(w *World) bool { return w.Released }
