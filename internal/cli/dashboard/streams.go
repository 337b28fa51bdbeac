package dashboard

import (
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
	if watch := request.URL.Query().Get("watch"); answer.StatusCode == http.StatusOK && (watch == "true" || watch == "1") {
		s.source.opened(resource)
		answer.Body = &stream{ReadCloser: answer.Body, ended: sync.OnceFunc(func() { s.source.ended(resource) })}
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
