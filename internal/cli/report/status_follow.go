package report

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// opener makes watches of what is followed. They see metadata only, and wake: what is printed is read as without a watch. Each
// begins with what there is, so that nothing is missed between two of them:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch
func (o *statusOptions) opener(name string) (func(context.Context) (watch.Interface, error), error) {
	c, err := o.Watcher()
	if err != nil {
		return nil, err
	}
	options := &client.ListOptions{
		Namespace: o.Namespace, LabelSelector: o.label, Raw: &metav1.ListOptions{ResourceVersion: "0"},
	}
	if name != "" {
		if options.Namespace, err = o.ResolveNamespace(); err != nil {
			return nil, err
		}
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name)
	}
	return func(ctx context.Context) (watch.Interface, error) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(ucv1.GroupVersion().WithKind("ClusterList"))
		// A watch has no deadline, but its beginning has one.
		ctx, cancel := context.WithCancel(ctx)
		defer time.AfterFunc(management.Timeout, cancel).Stop()
		return c.Watch(ctx, list, options)
	}, nil
}

// follower prints again what changed.
type follower struct {
	*statusOptions
	look func(context.Context) (snapshot, error)
	open func(context.Context) (watch.Interface, error)
	// notes get what must not stand in a document.
	notes io.Writer

	// watching is nil while there is no watch; refused says that there never will be one.
	watching watch.Interface
	refused  bool
	// stale says that what was seen may have changed since lookedAt. problem is why it could not be looked at last.
	stale    bool
	lookedAt time.Time
	seen     snapshot
	problem  error
}

// follow goes on until it is stopped. It looks at most once an interval: when a watch says that something changed, or each time
// where there is none. What cannot be read for a moment is said, and ends nothing.
func (f *follower) follow(ctx context.Context, out io.Writer) error {
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	defer f.unwatch()
	shown := &terminal.Frames{Out: out, Redraw: f.output == "text", YAML: f.output == "yaml"}
	defer shown.End()
	f.stale = true
	for {
		f.refresh(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := f.print(out, shown); err != nil {
			return err
		}
		if f.wait(ctx, ticker.C); ctx.Err() != nil {
			return nil
		}
	}
}

// refresh looks where that is worth it, and sees that there is a watch. The watch comes second: it wakes for what came between.
func (f *follower) refresh(ctx context.Context) {
	if f.stale {
		f.lookedAt = time.Now()
		seen, err := f.look(ctx)
		f.seen, f.problem, f.stale = seen, err, err != nil
	}
	if f.watching != nil || f.refused || ctx.Err() != nil {
		return
	}
	watching, err := f.open(ctx)
	switch {
	case err == nil:
		f.watching = watching
	case apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err):
		f.refused = true
		if f.output != "text" {
			_, _ = io.WriteString(f.notes, f.note())
		}
	}
}

// note says why it looks again and again.
func (f *follower) note() string {
	return fmt.Sprintf("Looking every %s: watching Clusters is not allowed with these rights.\n", f.interval)
}

func (f *follower) print(out io.Writer, shown *terminal.Frames) error {
	s, err := f.Screen(out, os.Getenv)
	if err != nil {
		return err
	}
	text := ""
	if f.problem == nil {
		text, f.problem = f.seen(s)
	}
	if f.problem != nil {
		text = "Error: " + f.problem.Error() + "\n"
		if f.output != "text" {
			_, err = io.WriteString(f.notes, text)
			return err
		}
	}
	if f.refused && f.output == "text" {
		text += "\n" + f.note()
	}
	return shown.Show(s, text)
}

// wait until there is something to print: news, or the ages after an interval.
func (f *follower) wait(ctx context.Context, tick <-chan time.Time) {
	for {
		var events <-chan watch.Event
		if f.watching != nil {
			events = f.watching.ResultChan()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
			f.stale = f.stale || f.watching == nil
			return
		case event, more := <-events:
			if !more || event.Type == watch.Error {
				f.unwatch()
			}
			f.stale = true
			if time.Since(f.lookedAt) >= f.interval {
				return
			}
		}
	}
}

func (f *follower) unwatch() {
	if f.watching != nil {
		f.watching.Stop()
		f.watching = nil
	}
}
