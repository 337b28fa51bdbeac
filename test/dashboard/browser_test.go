package dashboard

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "write the screenshots again")

// look of a page: how it is shown.
type look struct {
	width, height int64
	scheme        string
}

// tab is a page in Chromium.
type tab struct {
	ctx context.Context
	t   *testing.T
}

// opened is a tab of a Chromium of its own, which the door lets in.
func opened(t *testing.T, address string, how look) *tab {
	t.Helper()
	g := NewWithT(t)
	program, err := exec.LookPath("chromium")
	g.Expect(err).NotTo(HaveOccurred(), "install Chromium: apt-get install chromium; make test-dashboard does it for root")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root.
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	// The first action starts the browser, which ends with the context of it.
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: how.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	g.Expect(err).NotTo(HaveOccurred())
	one := &tab{ctx, t}
	one.run(chromedp.EmulateViewport(how.width, how.height), chromedp.Navigate(address), chromedp.WaitReady("#main"))
	return one
}

// run actions.
func (o *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	o.t.Helper()
	within(o, chromedp.Steps(actions...))
}

// evaluate JavaScript. A promise is waited for.
func evaluate[T any](o *tab, script string) T {
	o.t.Helper()
	return within(o, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// within the deadline.
func within[T any](o *tab, action chromedp.Action[T]) T {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, deadline)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	NewWithT(o.t).Expect(err).NotTo(HaveOccurred())
	return result
}

// visit another page of the same dashboard.
func (o *tab) visit(path string) {
	o.t.Helper()
	origin := evaluate[string](o, "location.origin")
	o.run(chromedp.Navigate(origin+path), chromedp.WaitReady("#main"))
}

// eventually the page says something, without a reload.
func (o *tab) eventually(selector, text string) {
	o.t.Helper()
	NewWithT(o.t).Eventually(func() (string, error) { return o.says(selector) }, deadline, 100*time.Millisecond).
		Should(ContainSubstring(text))
}

// says what an element says now. A page that is just left answers with an error.
func (o *tab) says(selector string) (string, error) {
	return chromedp.Run(o.ctx, chromedp.Evaluate[string]("(document.querySelector('"+selector+"') || {textContent: ''}).textContent"))
}

// ready has everything that was created.
func (o *tab) ready() {
	o.t.Helper()
	o.eventually("#migrations", "openstack")
	o.eventually("#clusters", "of 49")
}

// tolerance is the share of pixels that may differ, and shade how much each may: fonts are smoothed in many ways.
const (
	tolerance = 0.03
	shade     = 48 << 8
)

// compare what is seen from an element on with the screenshot in docs/dashboard.
func (o *tab) compare(name, from string) {
	o.t.Helper()
	g, path := NewWithT(o.t), filepath.Join(root, "docs/dashboard", name+".png")
	evaluate[chromedp.Void](o, "document.activeElement.blur(); document.querySelector('"+from+"').scrollIntoView()")
	now := within(o, chromedp.CaptureScreenshot())
	if *update {
		g.Expect(os.WriteFile(path, smaller(o.t, now), 0o644)).To(Succeed())
	}
	before, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "make test-dashboard ARGS=-update writes it")
	g.Expect(len(before)).To(BeNumerically("<=", 100<<10), "%s is kept in the repository", name)
	share := differing(o.t, before, now)
	o.t.Logf("%s: %.2f%% of the pixels differ", name, 100*share)
	if share > tolerance {
		seen := filepath.Join(root, "_output", name+".png")
		g.Expect(os.WriteFile(seen, now, 0o644)).To(Succeed())
		o.t.Errorf("%s differs in %.1f%% of its pixels: look at %s, and run make test-dashboard ARGS=-update if it is as it should be",
			path, 100*share, seen)
	}
}

// smaller is the same picture. Chromium is quick, and leaves a fifth to gain.
func smaller(t *testing.T, picture []byte) []byte {
	t.Helper()
	g, out := NewWithT(t), &bytes.Buffer{}
	decoded, err := png.Decode(bytes.NewReader(picture))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, decoded)).To(Succeed())
	return out.Bytes()
}

// differing is the share of pixels that are not alike.
func differing(t *testing.T, before, now []byte) float64 {
	t.Helper()
	g := NewWithT(t)
	a, err := png.Decode(bytes.NewReader(before))
	g.Expect(err).NotTo(HaveOccurred())
	b, err := png.Decode(bytes.NewReader(now))
	g.Expect(err).NotTo(HaveOccurred())
	if a.Bounds() != b.Bounds() {
		return 1
	}
	count, size := 0, a.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			if !alike(a, b, x, y) {
				count++
			}
		}
	}
	return float64(count) / float64(size.X*size.Y)
}

func alike(a, b image.Image, x, y int) bool {
	r, g, bl, _ := a.At(x, y).RGBA()
	r2, g2, bl2, _ := b.At(x, y).RGBA()
	near := func(v, w uint32) bool { return max(v, w)-min(v, w) <= shade }
	return near(r, r2) && near(g, g2) && near(bl, bl2)
}

func TestDifferentPicturesDiffer(t *testing.T) {
	g := NewWithT(t)
	picture := func(width int, grey uint8) []byte {
		one, out := image.NewGray(image.Rect(0, 0, width, 10)), &bytes.Buffer{}
		for i := range one.Pix {
			one.Pix[i] = grey
		}
		one.Pix[0] = 0
		g.Expect(png.Encode(out, one)).To(Succeed())
		return out.Bytes()
	}
	g.Expect(differing(t, picture(10, 200), picture(10, 200))).To(BeZero())
	g.Expect(differing(t, picture(10, 200), picture(10, 190))).To(BeZero())
	g.Expect(differing(t, picture(10, 200), picture(10, 100))).To(Equal(0.99))
	g.Expect(differing(t, picture(10, 200), picture(11, 200))).To(Equal(1.0))
}
