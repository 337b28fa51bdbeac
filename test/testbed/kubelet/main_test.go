package kubelet_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// serverName is the process image that the test binary itself is.
const serverName = "tiny-server"

// TestMain lets the test binary be its own shim and the program that Pods run.
func TestMain(m *testing.M) {
	switch {
	case filepath.Base(os.Args[0]) == serverName:
		os.Exit(serve())
	case len(os.Args) > 1 && os.Args[1] == "shim":
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve answers on the address of its first argument until SIGTERM, which the
// variable STUBBORN makes it ignore.
func serve() int {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	var sick atomic.Bool
	http.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) {
		if sick.Load() {
			answer.WriteHeader(http.StatusInternalServerError)
		}
	})
	http.HandleFunc("/sicken", func(http.ResponseWriter, *http.Request) { sick.Store(true) })
	http.HandleFunc("/exit", func(_ http.ResponseWriter, request *http.Request) {
		code, _ := strconv.Atoi(request.URL.Query().Get("code"))
		os.Exit(code)
	})
	http.HandleFunc("/hostname", func(answer http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprint(answer, name)
	})
	http.HandleFunc("/env", func(answer http.ResponseWriter, request *http.Request) {
		fmt.Fprint(answer, os.Getenv(request.URL.Query().Get("name")))
	})
	http.HandleFunc("/file", func(answer http.ResponseWriter, request *http.Request) {
		content, err := os.ReadFile(request.URL.Query().Get("path"))
		if err != nil {
			fmt.Fprint(answer, err)
			return
		}
		_, _ = answer.Write(content)
	})
	server := &http.Server{Addr: os.Args[1]}
	go func() {
		for range terminated {
			fmt.Println("terminated")
			if os.Getenv("STUBBORN") == "" {
				_ = server.Shutdown(context.Background())
			}
		}
	}()
	fmt.Println("listening on", os.Args[1])
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Println(err)
		return 1
	}
	return 0
}
