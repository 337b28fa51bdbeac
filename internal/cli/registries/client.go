package registries

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	// atOnce is how many images are asked for side by side: registries limit how often they answer.
	atOnce = 4
	// timeout is for all requests that an image needs, those for a token and those that are repeated among them.
	timeout = 30 * time.Second
)

// Manifest is what a registry has under the name of an image.
type Manifest struct {
	// Digest of the index, or of the manifest of an image that has no index.
	Digest string
	// Platforms that an index names, such as linux/amd64. An image without an index has none here: its manifest does not say.
	Platforms []string
}

// Answer is what became of the question for an image.
type Answer struct {
	Image    string
	Manifest observation.Observed[Manifest]
}

// Pinned is the image with its digest; as it is where it has one already.
func (a Answer) Pinned() string {
	if strings.Contains(a.Image, "@") {
		return a.Image
	}
	return a.Image + "@" + a.Manifest.Value().Digest
}

// Problem is empty where the manifest is known. Otherwise it says why not, and what to do.
func (a Answer) Problem() string {
	switch {
	case a.Manifest.IsKnown():
		return ""
	case a.Manifest.IsAbsent():
		return "its registry answered 404, no such image. Check the name and the tag, and whether a mirror has a copy."
	}
	return a.Manifest.Why()
}

// Client asks registries.
type Client struct {
	keychain  authn.Keychain
	transport *http.Transport
	timeout   time.Duration
	// backoff between repeated requests, after answers such as 503.
	backoff remote.Backoff
}

// New returns a client with the credentials of the docker configuration and the proxy of the environment.
func New() *Client {
	return &Client{
		keychain: authn.DefaultKeychain, transport: throughProxy(), timeout: timeout,
		backoff: remote.Backoff{Duration: time.Second, Factor: 3, Jitter: 0.1, Steps: 3},
	}
}

// Ask for each image, some of them side by side. The answers have the order of the images.
func (c *Client) Ask(ctx context.Context, images []string) []Answer {
	answers := make([]Answer, len(images))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, image := range images {
		group.Go(func() error {
			answers[i] = Answer{Image: image, Manifest: c.ask(ctx, image)}
			return nil
		})
	}
	// One image that fails does not end the questions for the others.
	_ = group.Wait()
	return answers
}

func (c *Client) ask(ctx context.Context, image string) observation.Observed[Manifest] {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	reference, err := name.ParseReference(image)
	if err != nil {
		return observation.Unknown[Manifest]("this is not the name of an image. Write it as REGISTRY/NAME:TAG.")
	}
	host := reference.Context().RegistryStr()
	credentials, err := authn.Resolve(ctx, c.keychain, reference.Context())
	if err != nil {
		// The error may quote what a credential helper printed.
		return observation.Unknown[Manifest]("the docker configuration, or its credential helper, did not give the credentials for " +
			host + ". Run " + login(host) + ".")
	}
	got, err := remote.Get(reference, remote.WithContext(ctx), remote.WithAuth(credentials), remote.WithTransport(c.transport),
		remote.WithRetryBackoff(c.backoff))
	if err != nil {
		return c.failed(host, err)
	}
	return manifestOf(host, got)
}

// manifestOf an answer. A page that a proxy shows instead of the registry's answer has a checksum, too, and is no manifest.
func manifestOf(host string, got *remote.Descriptor) observation.Observed[Manifest] {
	manifest := Manifest{Digest: got.Digest.String()}
	mediaType, _, _ := strings.Cut(string(got.MediaType), ";")
	switch kind := types.MediaType(mediaType); {
	case kind.IsImage():
		return observation.Known(manifest)
	case kind.IsIndex():
		index, err := v1.ParseIndexManifest(bytes.NewReader(got.Manifest))
		if err != nil {
			return observation.Unknown[Manifest](host + " answered with an index that cannot be read. " + lookCloser)
		}
		for _, of := range index.Manifests {
			if of.Platform != nil {
				manifest.Platforms = append(manifest.Platforms, of.Platform.OS+"/"+of.Platform.Architecture)
			}
		}
		slices.Sort(manifest.Platforms)
		manifest.Platforms = slices.Compact(manifest.Platforms)
		return observation.Known(manifest)
	}
	return observation.Unknown[Manifest](host + " answered with something other than a manifest. " + lookCloser)
}
