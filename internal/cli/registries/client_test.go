package registries

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"
)

// impatient is a client without the docker configuration of whoever runs the test, and without a wait before it asks again.
func impatient() *Client {
	client := New()
	client.keychain = authn.NewMultiKeychain()
	client.backoff = remote.Backoff{Steps: 2}
	client.timeout = 10 * time.Second
	return client
}

// serve returns the host of a server on the loopback device.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// filled is a registry that has one:v1, which is one manifest, and many:v1, which is an index. It returns their digests.
func filled(t *testing.T) (host, one, many string) {
	t.Helper()
	g := NewWithT(t)
	host = serve(t, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	image, err := random.Image(16, 1)
	g.Expect(err).NotTo(HaveOccurred())
	index := v1.ImageIndex(empty.Index)
	for _, architecture := range []string{"arm64", "amd64"} {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	g.Expect(remote.Write(reference(t, host+"/one:v1"), image)).To(Succeed())
	g.Expect(remote.WriteIndex(reference(t, host+"/many:v1"), index)).To(Succeed())
	ofImage, err := image.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	ofIndex, err := index.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	return host, ofImage.String(), ofIndex.String()
}

func reference(t *testing.T, image string) name.Reference {
	t.Helper()
	parsed, err := name.ParseReference(image)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return parsed
}

func TestARegistryIsAskedForAnImage(t *testing.T) {
	host, one, many := filled(t)
	for about, tc := range map[string]struct {
		image     string
		pinned    string
		platforms []string
		absent    bool
		problem   string
	}{
		"a tag of one manifest": {image: host + "/one:v1", pinned: host + "/one:v1@" + one},
		"a tag of an index has the index's digest": {
			image: host + "/many:v1", pinned: host + "/many:v1@" + many, platforms: []string{"linux/amd64", "linux/arm64"},
		},
		"a digest stays as it is":    {image: host + "/one@" + one, pinned: host + "/one@" + one},
		"a digest counts, not a tag": {image: host + "/one:v2@" + one, pinned: host + "/one:v2@" + one},
		"a tag that is not there": {
			image: host + "/one:v2", absent: true, problem: "its registry answered 404, no such image. Check the name and the tag",
		},
		"a name that is not there":    {image: host + "/none:v1", absent: true, problem: "answered 404, no such image"},
		"a digest that is not there":  {image: host + "/one@" + many, absent: true, problem: "answered 404"},
		"what is no name of an image": {image: host + "/ONE:v1", problem: "this is not the name of an image"},
	} {
		t.Run(about, func(t *testing.T) {
			g := NewWithT(t)
			answers := impatient().Ask(t.Context(), []string{tc.image})
			g.Expect(answers).To(HaveLen(1))
			g.Expect(answers[0].Image).To(Equal(tc.image))
			g.Expect(answers[0].Problem()).To(ContainSubstring(tc.problem))
			g.Expect(answers[0].Manifest.IsAbsent()).To(Equal(tc.absent))
			g.Expect(answers[0].Manifest.IsKnown()).To(Equal(tc.pinned != ""), answers[0].Problem())
			if tc.pinned != "" {
				g.Expect(answers[0].Problem()).To(BeEmpty())
				g.Expect(answers[0].Pinned()).To(Equal(tc.pinned))
				g.Expect(answers[0].Manifest.Value().Platforms).To(Equal(tc.platforms))
			}
		})
	}
}

func TestOneImageThatFailsDoesNotEndTheQuestions(t *testing.T) {
	g := NewWithT(t)
	host, one, _ := filled(t)
	answers := impatient().Ask(t.Context(), []string{host + "/none:v1", "127.0.0.1:1/one:v1", host + "/one:v1"})
	g.Expect(answers[0].Manifest.IsAbsent()).To(BeTrue())
	g.Expect(answers[1].Manifest.IsUnknown()).To(BeTrue())
	g.Expect(answers[2].Manifest.Value().Digest).To(Equal(one))
}

// The image that is asked for first is answered last.
func TestAnswersHaveTheOrderOfTheImages(t *testing.T) {
	g := NewWithT(t)
	others := sync.WaitGroup{}
	others.Add(2)
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "one":
			others.Wait()
			w.WriteHeader(http.StatusForbidden)
		case "two", "three":
			w.WriteHeader(http.StatusConflict)
			others.Done()
		}
	}))
	images := []string{host + "/a:one", host + "/a:two", host + "/a:three"}
	answers := impatient().Ask(t.Context(), images)
	for i, want := range []string{"403", "409", "409"} {
		g.Expect(answers[i].Image).To(Equal(images[i]))
		g.Expect(answers[i].Problem()).To(ContainSubstring(want))
	}
}

func TestFourImagesAreAskedForSideBySide(t *testing.T) {
	g := NewWithT(t)
	var lock sync.Mutex
	var now, most int
	four, five := make(chan struct{}), make(chan struct{})
	reached := map[int]func(){4: sync.OnceFunc(func() { close(four) }), 5: sync.OnceFunc(func() { close(five) })}
	count := func(change int) {
		lock.Lock()
		defer lock.Unlock()
		now += change
		most = max(most, now)
		if signal := reached[now]; signal != nil {
			signal()
		}
	}
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return
		}
		count(1)
		defer count(-1)
		select {
		case <-four:
		case <-r.Context().Done():
		}
		// Whether there is a fifth shows only when the four are held for a while.
		select {
		case <-five:
		case <-time.After(50 * time.Millisecond):
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	for _, answer := range impatient().Ask(t.Context(), slices.Repeat([]string{host + "/a:v1"}, 8)) {
		g.Expect(answer.Problem()).To(ContainSubstring("403"))
	}
	lock.Lock()
	defer lock.Unlock()
	g.Expect(most).To(Equal(4))
}
