package reads

import (
	"context"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RequestTimeout bounds every read and write; watches have none.
const RequestTimeout = 10 * time.Second

// PageSize is how many objects one answer holds at most: a user cluster may have tens of thousands of pods.
const PageSize = 500

// List reads all objects of a kind, or those that the options leave, page by page: no more of them is in memory than what is made
// of each page, and than a pass may keep. A page that is too large is asked for again with half as many objects.
func List[L client.ObjectList](
	ctx context.Context,
	c client.Reader,
	empty func() L,
	each func(L),
	only ...client.ListOption,
) error {
	return EachPage(ctx, func(ctx context.Context, limit int64, next string) (string, error) {
		page := empty()
		if err := c.List(ctx, page, append([]client.ListOption{client.Limit(limit), client.Continue(next)}, only...)...); err != nil {
			return "", err
		}
		each(page)
		return page.GetContinue(), nil
	})
}

// EachPage asks for one page after the other; ask says what follows. Each page is made use of before the next one comes.
func EachPage(ctx context.Context, ask func(ctx context.Context, limit int64, next string) (following string, err error)) error {
	budget, next := budgetOf(ctx), ""
	limit := budget.firstLimit()
	for {
		budget.limit.Store(limit)
		within, turn := withTurn(ctx)
		following, err := ask(within, limit, next)
		turn.End()
		switch {
		case errors.Is(err, ErrTooLarge) && limit > 1:
			limit /= 2
		case err != nil || following == "":
			return err
		case budget.kept.Load() > budget.most:
			return ErrTooMuch
		default:
			next = following
		}
	}
}

// Pages is a list whose error says what was listed.
func Pages[L client.ObjectList](
	ctx context.Context,
	c client.Reader,
	kind string,
	empty func() L,
	each func(L),
	only ...client.ListOption,
) error {
	if err := List(ctx, c, empty, each, only...); err != nil {
		return Unseen(Because("listing "+kind+" of all namespaces", err))
	}
	return nil
}

// Each is Pages for one object after another. What is kept of an object is kept by Keep: its page is let go.
func Each[L, T any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, c client.Reader, kind string, items func(P) []T, each func(*T)) error {
	return Pages(ctx, c, kind, func() P { return new(L) }, func(page P) {
		list := items(page)
		for i := range list {
			each(&list[i])
		}
	})
}

// Smaller is for those who read page by page themselves: a page that is too large has fewer objects than they asked for.
type Smaller struct{ client.Client }

// List implements client.Reader.
func (p Smaller) List(ctx context.Context, page client.ObjectList, options ...client.ListOption) error {
	for limit := (&client.ListOptions{}).ApplyOptions(options).Limit; ; limit /= 2 {
		err := p.Client.List(ctx, page, append(slices.Clip(options), client.Limit(limit))...)
		if limit <= 1 || !errors.Is(err, ErrTooLarge) {
			return err
		}
	}
}
