package claims

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// callTime bounds what a driver is asked at once; the kubelet tries again.
const callTime = 10 * time.Second

// Socket is where the driver of a Node listens, as the Node sees it.
func Socket(driver string) string { return filepath.Join(kubeletDir, "plugins", driver, "csi.sock") }

// ask connects to a driver for as long as it is asked something.
func (n Node) ask(ctx context.Context, driver string, what func(context.Context, csi.NodeClient) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	socket := filepath.Join(n.Root, Socket(driver))
	// The path of a socket has 108 bytes at most; that of its folder, by a number, is short.
	folder, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return fmt.Errorf("find CSI driver %s on Node %s: %w", driver, n.Name, err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	path := fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(socket))
	connection, err := grpc.NewClient("passthrough:///"+driver, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	if err != nil {
		return fmt.Errorf("connect to CSI driver %s on Node %s: %w", driver, n.Name, err)
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	return what(ctx, csi.NewNodeClient(connection))
}
