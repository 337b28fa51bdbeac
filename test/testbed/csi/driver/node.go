package driver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// stagedDisk is the link in a staging folder.
const stagedDisk = "disk"

// node answers the kubelet of one Node, whose ID is the name of its instance.
type node struct {
	csi.UnimplementedNodeServer

	name string
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.name}, nil
}

func (n *node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: []*csi.NodeServiceCapability{{
		Type: &csi.NodeServiceCapability_Rpc{
			Rpc: &csi.NodeServiceCapability_RPC{Type: csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME},
		},
	}}}, nil
}

func (n *node) NodeStageVolume(_ context.Context, in *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case in.GetStagingTargetPath() == "":
		return nil, missing("staging_target_path")
	}
	if err := refuse(in.GetVolumeCapability()); err != nil {
		return nil, err
	}
	disk := in.GetPublishContext()[devicePath]
	if info, err := os.Stat(disk); err != nil || !info.IsDir() {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is not attached: there is no disk %q", in.GetVolumeId(), disk)
	}
	if err := link(disk, filepath.Join(in.GetStagingTargetPath(), stagedDisk)); err != nil {
		return nil, err
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

func (n *node) NodeUnstageVolume(_ context.Context, in *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case in.GetStagingTargetPath() == "":
		return nil, missing("staging_target_path")
	}
	if err := unlink(filepath.Join(in.GetStagingTargetPath(), stagedDisk)); err != nil {
		return nil, err
	}
	return &csi.NodeUnstageVolumeResponse{}, nil
}

func (n *node) NodePublishVolume(_ context.Context, in *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case in.GetTargetPath() == "":
		return nil, missing("target_path")
	case in.GetStagingTargetPath() == "":
		return nil, missing("staging_target_path")
	case in.GetReadonly():
		return nil, status.Error(codes.InvalidArgument, "a volume cannot be read-only: leave readonly out")
	}
	if err := refuse(in.GetVolumeCapability()); err != nil {
		return nil, err
	}
	disk, err := os.Readlink(filepath.Join(in.GetStagingTargetPath(), stagedDisk))
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is not staged: %v", in.GetVolumeId(), err)
	}
	if err := link(disk, in.GetTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (n *node) NodeUnpublishVolume(
	_ context.Context, in *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case in.GetTargetPath() == "":
		return nil, missing("target_path")
	}
	if err := unlink(in.GetTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// link makes path lead to disk; a link that does is left alone, and one that leads elsewhere is another volume's.
func link(disk, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return status.Errorf(codes.Internal, "make the folder of %s: %v", path, err)
	}
	err := os.Symlink(disk, path)
	if there, unread := os.Readlink(path); errors.Is(err, fs.ErrExist) && unread == nil && there == disk {
		return nil
	}
	if err != nil {
		return status.Errorf(codes.Internal, "show the disk at %s: %v", path, err)
	}
	return nil
}

func unlink(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return status.Errorf(codes.Internal, "take the disk from %s: %v", path, err)
	}
	return nil
}
