package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// shutdownTime is what requests in flight get after SIGTERM.
const shutdownTime = 2 * time.Second

// Handle adds /healthz and /readyz to mux; both answer 503 while ready says no.
func Handle(mux *http.ServeMux, ready func() bool) {
	answer := func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		// A prober that hung up is no error of ours.
		_, _ = w.Write([]byte("ok"))
	}
	mux.HandleFunc("/healthz", answer)
	mux.HandleFunc("/readyz", answer)
}

// ServeHealth answers /healthz and /readyz on address until ctx ends; an empty
// address serves nothing and just waits.
func ServeHealth(ctx context.Context, address string, ready func() bool) error {
	if address == "" || address == "0" {
		<-ctx.Done()
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on health address %s: %w", address, err)
	}
	mux := http.NewServeMux()
	Handle(mux, ready)
	return Serve(ctx, &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, listener)
}

// Serve runs server on listener, with TLS if the server has a TLS configuration,
// until ctx ends, then lets requests in flight end.
func Serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
	select {
	case err := <-failed:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		// The process ends now anyway; a client that is still there is cut off.
		return server.Close()
	}
	return nil
}
