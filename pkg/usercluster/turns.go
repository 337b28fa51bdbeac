package usercluster

import "context"

// turns are for the large answers of one user cluster: one at a time.
type turns chan struct{}

// turn is one that may be taken. Within a list it lasts until the page is made use of; else until the answer is read.
type turn struct{ of turns }

type turnKey struct{}

// withTurn is for one page of a list: what is taken within it ends with it.
func withTurn(ctx context.Context) (context.Context, *turn) {
	page := &turn{}
	return context.WithValue(ctx, turnKey{}, page), page
}

// take waits for a turn. That of a page, which may need several answers, is taken once.
func (t turns) take(ctx context.Context) (*turn, error) {
	page, within := ctx.Value(turnKey{}).(*turn)
	if within && page.of != nil {
		return &turn{}, nil
	}
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if within {
		page.of = t
		return &turn{}, nil
	}
	return &turn{of: t}, nil
}

func (t *turn) end() {
	if t != nil && t.of != nil {
		<-t.of
		t.of = nil
	}
}
