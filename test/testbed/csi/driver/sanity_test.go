package driver_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	. "github.com/onsi/gomega"
	"google.golang.org/grpc"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi/driver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const instance = "node-1"

// TestCSISanity is the conformance test of CSI: https://github.com/kubernetes-csi/csi-test/tree/v5.4.0/pkg/sanity
func TestCSISanity(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "csi.sock")
	ctx, cancel := context.WithCancel(t.Context())
	served, d := make(chan error, 1), newDriver(t, dir)
	go func() { served <- d.Serve(ctx, socket) }()

	config := sanity.NewTestConfig()
	config.Address = "passthrough:///" + socket
	config.DialOptions = append(config.DialOptions, grpc.WithContextDialer(dialSlowly))
	config.TargetPath, config.StagingPath = filepath.Join(dir, "target"), filepath.Join(dir, "staging")
	sanity.Test(t, config)

	cancel()
	NewWithT(t).Eventually(served).Should(Receive(BeNil()))
}

// dialSlowly makes up for a race of the suite: it dials, and then waits until the state of the connection changes, which it does
// no more when it is ready before: https://github.com/kubernetes-csi/csi-test/blob/v5.4.0/utils/grpcutil.go, Connect.
func dialSlowly(ctx context.Context, socket string) (net.Conn, error) {
	select {
	case <-time.After(time.Second):
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newDriver serves both the controller and one Node of a cloud with one instance.
func newDriver(t *testing.T, dir string) *driver.Driver {
	g := NewWithT(t)
	server := simcloud.New(simcloud.Options{Disks: filepath.Join(dir, "disks")})
	server.AddCluster("alpha", "secret")
	url, err := server.Start("127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })

	body := strings.NewReader(`{"name":"` + instance + `"}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/clusters/alpha/instances", body)
	g.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer secret")
	answer, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Body.Close()).To(Succeed())
	g.Expect(answer.StatusCode).To(Equal(http.StatusCreated))

	config := cloud.Config{Endpoint: url, Cluster: "alpha", Token: "secret"}
	return &driver.Driver{Name: "csi.simcloud.example", Cloud: driver.NewCloud(config, "csi-driver", "here"), Node: instance}
}
