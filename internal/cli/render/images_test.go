package render_test

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

const ccmImage = "registry.k8s.io/provider-os/openstack-cloud-controller-manager"

// mirror is an empty registry on the loopback device, and a profile that takes all images of the catalogue from it. Nothing of
// the docker configuration of whoever runs the test is found.
func mirror(t *testing.T, more string) (host string, command []string) {
	t.Helper()
	folder := t.TempDir()
	for _, variable := range []string{"HOME", "DOCKER_CONFIG", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(variable, folder)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host = strings.TrimPrefix(server.URL, "http://")
	file := filepath.Join(folder, "profile.yaml")
	content := profileHead + "  mirrors:\n  - {source: registry.k8s.io, mirror: '" + host + "'}\n" + more
	NewWithT(t).Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return host, []string{"render", "--provider", "openstack", "--kubernetes", "1.30", "--profile", file, "--images"}
}

// push gives an image a manifest, and returns its digest.
func push(t *testing.T, image string) string {
	t.Helper()
	g := NewWithT(t)
	reference, err := name.ParseReference(image)
	g.Expect(err).NotTo(HaveOccurred())
	made, err := random.Image(16, 1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.Write(reference, made)).To(Succeed())
	digest, err := made.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	return digest.String()
}

func listed(t *testing.T, command []string) []string {
	t.Helper()
	stdout, stderr, code := execute(command...)
	NewWithT(t).Expect(code).To(Equal(0), stderr)
	return strings.Split(strings.TrimSpace(stdout), "\n")
}

func TestDigestsAreThoseOfTheImagesThatAreListed(t *testing.T) {
	g := NewWithT(t)
	_, command := mirror(t, "")
	var want []string
	for _, image := range listed(t, command) {
		want = append(want, image+"@"+push(t, image))
	}
	g.Expect(len(want)).To(BeNumerically(">", 4), "more than are asked for side by side")
	g.Expect(listed(t, append(command, "--digests"))).To(Equal(want))
	g.Expect(listed(t, append(command, "--digests", "--output", "json"))).To(Equal(want), "the format is that of objects")
}

func TestDigestsNeedAList(t *testing.T) {
	g := NewWithT(t)
	stdout, stderr, code := execute("render", "--provider", "openstack", "--kubernetes", "1.30", "--cloud-config",
		configs(t)["a file"], "--digests")
	g.Expect(code).To(Equal(2))
	g.Expect(stdout).To(BeEmpty())
	g.Expect(stderr).To(ContainSubstring("--digests needs --images"))
}

func TestTheDigestOfAProfileStays(t *testing.T) {
	g := NewWithT(t)
	host, command := mirror(t, "")
	for _, image := range listed(t, command) {
		push(t, image)
	}
	mirrored := strings.Replace(ccmImage, "registry.k8s.io", host, 1)
	digest := push(t, mirrored+":another")
	profile := command[len(command)-2]
	content, err := os.ReadFile(profile)
	g.Expect(err).NotTo(HaveOccurred())
	pinned := string(content) + "  images: [{image: " + ccmImage + ", tag: v1.30.3, digest: '" + digest + "'}]\n"
	g.Expect(os.WriteFile(profile, []byte(pinned), 0o600)).To(Succeed())
	g.Expect(listed(t, append(command, "--digests"))).To(ContainElement(mirrored + ":v1.30.3@" + digest))
}

// One image is there, one registry does not answer, and the others lack theirs.
func TestAllImagesWithoutADigestAreNamedAndNothingIsPrinted(t *testing.T) {
	g := NewWithT(t)
	host, command := mirror(t, "  - {source: registry.k8s.io/provider-os, mirror: '127.0.0.1:1'}\n")
	images := listed(t, command)
	there := host + "/sig-storage/livenessprobe:"
	var problems int
	for _, image := range images {
		if strings.HasPrefix(image, there) {
			push(t, image)
		}
	}
	stdout, stderr, code := execute(append(command, "--digests")...)
	g.Expect(code).To(Equal(1))
	g.Expect(stdout).To(BeEmpty())
	g.Expect(stderr).To(And(
		ContainSubstring(" images are not known:\n- "), ContainSubstring("answered 404, no such image."), Not(ContainSubstring(there)),
	))
	for _, image := range images {
		if !strings.HasPrefix(image, there) {
			problems++
			g.Expect(stderr).To(ContainSubstring("\n- " + image + ": "))
		}
	}
	g.Expect(problems).To(Equal(len(images)-1), "one image is there")
	g.Expect(stderr).To(ContainSubstring("- 127.0.0.1:1/cinder-csi-plugin:v1.30.3: cannot connect to 127.0.0.1:1: "))
}

func TestImagesOfTheCatalogueAreThoseThatAreListed(t *testing.T) {
	catalogue := provider.New()
	for _, of := range catalogue.Names() {
		profile, _ := catalogue.Lookup(of)
		for _, row := range versions.Matrix(profile) {
			if row.Problem != "" {
				continue
			}
			g := NewWithT(t)
			images, err := render.Images(profile, row.Kubernetes())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(images).To(Equal(listed(t, []string{"render", "--provider", of, "--kubernetes", row.Kubernetes(), "--images"})))
		}
	}
}
