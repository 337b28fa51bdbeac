package reads

import "context"

// Turns are for the large answers of one user cluster: one at a time.
type Turns chan struct{}

// Turn is one that may be taken. Within a list it lasts until the page is made use of; else until the answer is read.
type Turn struct{ of Turns }

type turnKey struct{}

// withTurn is for one page of a list: what is taken within it ends with it.
func withTurn(ctx context.Context) (context.Context, *Turn) {
	page := &Turn{}
	return context.WithValue(ctx, turnKey{}, page), page
}

// Take waits for a turn. That of a page, which may need several answers, is taken once.
func (t Turns) Take(ctx context.Context) (*Turn, error) {
	page, within := ctx.Value(turnKey{}).(*Turn)
	if within && page.of != nil {
		return &Turn{}, nil
	}
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if within {
		page.of = t
		return &Turn{}, nil
	}
	return &Turn{of: t}, nil
}

// End lets the next one have its turn; that of a list's page ends with the page.
func (t *Turn) End() {
	if t != nil && t.of != nil {
		<-t.of
		t.of = nil
	}
}
