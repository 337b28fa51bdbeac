package registries

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	. "github.com/onsi/gomega"
)

const (
	secret = "example-only-hunter2"
	// header has "alpha" and the secret.
	header = "Basic YWxwaGE6ZXhhbXBsZS1vbmx5LWh1bnRlcjI="
	index  = "application/vnd.oci.image.index.v1+json"
)

// answering is a registry that greets, and then gives one answer to each question for a manifest.
func answering(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// refusing sends everyone to a server for tokens, which has an answer of its own.
func refusing(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

func coded(code string) string {
	return `{"errors":[{"code":"` + code + `","message":"` + secret + `","detail":"` + secret + `"}]}`
}

// saying is a registry, and how what it says of an image begins, with HOST in the place of its own.
type saying struct {
	registry http.Handler
	want     string
}

// isUnknown for all of them, and no secret is shown.
func isUnknown(t *testing.T, sayings map[string]saying) {
	t.Helper()
	for about, tc := range sayings {
		t.Run(about, func(t *testing.T) {
			g := NewWithT(t)
			host := serve(t, tc.registry)
			answer := impatient().Ask(t.Context(), []string{host + "/a:v1"})[0]
			g.Expect(answer.Manifest.IsUnknown()).To(BeTrue())
			g.Expect(answer.Problem()).To(HavePrefix(strings.ReplaceAll(tc.want, "HOST", host)))
			g.Expect(answer.Problem()).NotTo(ContainSubstring(secret))
		})
	}
}

func TestARefusalIsNeverTakenForAbsent(t *testing.T) {
	isUnknown(t, map[string]saying{
		"an error of the registry": {
			registry: answering(500, "", secret), want: "HOST answered 500 Internal Server Error. Try again later.",
		},
		"an error with a code": {
			registry: answering(503, "", coded("UNAVAILABLE")),
			want:     "HOST answered 503 Service Unavailable, UNAVAILABLE. Try again later.",
		},
		"an error with the code of an image that is not there": {
			registry: answering(502, "", coded("MANIFEST_UNKNOWN")),
			want:     "HOST answered 502 Bad Gateway, MANIFEST_UNKNOWN. Try again later.",
		},
		"no credentials": {
			registry: answering(401, "", coded("UNAUTHORIZED")),
			want:     "HOST answered 401 Unauthorized, UNAUTHORIZED. Run docker login HOST, and check the name of the image.",
		},
		"no rights": {
			registry: answering(403, "", coded("DENIED")),
			want:     "HOST answered 403 Forbidden, DENIED. Run docker login HOST, and check the name of the image.",
		},
		"too many requests": {
			registry: answering(429, "", coded("TOOMANYREQUESTS")),
			want:     "HOST answered 429 Too Many Requests, TOOMANYREQUESTS. Try again later, or run docker login HOST.",
		},
		"text in the place of a code": {
			registry: answering(403, "", coded(secret)), want: "HOST answered 403 Forbidden. Run docker login HOST",
		},
		"a server that is no registry": {
			registry: http.NotFoundHandler(), want: "HOST answered 404 Not Found. Check that this is the registry that you mean.",
		},
		"a page that is not there": {
			registry: answering(404, "text/html", secret),
			want:     "HOST answered 404 Not Found. Check that this is the registry that you mean.",
		},
		"no server for tokens": {
			registry: refusing(404, coded("NAME_UNKNOWN")), want: "HOST answered 404 Not Found, NAME_UNKNOWN. Check that",
		},
		"a server for tokens that refuses": {
			registry: refusing(401, coded("UNAUTHORIZED")), want: "HOST answered 401 Unauthorized, UNAUTHORIZED. Run docker login HOST",
		},
	})
}

func TestWhatIsNoManifestHasNoDigest(t *testing.T) {
	isUnknown(t, map[string]saying{
		"a server for tokens without one": {
			registry: refusing(200, `{"refresh_token":"`+secret+`"}`),
			want:     "HOST gave an answer that cannot be understood. Look at its answer with skopeo inspect --raw docker://IMAGE.",
		},
		"a page in the place of a manifest": {
			registry: answering(200, "text/html", secret),
			want:     "HOST answered with something other than a manifest. Look at its answer with",
		},
		"an index that cannot be read": {
			registry: answering(200, index, secret), want: "HOST answered with an index that cannot be read. Look at its answer with",
		},
		"a registry that redirects into a private network": {
			registry: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v2/" {
					http.Redirect(w, r, "http://10.0.0.1/a?signature="+secret, http.StatusTemporaryRedirect)
				}
			}),
			want: "HOST gave an answer that cannot be understood.",
		},
	})
}

func TestTheServerThatAnsweredIsNamed(t *testing.T) {
	g := NewWithT(t)
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.Host, "localhost"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path != "/v2/":
			http.Redirect(w, r, "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)+"/?signature="+secret, http.StatusFound)
		}
	}))
	answer := impatient().Ask(t.Context(), []string{host + "/a:v1"})[0]
	g.Expect(answer.Problem()).To(Equal(strings.Replace(host, "127.0.0.1", "localhost", 1) +
		" answered 403 Forbidden. Run docker login " + host + ", and check the name of the image."))
}

// Harbor has a code of its own.
func TestAbsentIsWhatTheRegistrySaysOfTheManifest(t *testing.T) {
	for _, code := range []string{"MANIFEST_UNKNOWN", "NAME_UNKNOWN", "NOT_FOUND"} {
		t.Run(code, func(t *testing.T) {
			host := serve(t, answering(404, "application/json", coded(code)))
			answer := impatient().Ask(t.Context(), []string{host + "/a:v1"})[0]
			NewWithT(t).Expect(answer.Manifest.IsAbsent()).To(BeTrue(), answer.Problem())
		})
	}
}

func TestAMediaTypeMayHaveParameters(t *testing.T) {
	g := NewWithT(t)
	host := serve(t, answering(200, index+"; charset=utf-8",
		`{"schemaVersion":2,"manifests":[{"platform":{"os":"linux","architecture":"arm"}}]}`))
	answer := impatient().Ask(t.Context(), []string{host + "/a:v1"})[0]
	g.Expect(answer.Problem()).To(BeEmpty())
	g.Expect(answer.Manifest.Value().Platforms).To(Equal([]string{"linux/arm"}))
}

func TestARegistryThatCannotBeReached(t *testing.T) {
	g := NewWithT(t)
	silent := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	client := impatient()
	client.timeout = 200 * time.Millisecond
	answer := client.Ask(t.Context(), []string{silent + "/a:v1"})[0]
	g.Expect(answer.Manifest.IsUnknown()).To(BeTrue())
	g.Expect(answer.Problem()).To(Equal(silent + " did not answer within 200ms. " + checkNetwork))

	gone := httptest.NewServer(nil)
	gone.Close()
	host := strings.TrimPrefix(gone.URL, "http://")
	answer = impatient().Ask(t.Context(), []string{host + "/a:v1"})[0]
	g.Expect(answer.Manifest.IsUnknown()).To(BeTrue())
	g.Expect(answer.Problem()).To(
		Equal("cannot connect to " + host + ": dial tcp " + host + ": connect: connection refused. " + checkNetwork),
	)
}

// Elsewhere than on the loopback device a registry has to speak TLS, with a certificate that this machine trusts.
func TestARegistryWithoutATrustedCertificate(t *testing.T) {
	for about, tc := range map[string]struct {
		start func(*httptest.Server)
		want  string
	}{
		"of an unknown authority": {
			(*httptest.Server).StartTLS, "cannot trust registry.example: tls: failed to verify certificate: x509: ",
		},
		"none": {
			(*httptest.Server).Start, "registry.example speaks HTTP where HTTPS is needed. Give the registry a certificate.",
		},
	} {
		t.Run(about, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			tc.start(server)
			defer server.Close()
			client := impatient()
			client.transport.Proxy = nil
			client.transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
			answer := client.Ask(t.Context(), []string{"registry.example/a:v1"})[0]
			g.Expect(answer.Manifest.IsUnknown()).To(BeTrue())
			g.Expect(answer.Problem()).To(HavePrefix(tc.want))
		})
	}
}

func TestDockerHubHasALoginWithoutAName(t *testing.T) {
	g := NewWithT(t)
	g.Expect(login(reference(t, "docker.io/a/b:v1").Context().RegistryStr())).To(Equal("docker login"))
	g.Expect(login(reference(t, "quay.io/a/b:v1").Context().RegistryStr())).To(Equal("docker login quay.io"))
}

// dockerConfiguration is the only one that the client finds.
func dockerConfiguration(t *testing.T, content string) {
	t.Helper()
	folder := t.TempDir()
	for _, variable := range []string{"HOME", "DOCKER_CONFIG", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(variable, folder)
	}
	NewWithT(t).Expect(os.WriteFile(filepath.Join(folder, "config.json"), []byte(content), 0o600)).To(Succeed())
}

func TestCredentialsOfTheDockerConfigurationAreUsedAndNotShown(t *testing.T) {
	g := NewWithT(t)
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != header {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(coded("DENIED")))
	}))
	dockerConfiguration(t, `{"auths":{"`+host+`":{"auth":"`+strings.TrimPrefix(header, "Basic ")+`"}}}`)
	client := impatient()
	client.keychain = New().keychain
	answer := client.Ask(t.Context(), []string{host + "/a:v1"})[0]
	g.Expect(answer.Problem()).To(
		Equal(host+" answered 403 Forbidden, DENIED. Run docker login "+host+", and check the name of the image."), "it logged in",
	)
	client.keychain = authn.NewMultiKeychain()
	g.Expect(client.Ask(t.Context(), []string{host + "/a:v1"})[0].Problem()).To(ContainSubstring("answered 401"))
}

func TestACredentialHelperThatFailsIsNotQuoted(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	helper := filepath.Join(folder, "docker-credential-leaky")
	g.Expect(os.WriteFile(helper, []byte("#!/bin/sh\necho "+secret+"\nexit 1\n"), 0o700)).To(Succeed())
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	dockerConfiguration(t, `{"credsStore":"leaky"}`)
	client := impatient()
	client.keychain = New().keychain
	answer := client.Ask(t.Context(), []string{"127.0.0.1:1/a:v1"})[0]
	g.Expect(answer.Manifest.IsUnknown()).To(BeTrue())
	g.Expect(answer.Problem()).To(Equal("the docker configuration, or its credential helper, did not give the credentials for " +
		"127.0.0.1:1. Run docker login 127.0.0.1:1."))
}

// A process reads its environment for a proxy once, so that the client asks in a process of its own.
func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	const child = "ASK_BEHIND_A_PROXY"
	g := NewWithT(t)
	if os.Getenv(child) != "" {
		_, err := os.Stdout.WriteString(impatient().Ask(t.Context(), []string{"registry.example/a:v1"})[0].Problem())
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	proxy := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect && r.Host == "registry.example:443" && r.Header.Get("Proxy-Authorization") == header {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), child+"=yes", "HTTPS_PROXY=http://alpha:"+secret+"@"+proxy, "NO_PROXY=")
	out, err := command.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(HavePrefix("cannot connect to registry.example: the proxy answered 418 I'm a teapot. " + checkNetwork))
	g.Expect(string(out)).NotTo(ContainSubstring(secret))
}
