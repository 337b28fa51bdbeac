package dashboard

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type answers func() (*http.Response, error)

func (a answers) RoundTrip(*http.Request) (*http.Response, error) { return a() }

// An informer goes on showing what it had, whatever becomes of its watch.
func TestAWatchThatIsNotOpenIsNoticed(t *testing.T) {
	g := NewWithT(t)
	s := &source{now: noon, changed: make(chan struct{}, 1), kinds: map[string]*looked{clusters: {}, probed: {}}}
	watch := func(code int, status string, err error) io.Reader {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://management.example/apis/x/v1/clusters?watch=true", nil)
		over := &streams{source: s, next: answers(func() (*http.Response, error) {
			return &http.Response{StatusCode: code, Status: status, Body: io.NopCloser(strings.NewReader(""))}, err
		})}
		answer, _ := over.RoundTrip(request)
		if answer == nil {
			return nil
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.Body
	}
	body := watch(http.StatusOK, "200 OK", nil)
	g.Expect(s.kind(clusters).open).To(BeTrue())
	_, _ = io.ReadAll(body)
	g.Expect(s.kind(clusters).open).To(BeFalse())
	watch(0, "", errors.New("connection refused"))
	g.Expect(s.kind(clusters).err).To(MatchError("connection refused"))
	watch(http.StatusOK, "200 OK", nil)
	g.Expect(s.kind(clusters).err).NotTo(HaveOccurred())
	watch(http.StatusTooManyRequests, "429 Too Many Requests", nil)
	g.Expect(s.kind(clusters).err).To(MatchError("watch: 429 Too Many Requests"))
	g.Expect(s.changed).To(Receive(), "open pages are told")
}
