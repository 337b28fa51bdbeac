package usercluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

func TestWhatCredentialsSay(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: start.Add(time.Hour), Subject: pkix.Name{CommonName: "us"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	certificate := rest.TLSClientConfig{CertData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	token := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	const account = "system:serviceaccount:a:b"
	for name, test := range map[string]struct {
		config  *rest.Config
		expires time.Time
		user    string
	}{
		"nothing says nothing":                {&rest.Config{}, time.Time{}, ""},
		"a certificate":                       {&rest.Config{TLSClientConfig: certificate}, start.Add(time.Hour), "us"},
		"a token that expires":                {&rest.Config{BearerToken: token(`{"exp":1767225660}`)}, start.Add(time.Minute), ""},
		"a token of a service account":        {&rest.Config{BearerToken: token(`{"sub":"` + account + `"}`)}, time.Time{}, account},
		"one of someone else has other names": {&rest.Config{BearerToken: token(`{"sub":"x"}`)}, time.Time{}, ""},
		"a token that is none":                {&rest.Config{BearerToken: "opaque"}, time.Time{}, ""},
		"the certificate is asked first, and what expires first counts": {
			&rest.Config{BearerToken: token(`{"exp":1767225660,"sub":"` + account + `"}`), TLSClientConfig: certificate},
			start.Add(time.Minute), "us",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said := credentialsOf(test.config)
			g.Expect(said.expires.Equal(test.expires)).To(BeTrue(), said.expires.String())
			g.Expect(said.user).To(Equal(test.user))
		})
	}
}
