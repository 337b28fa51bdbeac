package usercluster

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// credentials are what those of a kubeconfig say of themselves. Nothing is verified, because the API server does that.
type credentials struct {
	// expires is when they run out, the first of them; zero when they do not say.
	expires time.Time
	// user is who an API server takes us for; empty when they do not say. It asks the certificate first.
	// https://kubernetes.io/docs/reference/access-authn-authz/authentication/
	user string
}

func credentialsOf(config *rest.Config) credentials {
	said := claimsOf(config.BearerToken)
	if certificates, err := cert.ParseCertsPEM(config.CertData); err == nil && len(certificates) > 0 {
		ours := certificates[0] // The others are those that signed it.
		if said.user = ours.Subject.CommonName; said.expires.IsZero() || ours.NotAfter.Before(said.expires) {
			said.expires = ours.NotAfter
		}
	}
	return said
}

// claimsOf reads the claims exp and sub of a token that is a JWT. Only a service account's subject is its user; what others are
// called is up to the API server's flags. https://www.rfc-editor.org/rfc/rfc7519#section-4.1
func claimsOf(token string) credentials {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return credentials{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	claims := struct {
		Expires int64  `json:"exp"`
		Subject string `json:"sub"`
	}{}
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return credentials{}
	}
	said := credentials{}
	if claims.Expires != 0 {
		said.expires = time.Unix(claims.Expires, 0)
	}
	if strings.HasPrefix(claims.Subject, "system:serviceaccount:") {
		said.user = claims.Subject
	}
	return said
}
