package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"
)

// streams tells a source which watches are open: an informer hides that it has lost one, and goes on showing what it had.
type streams struct {
	next   http.RoundTripper
	source *source
}

// RoundTrip sends a request, and notes how it ended.
func (s *streams) RoundTrip(request *http.Request) (*http.Response, error) {
	resource := path.Base(request.URL.Path)
	answer, err := s.next.RoundTrip(request)
	if err != nil {
		if request.Context().Err() == nil || resource == probed {
			s.source.failed(resource, err)
		}
		return nil, err
	}
	watch := request.URL.Query().Get("watch")
	switch is := watch == "true" || watch == "1"; {
	case is && answer.StatusCode == http.StatusOK:
		s.source.opened(resource)
		answer.Body = &stream{ReadCloser: answer.Body, ended: sync.OnceFunc(func() { s.source.ended(resource) })}
	case is && (answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError):
		// An informer tries again, and tells no one.
		s.source.failed(resource, fmt.Errorf("watch: %s", answer.Status))
	}
	return answer, nil
}

// stream says when it ends, whoever ends it.
type stream struct {
	io.ReadCloser
	ended func()
}

// Read from the stream.
func (s *stream) Read(into []byte) (int, error) {
	n, err := s.ReadCloser.Read(into)
	if err != nil {
		s.ended()
	}
	return n, err
}

// Close the stream.
func (s *stream) Close() error {
	s.ended()
	return s.ReadCloser.Close()
}
