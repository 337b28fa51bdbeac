package addons

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// tokenLifetime is asked for; an API server may give less, but never less than an hour:
	// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controlplane/apiserver/options/options.go#L251
	// A token is renewed when half of what was given is over, so that the CCM does without us for 45 days.
	tokenLifetime = 90 * 24 * time.Hour
	// renewAnnotation says when the token of a Secret is to be renewed, accountAnnotation which ServiceAccount it is of: one
	// that was made again does not know it.
	renewAnnotation   = "ccm-migration.k8c.io/renew-token-after"
	accountAnnotation = "ccm-migration.k8c.io/token-of"
)

// Beside is the namespace of the Cluster in the management cluster. It is empty in a session that puts nothing there.
type Beside struct {
	Client client.Client
	// Live reads past the cache, which has little of a pod.
	Live      client.Reader
	Namespace string
	// Mark of the Deployments and Pods of the namespace; nil where nothing is kept.
	Mark func() kept.Mark
}

func (b Beside) mark() kept.Mark {
	if b.Mark == nil {
		return kept.Mark{}
	}
	return b.Mark()
}

// clientOf the cluster that an object belongs into.
func (in *Installer) clientOf(object *unstructured.Unstructured) client.Client {
	if manifest.BesideControlPlane(object) {
		return in.beside.Client
	}
	return in.client
}

// readerOf is clientOf for reading past a cache.
func (in *Installer) readerOf(object *unstructured.Unstructured) client.Reader {
	if manifest.BesideControlPlane(object) {
		return in.beside.Live
	}
	return in.client
}

// get reads an object live, in the cluster that it belongs into.
func (in *Installer) get(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return reads.Live(ctx, in.clientOf(want), want)
}

// generations of the workloads there, from the cache: a change of one ends what is remembered of a comparison at once.
func (b Beside) generations(ctx context.Context, set manifest.Set) ([]int64, error) {
	var generations []int64
	for _, object := range set.Objects {
		if !manifest.BesideControlPlane(object) || object.GetKind() != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		err := b.Client.Get(ctx, client.ObjectKeyFromObject(object), deployment)
		if client.IgnoreNotFound(err) != nil {
			return nil, reads.Unseen(fmt.Sprintf("reading %s: %s", reads.RefOf(object), err))
		}
		generations = append(generations, deployment.Generation)
	}
	return generations, nil
}

// tokenDue says whether the CCM needs another token. While its Secret or its ServiceAccount are to be applied anyway, that
// is not asked: applying renews the token too.
func (in *Installer) tokenDue(ctx context.Context, set manifest.Set, found comparison) (bool, error) {
	if set.Access == nil || set.Withdrawn || slices.Contains(found.drifted, set.Access.Secret) ||
		slices.Contains(found.drifted, set.Access.Account) {
		return false, nil
	}
	account, err := in.account(ctx, set)
	if err != nil {
		return false, err
	}
	return in.isTokenDue(ctx, set, account)
}

func (in *Installer) account(ctx context.Context, set manifest.Set) (*corev1.ServiceAccount, error) {
	account := &corev1.ServiceAccount{}
	key := client.ObjectKey{Namespace: set.Access.Account.Namespace, Name: set.Access.Account.Name}
	if err := in.client.Get(ctx, key, account); err != nil {
		return nil, reads.Unseen(reads.Because("reading "+set.Access.Account.String(), err))
	}
	return account, nil
}

func (in *Installer) isTokenDue(ctx context.Context, set manifest.Set, account *corev1.ServiceAccount) (bool, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: set.Access.Secret.Namespace, Name: set.Access.Secret.Name}
	if err := in.beside.Live.Get(ctx, key, secret); err != nil && !apierrors.IsNotFound(err) {
		return false, reads.Unseen(fmt.Sprintf("reading %s: %s", set.Access.Secret, err))
	}
	return len(secret.Data[set.Access.Key]) == 0 || in.clock.Now().After(renewal(secret)) ||
		secret.Annotations[accountAnnotation] != string(account.UID), nil
}

// renewal of the token: long ago, where that cannot be read.
func renewal(secret *corev1.Secret) time.Time {
	at, err := time.Parse(time.RFC3339, secret.Annotations[renewAnnotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// renewToken writes a new token into the Secret when one is due. It has a field manager of its own, so that an apply of the
// kubeconfig beside it leaves the token alone.
func (in *Installer) renewToken(ctx context.Context, set manifest.Set) error {
	if set.Access == nil || set.Withdrawn {
		return nil
	}
	account, err := in.account(ctx, set)
	if err != nil {
		return err
	}
	if due, err := in.isTokenDue(ctx, set, account); err != nil || !due {
		return err
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLifetime.Seconds()))},
	}
	now := in.clock.Now()
	if err := in.client.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("ask for a token of %s in the user cluster: %w", set.Access.Account, err)
	}
	renew := now.Add(request.Status.ExpirationTimestamp.Sub(now) / 2)
	return in.writeToken(ctx, *set.Access, request.Status.Token, map[string]string{
		renewAnnotation: renew.UTC().Format(time.RFC3339), accountAnnotation: string(account.UID),
	})
}

func (in *Installer) writeToken(ctx context.Context, access manifest.Access, token string, annotations map[string]string) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"data": map[string]any{access.Key: base64.StdEncoding.EncodeToString([]byte(token))},
	}}
	secret.SetNamespace(access.Secret.Namespace)
	secret.SetName(access.Secret.Name)
	secret.SetAnnotations(annotations)
	err := in.beside.Client.Apply(
		ctx,
		client.ApplyConfigurationFromUnstructured(secret),
		client.FieldOwner(ucv1.TokenFieldManager),
		client.ForceOwnership,
	)
	if err != nil {
		return fmt.Errorf("write the token of %s into %s: %w", access.Account, access.Secret, err)
	}
	return nil
}
