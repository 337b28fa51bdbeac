package addons

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
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

// tokens are what a CCM beside the control plane gets into the user cluster with.
type tokens struct {
	*places

	clock clock.PassiveClock
}

// due says whether the CCM needs another token. While its Secret or its ServiceAccount are to be applied anyway, that
// is not asked: applying renews the token too.
func (t tokens) due(ctx context.Context, set manifest.Set, found comparison) (bool, error) {
	if set.Access == nil || set.Withdrawn || slices.Contains(found.drifted, set.Access.Secret) ||
		slices.Contains(found.drifted, set.Access.Account) {
		return false, nil
	}
	account, err := t.account(ctx, set)
	if err != nil {
		return false, err
	}
	return t.isDue(ctx, set, account)
}

func (t tokens) account(ctx context.Context, set manifest.Set) (*corev1.ServiceAccount, error) {
	account := &corev1.ServiceAccount{}
	key := client.ObjectKey{Namespace: set.Access.Account.Namespace, Name: set.Access.Account.Name}
	if err := t.client.Get(ctx, key, account); err != nil {
		return nil, reads.Unseen(reads.Because("reading "+set.Access.Account.String(), err))
	}
	return account, nil
}

func (t tokens) isDue(ctx context.Context, set manifest.Set, account *corev1.ServiceAccount) (bool, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: set.Access.Secret.Namespace, Name: set.Access.Secret.Name}
	if err := t.beside.Live.Get(ctx, key, secret); err != nil && !apierrors.IsNotFound(err) {
		return false, reads.Unseen(fmt.Sprintf("reading %s: %s", set.Access.Secret, err))
	}
	return len(secret.Data[set.Access.Key]) == 0 || t.clock.Now().After(renewal(secret)) ||
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

// renew writes a new token into the Secret when one is due. It has a field manager of its own, so that an apply of the
// kubeconfig beside it leaves the token alone.
func (t tokens) renew(ctx context.Context, set manifest.Set) error {
	if set.Access == nil || set.Withdrawn {
		return nil
	}
	account, err := t.account(ctx, set)
	if err != nil {
		return err
	}
	if due, err := t.isDue(ctx, set, account); err != nil || !due {
		return err
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLifetime.Seconds()))},
	}
	now := t.clock.Now()
	if err := t.client.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("ask for a token of %s in the user cluster: %w", set.Access.Account, err)
	}
	renew := now.Add(request.Status.ExpirationTimestamp.Sub(now) / 2)
	return t.write(ctx, *set.Access, request.Status.Token, map[string]string{
		renewAnnotation: renew.UTC().Format(time.RFC3339), accountAnnotation: string(account.UID),
	})
}

func (t tokens) write(ctx context.Context, access manifest.Access, token string, annotations map[string]string) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"data": map[string]any{access.Key: base64.StdEncoding.EncodeToString([]byte(token))},
	}}
	secret.SetNamespace(access.Secret.Namespace)
	secret.SetName(access.Secret.Name)
	secret.SetAnnotations(annotations)
	err := t.beside.Client.Apply(
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
