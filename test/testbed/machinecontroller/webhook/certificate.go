package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// identity is what the webhook serves with and what the API server trusts.
type identity struct {
	certificate tls.Certificate
	bundle      []byte
}

// selfSigned makes a certificate for host that is its own authority. It lives in
// memory only and as long as the process.
func selfSigned(host string, now time.Time) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "machine-controller-webhook"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if address := net.ParseIP(host); address != nil {
		template.IPAddresses = []net.IP{address}
	} else {
		template.DNSNames = []string{host}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", host, err)
	}
	return &identity{
		certificate: tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key},
		bundle:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
	}, nil
}

// fromFiles reads a certificate and its key; the certificate file is also the
// bundle that the API server gets, so it must end in its authority or be its own.
func fromFiles(certPath, keyPath string) (*identity, error) {
	certificate, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, fmt.Errorf("read -tls-cert-path and -tls-key-path: %w", err)
	}
	bundle, err := os.ReadFile(certPath)
	if err != nil {
		return nil, fmt.Errorf("read -tls-cert-path: %w", err)
	}
	return &identity{certificate: certificate, bundle: bundle}, nil
}
