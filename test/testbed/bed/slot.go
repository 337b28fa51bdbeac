package bed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

const (
	// slotSize is how many clusters a testbed may have; their addresses are 127.(slot*slotSize+number).0.0/16.
	slotSize = 10
	slots    = 15
	// slotPort is where a testbed listens as long as it holds its slot.
	slotPort = 1034
)

// takeSlot finds addresses that no other testbed on this machine uses, and holds them until the listener is closed:
// two testbeds, such as make testbed and make test, would otherwise take each other's addresses.
func takeSlot(ctx context.Context) (slot int, held net.Listener, err error) {
	for slot := range slots {
		address := fmt.Sprintf("127.%d.0.1:%d", slot*slotSize+1, slotPort)
		held, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err == nil {
			return slot, held, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("%d testbeds run on this machine already; end one", slots)
}
