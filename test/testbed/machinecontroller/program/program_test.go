package program_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		args       []string
		external   bool
		kubeconfig string
		wrong      string
	}{
		"no flags keep the defaults":      {},
		"a bare single-dash bool is true": {args: []string{"-node-external-cloud-provider"}, external: true},
		"a bool with =true is true":       {args: []string{"-node-external-cloud-provider=true"}, external: true},
		"a bool with =false is false":     {args: []string{"-node-external-cloud-provider=false"}},
		"two dashes work as well": {
			args:       []string{"--node-external-cloud-provider", "--kubeconfig=x"},
			external:   true,
			kubeconfig: "x",
		},
		"a value may be the next argument": {
			args:       []string{"-kubeconfig", "x", "-node-external-cloud-provider"},
			external:   true,
			kubeconfig: "x",
		},
		"flags of the real binary are accepted": {args: []string{"-worker-count", "5", "-node-csr-approver"}},
		"an unknown flag is refused":            {args: []string{"-no-such-flag"}, wrong: "no-such-flag"},
		"a bool with a detached value is refused": {
			args:  []string{"-node-external-cloud-provider", "true"},
			wrong: "takes no arguments",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var external bool
			var kubeconfig string
			_, err := program.Parse("p", test.args, io.Discard, func(flags *flag.FlagSet) program.Run {
				flags.BoolVar(&external, "node-external-cloud-provider", false, "")
				flags.StringVar(&kubeconfig, "kubeconfig", "", "")
				program.Ignore(flags, "worker-count")
				program.IgnoreBool(flags, "node-csr-approver")
				return nil
			})
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(external).To(Equal(test.external))
			g.Expect(kubeconfig).To(Equal(test.kubeconfig))
		})
	}
}

func TestHandle(t *testing.T) {
	tests := map[string]struct {
		ready bool
		want  int
	}{
		"ready answers 200":     {true, http.StatusOK},
		"not ready answers 503": {false, http.StatusServiceUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			mux := http.NewServeMux()
			program.Handle(mux, func() bool { return test.ready })
			for _, path := range []string{"/healthz", "/readyz"} {
				answer := httptest.NewRecorder()
				mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
				g.Expect(answer.Code).To(Equal(test.want), path)
			}
		})
	}
}

func TestServeHealthEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- program.ServeHealth(ctx, "127.0.0.1:0", func() bool { return true }) }()
	cancel()
	g.Eventually(done).WithTimeout(5 * time.Second).Should(Receive(BeNil()))
}
