package usercluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Dial makes one connection without a Registry, for a command that a person runs: it reads the kubeconfig Secret of the
// Cluster by the same rules, and returns a Session once the API server has answered. Nothing is watched.
func Dial(ctx context.Context, cluster *ucv1.Cluster, options Options) (*Session, error) {
	options.setDefaults()
	source := sourceOf(cluster)
	secret := &corev1.Secret{}
	if err := options.SecretReader.Get(ctx, source.name, secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s with the kubeconfig: %w", source.name, err)
	}
	data := secret.Data[source.key]
	if len(data) == 0 {
		return nil, errors.New(source.missing())
	}
	session, err := open(data, client.ObjectKeyFromObject(cluster), options, knownKinds(), func() {})
	if err != nil {
		_, message := source.unusable(err)
		return nil, errors.New(message)
	}
	probing, cancel := context.WithTimeout(ctx, options.ConnectTimeout)
	defer cancel()
	if err := session.probe(probing); err != nil {
		return nil, errors.New(source.failed(err).Message)
	}
	return session, nil
}
