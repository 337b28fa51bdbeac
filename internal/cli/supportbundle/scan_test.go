package supportbundle

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// needlesFor have the values of one Secret, as a Cluster refers to it.
func needlesFor(key, value string) *needles {
	n := newNeedles()
	n.take(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "user-alpha", Name: "alpha"}, Data: map[string][]byte{key: []byte(value)},
	})
	return n
}

func TestAValueOfASecretIsFound(t *testing.T) {
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	kubeconfig := "apiVersion: v1\nclusters:\n- cluster: {server: 'https://api.example.com:6443'}\nusers:\n- user:\n    token: " + planted +
		"\n    client-key-data: " + in64(pemBlock)
	for name, c := range map[string]struct{ key, value, text string }{
		"a value":                             {"token", planted, "x" + planted + "y"},
		"a value in base64":                   {"token", planted, "x " + in64(planted)},
		"a value in base64 of more, 1":        {"token", planted, in64("a" + planted + "bcd")},
		"a value in base64 of more, 2":        {"token", planted, in64("ab" + planted + "bcd")},
		"a value in JSON":                     {"token", `quote"and\slash`, `{"m":"quote\"and\\slash"}`},
		"a value in a URL":                    {"token", "quote/and slash", "https://quote%2Fand+slash@x"},
		"a field of YAML":                     {"value", kubeconfig, planted},
		"a whole file in base64":              {"value", kubeconfig, in64(kubeconfig)},
		"a line of PEM that stood in base64":  {"value", kubeconfig, "TUlJRXBBSUJBQUtDQVFFQTA="},
		"a field of JSON":                     {"cloud", `{"aadClientSecret":"` + planted + `"}`, planted},
		"a number":                            {"cloud", "password: 1234567890123", "1234567890123"},
		"a key of a section":                  {"cloud", "[Global]\npassword = \"" + planted + "\"\nregion=a", planted},
		"a line":                              {"cloud", "first of lines\n" + planted, planted},
		"a line of base64 with its padding":   {"cloud", "first of lines\nSHVudGVyMjM0NQ==", "SHVudGVyMjM0NQ=="},
		"a value behind an equals sign in it": {"cloud", "[Global]\npassword=a=" + planted, "a=" + planted},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := &bundle{progress: io.Discard, files: map[string]file{"a.txt": {text: "harmless"}, "b.txt": {text: c.text}}}
			archive, err := b.archive("folder", time.Unix(0, 0))
			g.Expect(err).NotTo(HaveOccurred())
			err = scan(archive, needlesFor(c.key, c.value))
			g.Expect(err).To(MatchError("file folder/b.txt has a value of Secret user-alpha/alpha"))
			delete(b.files, "b.txt")
			archive, err = b.archive("folder", time.Unix(0, 0))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(scan(archive, needlesFor(c.key, c.value))).To(Succeed())
		})
	}
}

func TestWhatIsNoCredentialIsNotSearchedFor(t *testing.T) {
	for name, c := range map[string]struct{ key, value, text string }{
		"a short value":     {"token", "12345678", "12345678"},
		"a region":          {"cloud", "[Global]\nregion=RegionNumberOne\npassword=x", "RegionNumberOne"},
		"an API server":     {"value", "apiVersion: v1\nserver: https://api.example.com", "https://api.example.com"},
		"a boundary of PEM": {"value", "a\n-----BEGIN CERTIFICATE-----\nb", "-----BEGIN CERTIFICATE-----"},
		"a section":         {"cloud", "[LoadBalancer]\na=b", "[LoadBalancer]"},
	} {
		t.Run(name, func(t *testing.T) {
			g, n := NewWithT(t), needlesFor(c.key, c.value)
			g.Expect(n.in([]byte(c.text))).To(BeEmpty())
		})
	}
}

func TestAnArchiveThatCannotBeReadIsNotClean(t *testing.T) {
	g := NewWithT(t)
	b := &bundle{files: map[string]file{"a.txt": {text: strings.Repeat("a", 1<<12)}}}
	archive, err := b.archive("folder", time.Unix(0, 0))
	g.Expect(err).NotTo(HaveOccurred())
	for _, broken := range [][]byte{nil, archive[:len(archive)/2]} {
		g.Expect(scan(broken, newNeedles())).NotTo(Succeed())
	}
}
