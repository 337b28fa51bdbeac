package kubelet

import (
	"errors"
	"fmt"
	"sync"
)

const (
	// firstAddress leaves room below for servers that are no Pods.
	firstAddress = 10
	lastAddress  = 0xfffe
)

// errNoAddress means that a cluster runs more Pods than it has addresses.
var errNoAddress = errors.New("no Pod address is free")

// addresses hands out the loopback addresses of one cluster, upwards, so that an
// address is not reused while someone may still remember its last owner.
type addresses struct {
	index int

	mu   sync.Mutex
	next int
	used map[string]bool
}

func newAddresses(index int) *addresses {
	return &addresses{index: index, next: firstAddress, used: map[string]bool{}}
}

func (a *addresses) take() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range lastAddress {
		ip := fmt.Sprintf("127.%d.%d.%d", a.index, a.next>>8, a.next&0xff)
		if a.next++; a.next > lastAddress {
			a.next = firstAddress
		}
		if !a.used[ip] {
			a.used[ip] = true
			return ip, nil
		}
	}
	return "", errNoAddress
}

func (a *addresses) release(ip string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, ip)
}

// host is the address of a Node that has none in its status.
func (a *addresses) host() string { return fmt.Sprintf("127.%d.0.1", a.index) }
