package apiserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// backendPatience is for one address: the next one may answer.
const backendPatience = 2 * time.Second

// Front takes the place of the API server, which ends: from now on whoever comes to its address is passed on to an API server
// that runs elsewhere, as a load balancer does. Its addresses are asked for each connection, the best first. It returns when ctx
// ends.
func (c *Cluster) Front(ctx context.Context, addresses func(context.Context) ([]string, error)) error {
	if err := c.StopAPIServer(ctx); err != nil {
		return err
	}
	listener, err := c.listen(ctx)
	if err != nil {
		return fmt.Errorf("take the place of the API server of cluster %s: %w", c.options.Name, err)
	}
	return Forward(ctx, listener, addresses)
}

// Forward passes whoever comes to the listener on to the first of the addresses that answers, as a Service does. It closes the
// listener when ctx ends.
func Forward(ctx context.Context, listener net.Listener, addresses func(context.Context) ([]string, error)) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		from, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		connections.Go(func() { pass(ctx, from, addresses) })
	}
}

// listen shares the port with the socket that reserves it.
func (c *Cluster) listen(ctx context.Context) (net.Listener, error) {
	share := func(_, _ string, connection syscall.RawConn) error {
		var failed error
		err := connection.Control(func(socket uintptr) {
			failed = unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return failed
	}
	config := net.ListenConfig{Control: share}
	return config.Listen(ctx, "tcp", fmt.Sprintf("%s:%d", loopback, c.ports.apiserver.number))
}

// pass joins a connection with the first address that answers, until either side ends it. A client that is turned away comes
// again.
func pass(ctx context.Context, from net.Conn, addresses func(context.Context) ([]string, error)) {
	defer func() { _ = from.Close() }()
	all, err := addresses(ctx)
	if err != nil {
		return
	}
	for _, address := range all {
		to, err := (&net.Dialer{Timeout: backendPatience}).DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		end := sync.OnceFunc(func() { _, _ = from.Close(), to.Close() })
		stop := context.AfterFunc(ctx, end)
		defer stop()
		var both sync.WaitGroup
		for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
			both.Go(func() {
				defer end()
				_, _ = io.Copy(way[1], way[0])
			})
		}
		both.Wait()
		return
	}
}
