package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Either of the annotations makes a class the default:
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/volume/util/storageclass.go#L76
const (
	defaultClassAnnotation     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class"
)

// StorageClasses reads all of them.
func (r *Reader) StorageClasses(ctx context.Context) observation.Observed[[]observation.StorageClass] {
	mark := r.watches.Mark(storageClasses())
	return r.classes.Read(ctx, r.clock.Now(), mark, func() observation.Observed[[]observation.StorageClass] {
		return r.readStorageClasses(ctx)
	})
}

func (r *Reader) readStorageClasses(ctx context.Context) observation.Observed[[]observation.StorageClass] {
	classes := []observation.StorageClass{}
	err := r.eachClass(ctx, func(class *storagev1.StorageClass) {
		classes = append(classes, reads.Keep(ctx, observation.StorageClass{
			Ref:         observation.Ref{Kind: "StorageClass", Name: class.Name, UID: string(class.UID)},
			Provisioner: class.Provisioner,
			Default:     isDefault(class),
			Retains:     ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete) == corev1.PersistentVolumeReclaimRetain,
		}))
	})
	if err != nil {
		return observation.Unknown[[]observation.StorageClass](reads.Because("listing StorageClasses", err))
	}
	return observation.Known(classes)
}

func (r *Reader) eachClass(ctx context.Context, do func(*storagev1.StorageClass)) error {
	return reads.List(
		ctx,
		r.client,
		func() *storagev1.StorageClassList { return &storagev1.StorageClassList{} },
		func(page *storagev1.StorageClassList) {
			for i := range page.Items {
				do(&page.Items[i])
			}
		},
	)
}

// SwitchDefaultClass makes one of the classes the default, and none of the others, in their order. It looks again right before: a
// class that someone just made the default is not to get a second one beside it. It patches: server-side apply under the name
// that the addons are applied with would have their next apply take the annotation away again.
func (r *Reader) SwitchDefaultClass(ctx context.Context, classes []observation.Ref, name string) error {
	live, other := map[string]map[string]string{}, ""
	err := r.eachClass(ctx, func(class *storagev1.StorageClass) {
		switch {
		case slices.ContainsFunc(classes, func(ref observation.Ref) bool { return ref.Name == class.Name }):
			live[class.Name] = class.Annotations
		case isDefault(class):
			other = class.Name
		}
	})
	if err != nil {
		return fmt.Errorf("switch the default to StorageClass %s: %w", name, err)
	}
	if other != "" {
		return fmt.Errorf("StorageClass %s became the default a moment ago: look again", other)
	}
	for _, ref := range classes {
		patch, err := defaultPatch(ref, live[ref.Name], ref.Name == name)
		if err != nil {
			return err
		}
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: ref.Name}}
		if err := r.client.Patch(
			ctx,
			class,
			client.RawPatch(types.MergePatchType, patch),
			client.FieldOwner(ucv1.DefaultClassFieldManager),
		); err != nil {
			return fmt.Errorf("switch the default to StorageClass %s with %s: %w", name, ref, err)
		}
	}
	return nil
}

// defaultPatch has the old annotation only where the class has it, and the uid: another class of the name is left alone.
func defaultPatch(class observation.Ref, annotations map[string]string, isDefault bool) ([]byte, error) {
	wanted := map[string]string{defaultClassAnnotation: strconv.FormatBool(isDefault)}
	if _, old := annotations[betaDefaultClassAnnotation]; old {
		wanted[betaDefaultClassAnnotation] = wanted[defaultClassAnnotation]
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": class.UID, "annotations": wanted}})
}

func isDefault(class *storagev1.StorageClass) bool {
	return class.Annotations[defaultClassAnnotation] == "true" || class.Annotations[betaDefaultClassAnnotation] == "true"
}
