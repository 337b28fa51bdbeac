package credentials

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// issued are credentials, and when they expire.
type issued struct {
	auth    clientcmdapi.AuthInfo
	expires time.Time
}

// signTimeout is how long a signer of the user cluster may take; KCM's takes a second.
const signTimeout = time.Minute

// certificate asks the user cluster for a client certificate, and approves the request.
// https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
func certificate(ctx context.Context, c client.Client, lasts time.Duration) (issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issued{}, err
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: user}}
	signed, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return issued{}, err
	}
	request := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:           pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: signed}),
			SignerName:        certificatesv1.KubeAPIServerClientSignerName,
			ExpirationSeconds: new(int32(lasts.Seconds())),
			Usages:            []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}
	if err := c.Create(ctx, request); err != nil {
		return issued{}, fmt.Errorf("ask for a client certificate: %w", err)
	}
	if err := approve(ctx, c, request); err != nil {
		return issued{}, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return issued{}, err
	}
	block, _ := pem.Decode(request.Status.Certificate)
	if block == nil {
		return issued{}, fmt.Errorf("CertificateSigningRequest %s has no certificate in PEM", request.Name)
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return issued{}, fmt.Errorf("CertificateSigningRequest %s: %w", request.Name, err)
	}
	return issued{
		auth: clientcmdapi.AuthInfo{
			ClientCertificateData: request.Status.Certificate,
			ClientKeyData:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		},
		expires: parsed.NotAfter,
	}, nil
}

// approve a request, and wait until it is signed.
func approve(ctx context.Context, c client.Client, request *certificatesv1.CertificateSigningRequest) error {
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "UserClusterCredentials",
		Message: "Approved by who ran ccm-migration-controller usercluster-credentials.",
	})
	if err := c.SubResource("approval").Update(ctx, request); err != nil {
		return fmt.Errorf("approve CertificateSigningRequest %s: %w", request.Name, err)
	}
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, signTimeout, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(request), request); err != nil {
			return false, err
		}
		for _, condition := range request.Status.Conditions {
			if condition.Type == certificatesv1.CertificateDenied || condition.Type == certificatesv1.CertificateFailed {
				return false, fmt.Errorf("it is %s: %s", condition.Type, condition.Message)
			}
		}
		return len(request.Status.Certificate) > 0, nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("no one signed CertificateSigningRequest %s within %s; the user cluster's kube-controller-manager needs "+
			"--cluster-signing-cert-file, or use --method=token", request.Name, signTimeout)
	}
	if err != nil {
		return fmt.Errorf("CertificateSigningRequest %s: %w", request.Name, err)
	}
	return nil
}

// token of the ServiceAccount, bound to nothing else. The API server may shorten the time.
func token(ctx context.Context, c client.Client, lasts time.Duration) (issued, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: user}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lasts.Seconds()))},
	}
	if err := c.SubResource("token").Create(ctx, account, request); err != nil {
		return issued{}, fmt.Errorf("ask for a token of ServiceAccount %s/%s: %w", account.Namespace, account.Name, err)
	}
	return issued{
		auth: clientcmdapi.AuthInfo{Token: request.Status.Token}, expires: request.Status.ExpirationTimestamp.Time,
	}, nil
}
