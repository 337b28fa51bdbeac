package usercluster

import (
	"context"
	"errors"
	"net"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestDialFollowsTheRulesOfTheRegistry(t *testing.T) {
	a := newAPIServer(t)
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha"}}
	secretOf := func(kubeconfig []byte) client.Object {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha-kubeconfig"},
			Data:       map[string][]byte{"value": kubeconfig},
		}
	}
	broken := interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("no rights")
		},
	}
	for name, tc := range map[string]struct {
		secret client.Object
		faults interceptor.Funcs
		want   string
	}{
		"a kubeconfig that works":               {secret: secretOf(a.kubeconfig("valid"))},
		"no Secret":                             {secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, want: "Secret tenant/alpha-kubeconfig, key value is missing or empty: put the kubeconfig there"},
		"an empty key":                          {secret: secretOf(nil), want: "is missing or empty"},
		"a kubeconfig that would run a program": {secret: secretOf([]byte(kubeconfigWith(server, `exec: {command: "`+secretToken+`"}`))), want: "The kubeconfig in Secret tenant/alpha-kubeconfig, key value uses exec, which is not allowed"},
		"something else": {secret: secretOf([]byte(secretToken)), want: "The kubeconfig in Secret tenant/alpha-kubeconfig, key " +
			"value "},
		"credentials that are refused": {secret: secretOf(a.kubeconfig(secretToken)), want: "refuses the credentials in Secret " +
			"tenant/alpha-kubeconfig, key value: renew them"},
		"an API server that is not there":      {secret: secretOf([]byte(kubeconfigWith("server: https://127.0.0.1:1", token))), want: "The API server of the user cluster refuses connections: check it"},
		"a Secret that could not be looked at": {secret: secretOf(a.kubeconfig("valid")), faults: broken, want: "read Secret tenant/alpha-kubeconfig with the kubeconfig: no rights"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := fake.NewClientBuilder().WithObjects(tc.secret).WithInterceptorFuncs(tc.faults).Build()
			session, err := Dial(
				t.Context(),
				cluster,
				Options{SecretReader: reader, Scheme: scheme.Scheme, Allow: Allow{Addresses: []net.IPNet{loopback()}}},
			)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(session.Client()).NotTo(BeNil())
				g.Expect(a.watches.Load()).To(BeZero())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(tc.want), Not(ContainSubstring(secretToken)))))
		})
	}
}
