package supportbundle

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// planted is a secret that no rule knows by its form: only what stands around it tells.
const planted = "Hunter2-and-more"

const pemBlock = "-----BEGIN RSA PRIVATE KEY-----\nTUlJRXBBSUJBQUtDQVFFQTA=\n-----END RSA PRIVATE KEY-----"

func TestWhatLooksLikeASecretIsReplaced(t *testing.T) {
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
	for name, c := range map[string]struct{ text, want string }{
		"a bearer token":                    {"Bearer " + planted + " was refused", "Bearer [redacted] was refused"},
		"a header":                          {"Authorization: Basic " + planted, "Authorization: [redacted]"},
		"a header in a line":                {"sent authorization: basic " + planted, "sent authorization: [redacted] [redacted]"},
		"a JWT":                             {"got " + jwt + ", why", "got [redacted JWT], why"},
		"a block of PEM":                    {"a\n" + pemBlock + "\nb", "a\n[redacted PEM]\nb"},
		"a block of PEM in a line":          {"a " + strings.ReplaceAll(pemBlock, "\n", `\n`) + " b", "a [redacted PEM] b"},
		"a block without an end":            {"a\n-----BEGIN EC PRIVATE KEY-----\nTUlJRXBBSUJBQUtDQVFFQTA", "a\n[redacted PEM]"},
		"a block without a beginning":       {"TUlJRXBBSUJBQUtDQVFFQTA=\n-----END RSA PRIVATE KEY-----\nb", "[redacted PEM]\nb"},
		"base64 of PEM":                     {"ca " + base64.StdEncoding.EncodeToString([]byte(pemBlock)) + " b", "ca [redacted base64 of PEM] b"},
		"a URL":                             {"dial https://admin:p@ss@example.com:5000/v3", "dial https://[redacted]@example.com:5000/v3"},
		"a URL without a password":          {"dial https://example.com:5000/v3?a=b@c", "dial https://example.com:5000/v3?a=b@c"},
		"a password":                        {"x password=" + planted + " y", "x password=[redacted] y"},
		"a password with spaces":            {`x password="a b" y`, `x password="[redacted]" y`},
		"a line of a file":                  {"  password = a b\nregion = c", "  password = [redacted]\nregion = c"},
		"a field of a kubeconfig":           {"client-key-data: " + planted + "\nserver: a", "client-key-data: [redacted]\nserver: a"},
		"a block of YAML":                   {"token: |\n  " + planted + "\nserver: a", "token: [redacted]\nserver: a"},
		"a field of JSON":                   {`{"aadClientSecret":"a\"b","location":"c"}`, `{"aadClientSecret":"[redacted]","location":"c"}`},
		"JSON in JSON":                      {`{"m":"{\"token\":\"` + planted + `\",\"a\":1}"}`, `{"m":"{\"token\":\"[redacted]\",\"a\":1}"}`},
		"a flag":                            {"run --client-secret=" + planted + " --v=2", "run --client-secret=[redacted] --v=2"},
		"a flag before its value":           {"run --os-password " + planted + " --v=2", "run --os-password [redacted] --v=2"},
		"a key of a cloud configuration":    {"application-credential-id=" + planted, "application-credential-id=[redacted]"},
		"a user of a cloud configuration":   {"user = " + planted, "user = [redacted]"},
		"an access key":                     {"of AKIAIOSFODNN7EXAMPLE", "of [redacted]"},
		"long base64":                       {strings.Repeat("aB3", 25), redacted},
		"a digest":                          {"sha256:" + strings.Repeat("0a", 32), "sha256:" + strings.Repeat("0a", 32)},
		"the name of a Secret":              {"secretName: alpha-kubeconfig", "secretName: alpha-kubeconfig"},
		"a reference":                       {"configSecretRef:\n  name: a", "configSecretRef:\n  name: a"},
		"a switch":                          {"automountServiceAccountToken: false", "automountServiceAccountToken: false"},
		"a flag that names a file":          {"--token-file=/a --v=2", "--token-file=/a --v=2"},
		"a message that names a Secret":     {"Secret user-alpha/alpha has no key value", "Secret user-alpha/alpha has no key value"},
		"a Pod that uses a Secret's volume": {"- secret:\n    secretName: a", "- secret:\n    secretName: a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := newRedactor().text(c.text)
			g.Expect(got).To(Equal(c.want))
			g.Expect(newRedactor().text(got)).To(Equal(got), "twice is as once")
		})
	}
}

func TestObjectsLoseWhatMayBeASecret(t *testing.T) {
	g := NewWithT(t)
	object := map[string]any{
		"metadata": map[string]any{"managedFields": []any{"x"}, "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": planted, "example.com/password": planted, "note": "token=" + planted,
		}},
		"containers": []any{map[string]any{
			"args":    []any{"--client-secret", planted, "--v=2", "--password=" + planted, "plain"},
			"command": []any{"kcm", "--token", "--leader-elect"},
			"env": []any{map[string]any{"name": "A", "value": planted}, map[string]any{"name": "B", "valueFrom": map[string]any{
				"secretKeyRef": map[string]any{"name": "s", "key": "k"}}}},
		}},
		"password": "", "replicas": int64(2),
	}
	g.Expect(newRedactor().field("", object)).To(Equal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"example.com/password": redacted, "note": "token=" + redacted}},
		"containers": []any{map[string]any{
			"args":    []any{"--client-secret", redacted, "--v=2", "--password=" + redacted, "plain"},
			"command": []any{"kcm", "--token", "--leader-elect"},
			"env": []any{map[string]any{"name": "A", "value": redacted}, map[string]any{"name": "B", "valueFrom": map[string]any{
				"secretKeyRef": map[string]any{"name": "s", "key": "k"}}}},
		}},
		"password": "", "replicas": int64(2),
	}))
}
