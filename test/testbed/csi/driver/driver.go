package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// vendorVersion is what sidecars log.
const vendorVersion = "1.0.0"

// Driver is one process of the driver.
type Driver struct {
	// Name of the driver, in CSIDriver and CSINodes.
	Name string
	// Cloud makes the process serve the controller.
	Cloud *Cloud
	// Node is the name of an instance, and makes the process serve its Node.
	Node string
}

// Serve answers on the unix socket until ctx ends.
func (d *Driver) Serve(ctx context.Context, socket string) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return fmt.Errorf("make the folder of the socket: %w", err)
	}
	// That of a process that was killed would be in the way.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a former socket: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listen for calls of sidecars and kubelets: %w", err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, &identity{name: d.Name})
	if d.Cloud != nil {
		csi.RegisterControllerServer(server, &controller{cloud: d.Cloud})
	}
	if d.Node != "" {
		csi.RegisterNodeServer(server, &node{name: d.Node})
	}
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve on %s: %w", socket, err)
	}
	return nil
}

type identity struct {
	csi.UnimplementedIdentityServer

	name string
}

func (i *identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: i.name, VendorVersion: vendorVersion}, nil
}

func (i *identity) GetPluginCapabilities(
	context.Context, *csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{
			Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE},
		},
	}}}, nil
}

func (i *identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func missing(field string) error { return status.Errorf(codes.InvalidArgument, "%s is missing", field) }

// refuse says what of the capabilities no volume has.
func refuse(wanted ...*csi.VolumeCapability) error {
	if len(wanted) == 0 || wanted[0] == nil {
		return missing("volume_capability")
	}
	for _, capability := range wanted {
		if capability.GetBlock() != nil {
			return status.Error(codes.InvalidArgument, "a volume is a folder: ask for a mount in place of a block device")
		}
		switch mode := capability.GetAccessMode().GetMode(); mode {
		case csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY:
		default:
			return status.Errorf(codes.InvalidArgument, "a volume is for one Node: access mode %s is not possible", mode)
		}
	}
	return nil
}
