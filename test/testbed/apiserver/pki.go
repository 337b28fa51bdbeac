package apiserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity is generous: no test outlives it.
const validity = 365 * 24 * time.Hour

// authority is a certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem, keyPEM []byte
}

// pair is a certificate with its private key, both in PEM.
type pair struct {
	certificate, key []byte
}

func newAuthority(commonName string) (*authority, error) {
	template := certificate(pkix.Name{CommonName: commonName})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate authority %s: %w", commonName, err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse certificate authority %s: %w", commonName, err)
	}
	return &authority{certificate: parsed, key: key, pem: certificatePEM(der), keyPEM: keyPEM}, nil
}

// client issues a client certificate that is valid for so long.
func (a *authority) client(lifetime time.Duration, commonName string, groups ...string) (pair, error) {
	template := certificate(pkix.Name{CommonName: commonName, Organization: groups})
	template.NotAfter = time.Now().Add(lifetime)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// server issues a certificate for a server on loopback addresses.
func (a *authority) server(names ...string) (pair, error) {
	template := certificate(pkix.Name{CommonName: names[0]})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign certificate %s: %w", template.Subject.CommonName, err)
	}
	return pair{certificate: certificatePEM(der), key: keyPEM}, nil
}

func certificate(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Minute),
		NotAfter:     time.Now().Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generate key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Files are the paths of the cluster's public key infrastructure, tokens and the
// kubeconfigs of its components.
type Files struct {
	CA, CAKey                                        string
	ServerCert, ServerKey                            string
	FrontProxyCA, FrontProxyCert, FrontProxyKey      string
	ServiceAccountKey, Tokens                        string
	AdminKubeconfig                                  string
	SchedulerKubeconfig, ControllerManagerKubeconfig string
}

func filesIn(dir string) Files {
	in := func(name string) string { return filepath.Join(dir, name) }
	return Files{
		CA:                          in("ca.crt"),
		CAKey:                       in("ca.key"),
		ServerCert:                  in("apiserver.crt"),
		ServerKey:                   in("apiserver.key"),
		FrontProxyCA:                in("front-proxy-ca.crt"),
		FrontProxyCert:              in("front-proxy-client.crt"),
		FrontProxyKey:               in("front-proxy-client.key"),
		ServiceAccountKey:           in("sa.key"),
		Tokens:                      in("tokens.csv"),
		AdminKubeconfig:             in("admin.kubeconfig"),
		SchedulerKubeconfig:         in("scheduler.kubeconfig"),
		ControllerManagerKubeconfig: in("controller-manager.kubeconfig"),
	}
}

// writePKI makes the keys and certificates of a cluster and returns its authority.
func writePKI(files Files) (*authority, error) {
	ca, err := newAuthority("kubernetes")
	if err != nil {
		return nil, err
	}
	front, err := newAuthority("front-proxy-ca")
	if err != nil {
		return nil, err
	}
	server, err := ca.server("kube-apiserver", "localhost", "kubernetes", "kubernetes.default.svc", loopback)
	if err != nil {
		return nil, err
	}
	proxy, err := front.client(validity, frontProxyName)
	if err != nil {
		return nil, err
	}
	_, serviceAccountKey, err := newKey()
	if err != nil {
		return nil, err
	}
	return ca, writeAll(map[string][]byte{
		files.CA: ca.pem, files.CAKey: ca.keyPEM,
		files.ServerCert: server.certificate, files.ServerKey: server.key,
		files.FrontProxyCA: front.pem, files.FrontProxyCert: proxy.certificate, files.FrontProxyKey: proxy.key,
		files.ServiceAccountKey: serviceAccountKey,
	})
}

func writeAll(contents map[string][]byte) error {
	for path, content := range contents {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}
