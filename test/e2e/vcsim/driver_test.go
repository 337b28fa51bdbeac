//go:build vcsim

package vcsim_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// playedDriver attaches as the driver of vSphere has vCenter do, but without CNS: a volume's ID is its path, as CSI migration has it.
// The real one cannot work with the simulator, see simulator_test.go.
type playedDriver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer

	cloud *vcenter

	mu sync.Mutex
	// refused are the attempts to attach a disk that another virtual machine has.
	refused int
}

// startDriver has the external-attacher that others wrote call the driver.
func (w *world) startDriver() *playedDriver {
	GinkgoHelper()
	d := &playedDriver{cloud: w.cloud}
	// A socket's path is bounded, and that of the records may be long.
	folder, err := os.MkdirTemp("", "vcsim-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, folder)
	socket := filepath.Join(folder, "csi.sock")
	var config net.ListenConfig
	listener, err := config.Listen(w.ctx, "unix", socket)
	Expect(err).NotTo(HaveOccurred())
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, d)
	csi.RegisterControllerServer(server, d)
	go func() { _ = server.Serve(listener) }()
	DeferCleanup(server.Stop)
	attacher, err := w.supervisor.Start(process.Options{
		Name: "csi-attacher", Command: filepath.Join(suite.Binaries(), "csi-attacher"), LogFile: w.file("csi-attacher.log"),
		Args: []string{
			"--csi-address=" + socket, "--kubeconfig=" + w.control.Files().AdminKubeconfig, "--v=4", "--retry-interval-max=5s",
		},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(attacher.Kill)
	return d
}

func (d *playedDriver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driver, VendorVersion: "played"}, nil
}

func (d *playedDriver) GetPluginCapabilities(
	context.Context, *csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{Type: &csi.PluginCapability_Service_{
		Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE},
	}}}}, nil
}

func (d *playedDriver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (d *playedDriver) ControllerGetCapabilities(
	context.Context, *csi.ControllerGetCapabilitiesRequest,
) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{{
		Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{
			Type: csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		}},
	}}}, nil
}

// ControllerPublishVolume refuses a disk that another virtual machine has, which the simulator does not: a host locks the file.
func (d *playedDriver) ControllerPublishVolume(
	ctx context.Context, in *csi.ControllerPublishVolumeRequest,
) (*csi.ControllerPublishVolumeResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.cloud.nodeOf(in.GetNodeId())
	at, err := d.cloud.find(ctx, in.GetVolumeId())
	switch {
	case err != nil:
		return nil, status.Error(codes.Internal, err.Error())
	case len(at) > 0 && at[0] != node:
		d.refused++
		return nil, status.Errorf(codes.Internal, "%s has %s, and its host has locked the file", at[0], in.GetVolumeId())
	case len(at) == 0:
		if err := d.cloud.attach(ctx, node, in.GetVolumeId()); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
	}
	return &csi.ControllerPublishVolumeResponse{}, nil
}

// ControllerUnpublishVolume succeeds where the disk is not attached.
func (d *playedDriver) ControllerUnpublishVolume(
	ctx context.Context, in *csi.ControllerUnpublishVolumeRequest,
) (*csi.ControllerUnpublishVolumeResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.cloud.detach(ctx, d.cloud.nodeOf(in.GetNodeId()), in.GetVolumeId()); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}

// refusals so far.
func (d *playedDriver) refusals() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}
