package apiserver

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// loopback is the address of every server of a control plane.
const loopback = "127.0.0.1"

// port is a TCP port that stays ours while its server restarts: a socket is bound
// to it but does not listen, and the servers share the port (SO_REUSEPORT).
type port struct {
	number, socket int
}

type ports struct {
	etcd, apiserver port
}

func reservePort() (port, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return port{}, fmt.Errorf("reserve a port: %w", err)
	}
	number, err := bindAny(socket)
	if err != nil {
		_ = unix.Close(socket)
		return port{}, fmt.Errorf("reserve a port: %w", err)
	}
	return port{number: number, socket: socket}, nil
}

func bindAny(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	return address.(*unix.SockaddrInet4).Port, nil
}

func (p port) release() {
	if p.socket != 0 {
		_ = unix.Close(p.socket)
	}
}

func reservePorts() (ports, error) {
	etcd, err := reservePort()
	if err != nil {
		return ports{}, err
	}
	apiserver, err := reservePort()
	if err != nil {
		etcd.release()
		return ports{}, err
	}
	return ports{etcd: etcd, apiserver: apiserver}, nil
}

func (p ports) release() {
	p.etcd.release()
	p.apiserver.release()
}
