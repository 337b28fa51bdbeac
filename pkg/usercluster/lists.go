package usercluster

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects one answer holds at most: a user cluster may have tens of thousands of pods.
const pageSize = 500

// list reads all objects of a kind, or those that the options leave, page by page: no more of them is in memory than what is made
// of each page, and than a pass may keep. A page that is too large is asked for again with half as many objects.
func list[L client.ObjectList](ctx context.Context, c client.Reader, empty func() L, each func(L), only ...client.ListOption) error {
	return eachPage(ctx, func(ctx context.Context, limit int64, next string) (string, error) {
		page := empty()
		if err := c.List(ctx, page, append([]client.ListOption{client.Limit(limit), client.Continue(next)}, only...)...); err != nil {
			return "", err
		}
		each(page)
		return page.GetContinue(), nil
	})
}

func eachPage(ctx context.Context, ask func(ctx context.Context, limit int64, next string) (following string, err error)) error {
	budget, next := budgetOf(ctx), ""
	limit := budget.firstLimit()
	for {
		budget.limit.Store(limit)
		within, turn := withTurn(ctx)
		following, err := ask(within, limit, next)
		turn.end()
		switch {
		case errors.Is(err, errTooLarge) && limit > 1:
			limit /= 2
		case err != nil || following == "":
			return err
		case budget.kept.Load() > budget.most:
			return errTooMuch
		default:
			next = following
		}
	}
}

// pages is a list whose error says what was listed.
func pages[L client.ObjectList](ctx context.Context, c client.Reader, kind string, empty func() L, each func(L), only ...client.ListOption) error {
	if err := list(ctx, c, empty, each, only...); err != nil {
		return &lookError{because("listing "+kind+" of all namespaces", err)}
	}
	return nil
}

// smallerPages is for those who read page by page themselves: a page that is too large has fewer objects than they asked for.
type smallerPages struct{ client.Client }

// List implements client.Reader.
func (p smallerPages) List(ctx context.Context, page client.ObjectList, options ...client.ListOption) error {
	for limit := (&client.ListOptions{}).ApplyOptions(options).Limit; ; limit /= 2 {
		err := p.Client.List(ctx, page, append(slices.Clip(options), client.Limit(limit))...)
		if limit <= 1 || !errors.Is(err, errTooLarge) {
			return err
		}
	}
}

// isLastResort says that a request cannot be made smaller: it is for one object.
func isLastResort(limit string) bool {
	most, err := strconv.Atoi(limit)
	return err != nil || most <= 1
}
