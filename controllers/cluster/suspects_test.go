package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// left are the Clusters whose files are there, with the deaths that they tell of.
func left(t *testing.T, directory string) map[string]string {
	t.Helper()
	g, files := NewWithT(t), map[string]string{}
	entries, err := os.ReadDir(directory)
	g.Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		g.Expect(err).NotTo(HaveOccurred())
		deaths, name, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
		files[name] = deaths
	}
	return files
}

// fleet of so many Clusters that exist.
func fleet(n int) func() []client.ObjectKey {
	return func() (keys []client.ObjectKey) {
		for i := range n {
			keys = append(keys, keyOf(i))
		}
		return keys
	}
}

func TestSuspectsGoLastAndAlone(t *testing.T) {
	g, directory := NewWithT(t), t.TempDir()
	died := NewSuspects(directory, logr.Discard())
	for i := range 2 {
		g.Expect(died.begin(keyOf(i), passes.Start(), fleet(4)).wait).To(BeZero())
	}
	g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c0": "0", "user/c1": "0"}), "the files are there while the "+
		"passes last")

	s := NewSuspects(directory, logr.Discard())
	waits := func(i int, at time.Duration) time.Duration {
		return s.begin(keyOf(i), passes.Start().Add(at), fleet(4)).wait
	}
	g.Expect(waits(0, 0)).To(Equal(time.Second), "others had no pass yet")
	g.Expect(waits(2, 0)).To(BeZero())
	s.end(keyOf(2), true)
	g.Expect(waits(3, 0)).To(BeZero())
	s.end(keyOf(3), false)
	g.Expect(waits(0, 0)).To(Equal(time.Second), "the pass of the last one was not made: its connection is not there yet")
	g.Expect(waits(3, 0)).To(BeZero())
	g.Expect(waits(0, 0)).To(Equal(time.Second), "it is still being made")
	s.end(keyOf(3), true)

	g.Expect(waits(0, 0)).To(BeZero())
	g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c0": "1", "user/c1": "0"}), "if it ends now, this one was it")
	g.Expect(waits(1, 0)).To(Equal(time.Second), "one at a time")
	g.Expect(waits(2, 0)).To(Equal(time.Second), "and no other beside it")
	s.end(keyOf(0), true)
	g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c1": "0"}))
	g.Expect(s.suspects).To(HaveLen(1), "one success clears it")
	g.Expect(waits(1, 0)).To(BeZero())
	s.end(keyOf(1), false)
	g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c1": "0"}), "nothing was read: it stays a suspect")
	s.forget(keyOf(1))
	g.Expect(left(t, directory)).To(BeEmpty())
}

// A fleet that never pauses lets a suspect through after a while, and one Cluster that never has a pass keeps none away for ever.
func TestSuspectsDoNotWaitForEver(t *testing.T) {
	g, directory := NewWithT(t), t.TempDir()
	NewSuspects(directory, logr.Discard()).begin(keyOf(0), passes.Start(), fleet(3))
	s := NewSuspects(directory, logr.Discard())
	waits := func(i int, at time.Duration) time.Duration {
		return s.begin(keyOf(i), passes.Start().Add(at), fleet(3)).wait
	}
	g.Expect(waits(1, 0)).To(BeZero())
	g.Expect(waits(0, 9*time.Minute)).To(Equal(time.Second))
	g.Expect(waits(0, 10*time.Minute)).To(Equal(time.Second), "a pass is being made")
	g.Expect(waits(2, 10*time.Minute)).To(BeZero(), "and no one waits for the suspect")
	g.Expect(waits(0, 11*time.Minute)).To(Equal(time.Second))
	s.end(keyOf(2), true)
	g.Expect(waits(2, 11*time.Minute)).To(Equal(time.Second), "now it is its turn")
	s.end(keyOf(1), true)
	g.Expect(waits(0, 11*time.Minute+time.Second)).To(BeZero())
	s.end(keyOf(0), true)
	g.Expect(waits(2, 11*time.Minute+time.Second)).To(BeZero())
	s.end(keyOf(2), true)

	NewSuspects(directory, logr.Discard()).begin(keyOf(0), passes.Start(), fleet(1))
	s = NewSuspects(directory, logr.Discard())
	s.begin(keyOf(1), passes.Start(), fleet(2))
	waits(0, 10*time.Minute)
	waits(0, 11*time.Minute)
	g.Expect(waits(2, 11*time.Minute)).To(Equal(time.Second))
	g.Expect(waits(2, 11*time.Minute+6*time.Second)).To(BeZero(), "a suspect that asks no more holds no one up")
}

func TestACulpritWaitsLongerEachTime(t *testing.T) {
	for deaths, want := range map[int]time.Duration{
		0: 0, 1: 2 * time.Minute, 2: 4 * time.Minute, 5: 32 * time.Minute, 6: time.Hour, 100: time.Hour,
	} {
		t.Run(fmt.Sprint(deaths), func(t *testing.T) {
			g, directory := NewWithT(t), t.TempDir()
			NewSuspects(directory, logr.Discard()).write(keyOf(0), deaths)
			s := NewSuspects(directory, logr.Discard())
			first := s.begin(keyOf(0), passes.Start(), fleet(1))
			if want == 0 {
				g.Expect(first).To(Equal(turn{}))
				return
			}
			g.Expect(first).To(Equal(turn{wait: want, culprit: deaths}))
			g.Expect(s.begin(keyOf(1), passes.Start(), fleet(1)).wait).To(BeZero(), "no one waits with it")
			s.end(keyOf(1), true)
			g.Expect(s.begin(keyOf(0), passes.Start().Add(want), fleet(1))).To(Equal(turn{}))
			g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c0": fmt.Sprint(deaths + 1)}))
			s.end(keyOf(0), true)
			g.Expect(left(t, directory)).To(BeEmpty(), "one success clears it")
		})
	}
}

func TestAStateDirectoryThatCannotBeUsedStopsNothing(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	lines := 0
	s := NewSuspects(filepath.Join(file, "below"), logr.New(countingSink{&lines}))
	for i := range 3 {
		g.Expect(s.begin(keyOf(i), passes.Start(), fleet(3))).To(Equal(turn{}))
		s.end(keyOf(i), true)
	}
	g.Expect(lines).To(Equal(1), "it is logged once")

	var none *Suspects
	g.Expect(none.begin(keyOf(0), passes.Start(), fleet(1))).To(Equal(turn{}))
	none.end(keyOf(0), true)
	none.forget(keyOf(0))
	g.Expect(NewSuspects("", logr.Discard())).To(BeNil())

	directory := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(directory, "torn"), nil, 0o600)).To(Succeed())
	g.Expect(NewSuspects(directory, logr.Discard()).suspects).To(BeEmpty())
	g.Expect(left(t, directory)).To(BeEmpty())
}

// countingSink counts errors.
type countingSink struct{ errors *int }

func (countingSink) Init(logr.RuntimeInfo)            {}
func (countingSink) Enabled(int) bool                 { return true }
func (countingSink) Info(int, string, ...any)         {}
func (c countingSink) Error(error, string, ...any)    { *c.errors++ }
func (c countingSink) WithValues(...any) logr.LogSink { return c }
func (c countingSink) WithName(string) logr.LogSink   { return c }

// What is read of a Cluster is read while its file is there, and a pass that panics leaves none.
func TestTheFileIsThereBeforeAnythingIsRead(t *testing.T) {
	g, directory := NewWithT(t), t.TempDir()
	cluster := passes.ClusterOf(ucv1.OriginInTree)
	w := newWritten(t, cluster)
	w.reconciler.Suspects = NewSuspects(directory, logr.Discard())
	reads := 0
	w.reconciler.Observer.management.live = interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			reads++
			g.Expect(left(t, directory)).To(Equal(map[string]string{client.ObjectKeyFromObject(cluster).String(): "0"}))
			if reads == 2 {
				panic("as if by what was read")
			}
			return errors.New("it hangs")
		},
	})
	for range 2 {
		_, err := w.reconcile(cluster)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left(t, directory)).To(BeEmpty())
	}
	g.Expect(reads).To(Equal(2))
}

func TestTheStatusNamesACulprit(t *testing.T) {
	g, directory := NewWithT(t), t.TempDir()
	cluster := passes.ClusterOf(ucv1.OriginInTree)
	key := client.ObjectKeyFromObject(cluster)
	NewSuspects(directory, logr.Discard()).write(key, 2)
	w := newWritten(t, cluster)
	w.reconciler.Suspects = NewSuspects(directory, logr.Discard())
	result, err := w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result).To(Equal(ctrl.Result{RequeueAfter: 4 * time.Minute}))
	for _, kind := range []string{ucv1.ReadyCondition, ucv1.StalledCondition} {
		g.Expect(passes.Condition(w.last(), kind)).To(
			And(HaveField("Reason", ucv1.InternalErrorReason), HaveField("Message", ContainSubstring("killed 2 times"))),
		)
	}
	w.clock.SetTime(passes.Start().Add(4 * time.Minute))
	_, err = w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passes.Condition(w.last(), ucv1.ReadyCondition).Reason).NotTo(Equal(ucv1.InternalErrorReason))
	g.Expect(passes.Condition(w.last(), ucv1.StalledCondition)).To(Equal(metav1.Condition{}))
	g.Expect(left(t, directory)).To(BeEmpty())
}

const (
	dyingDirectory = "CCM_MIGRATION_TEST_DYING"
	hostile        = 2
)

// A process dies by SIGKILL on one of six Clusters while passes of others are made, and is started again: first those that are
// left come to their pass, then the suspects, and the hostile one takes no other down again.
func TestAProcessThatIsKilledReadsTheRestFirst(t *testing.T) {
	if directory := os.Getenv(dyingDirectory); directory != "" {
		passesUntilDeath(directory)
		return
	}
	g, directory := NewWithT(t), t.TempDir()
	run := func() (passed []string, killed bool) {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessThatIsKilledReadsTheRestFirst$")
		child.Env = append(os.Environ(), dyingDirectory+"="+directory)
		child.Args = append(child.Args, "-test.timeout=1m")
		out, err := child.Output()
		for line := range strings.Lines(string(out)) {
			if name, found := strings.CutPrefix(strings.TrimSpace(line), "passed "); found {
				passed = append(passed, name)
			}
		}
		exit := &exec.ExitError{}
		return passed, errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	}
	passed, killed := run()
	g.Expect(killed).To(BeTrue())
	g.Expect(passed).To(BeEmpty(), "three are being made, and one of them kills it")
	g.Expect(left(t, directory)).To(HaveLen(3))

	passed, killed = run()
	g.Expect(killed).To(BeTrue())
	g.Expect(passed[:3]).To(ConsistOf("3", "4", "5"), "the rest comes first")
	g.Expect(left(t, directory)).To(HaveKeyWithValue("user/c2", "1"))

	for range 2 {
		passed, killed = run()
		g.Expect(killed).To(BeFalse(), "the culprit waits")
		g.Expect(passed).To(ConsistOf("0", "1", "3", "4", "5"))
		g.Expect(left(t, directory)).To(Equal(map[string]string{"user/c2": "1"}))
	}
}

// passesUntilDeath is what the process does: three workers, each Cluster until it passed or has to wait for minutes.
func passesUntilDeath(directory string) {
	s := NewSuspects(directory, logr.Discard())
	first := len(s.suspects) == 0
	queue, workers := make(chan int, 100), sync.WaitGroup{}
	for i := range 6 {
		queue <- i
	}
	together := sync.WaitGroup{}
	together.Add(3)
	open := sync.WaitGroup{}
	open.Add(6)
	for range 3 {
		workers.Go(func() {
			for i := range queue {
				switch turn := s.begin(keyOf(i), passes.Start(), fleet(6)); {
				case turn.culprit > 0:
					open.Done()
				case turn.wait > 0:
					queue <- i
				default:
					pass(s, first, i, &together)
					open.Done()
				}
			}
		})
	}
	open.Wait()
	close(queue)
	workers.Wait()
}

// pass of one Cluster: in the first process, the first three are being made when the hostile one kills it.
func pass(s *Suspects, first bool, i int, together *sync.WaitGroup) {
	if first && i <= hostile {
		together.Done()
		together.Wait()
		if i != hostile {
			select {}
		}
	}
	if i == hostile {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	_, _ = fmt.Fprintln(os.Stdout, "passed", i)
	s.end(keyOf(i), true)
}
