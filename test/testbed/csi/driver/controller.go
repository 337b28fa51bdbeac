package driver

import (
	"context"
	"slices"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	gibibyte = 1 << 30
	// devicePath is the key by which the controller tells a Node where the disk is.
	devicePath = "devicePath"
)

// controller answers the provisioner and the attacher. A volume's ID is its name in the cloud.
type controller struct {
	csi.UnimplementedControllerServer

	cloud *Cloud
}

func (c *controller) ControllerGetCapabilities(
	context.Context, *csi.ControllerGetCapabilitiesRequest,
) (*csi.ControllerGetCapabilitiesResponse, error) {
	answer := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		csi.ControllerServiceCapability_RPC_LIST_VOLUMES,
		csi.ControllerServiceCapability_RPC_LIST_VOLUMES_PUBLISHED_NODES,
	} {
		answer.Capabilities = append(answer.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

func (c *controller) CreateVolume(ctx context.Context, in *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if in.GetName() == "" {
		return nil, missing("name")
	}
	if err := refuse(in.GetVolumeCapabilities()...); err != nil {
		return nil, err
	}
	if in.GetVolumeContentSource() != nil {
		return nil, status.Error(codes.InvalidArgument, "a volume starts empty: leave volume_content_source out")
	}
	wanted, limit := in.GetCapacityRange().GetRequiredBytes(), in.GetCapacityRange().GetLimitBytes()
	size := max(1, (wanted+gibibyte-1)/gibibyte)
	if limit > 0 && size*gibibyte > limit {
		return nil, status.Errorf(codes.OutOfRange, "volumes have whole GiB, and %d GiB exceed the limit of %d bytes", size, limit)
	}
	volume, err := c.cloud.create(ctx, simcloud.Volume{Name: in.GetName(), SizeGiB: size})
	if status.Code(err) == codes.FailedPrecondition {
		// It exists: a repeated call gets it if it is what is wanted.
		volume, err = c.cloud.get(ctx, in.GetName())
	}
	if err != nil {
		return nil, err
	}
	if capacity := volume.SizeGiB * gibibyte; capacity < wanted || limit > 0 && capacity > limit {
		return nil, status.Errorf(codes.AlreadyExists, "volume %s exists with %d GiB", volume.Name, volume.SizeGiB)
	}
	return &csi.CreateVolumeResponse{Volume: volumeOf(volume)}, nil
}

func (c *controller) DeleteVolume(ctx context.Context, in *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if in.GetVolumeId() == "" {
		return nil, missing("volume_id")
	}
	if err := c.cloud.remove(ctx, in.GetVolumeId()); err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (c *controller) ControllerPublishVolume(
	ctx context.Context, in *csi.ControllerPublishVolumeRequest,
) (*csi.ControllerPublishVolumeResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case in.GetNodeId() == "":
		return nil, missing("node_id")
	case in.GetReadonly():
		return nil, status.Error(codes.InvalidArgument, "a volume cannot be read-only: leave readonly out")
	}
	if err := refuse(in.GetVolumeCapability()); err != nil {
		return nil, err
	}
	volume, err := c.cloud.attach(ctx, in.GetVolumeId(), in.GetNodeId())
	if err != nil {
		return nil, err
	}
	return &csi.ControllerPublishVolumeResponse{PublishContext: map[string]string{devicePath: volume.DevicePath}}, nil
}

func (c *controller) ControllerUnpublishVolume(
	ctx context.Context, in *csi.ControllerUnpublishVolumeRequest,
) (*csi.ControllerUnpublishVolumeResponse, error) {
	if in.GetVolumeId() == "" {
		return nil, missing("volume_id")
	}
	// Without a volume or with one that is attached elsewhere, it is not attached there.
	if err := c.cloud.detach(ctx, in.GetVolumeId(), in.GetNodeId()); err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}

func (c *controller) ValidateVolumeCapabilities(
	ctx context.Context, in *csi.ValidateVolumeCapabilitiesRequest,
) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	switch {
	case in.GetVolumeId() == "":
		return nil, missing("volume_id")
	case len(in.GetVolumeCapabilities()) == 0:
		return nil, missing("volume_capabilities")
	}
	if _, err := c.cloud.get(ctx, in.GetVolumeId()); err != nil {
		return nil, err
	}
	if err := refuse(in.GetVolumeCapabilities()...); err != nil {
		return &csi.ValidateVolumeCapabilitiesResponse{Message: status.Convert(err).Message()}, nil
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext: in.GetVolumeContext(), VolumeCapabilities: in.GetVolumeCapabilities(), Parameters: in.GetParameters(),
	}}, nil
}

// ListVolumes lists them by name; a token is the name of the last one before. The attacher asks it once a minute whether
// every volume is attached where it believes.
func (c *controller) ListVolumes(ctx context.Context, in *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	volumes, err := c.cloud.list(ctx)
	if err != nil {
		return nil, err
	}
	if token := in.GetStartingToken(); token != "" {
		last := slices.IndexFunc(volumes, func(v simcloud.Volume) bool { return v.Name == token })
		if last < 0 {
			return nil, status.Errorf(codes.Aborted, "starting_token %s is no token of a list: start again", strconv.Quote(token))
		}
		volumes = volumes[last+1:]
	}
	answer := &csi.ListVolumesResponse{}
	if most := int(in.GetMaxEntries()); most > 0 && most < len(volumes) {
		volumes = volumes[:most]
		answer.NextToken = volumes[most-1].Name
	}
	for _, volume := range volumes {
		entry := &csi.ListVolumesResponse_Entry{Volume: volumeOf(volume), Status: &csi.ListVolumesResponse_VolumeStatus{}}
		if volume.AttachedTo != "" {
			entry.Status.PublishedNodeIds = []string{volume.AttachedTo}
		}
		answer.Entries = append(answer.Entries, entry)
	}
	return answer, nil
}

func volumeOf(volume simcloud.Volume) *csi.Volume {
	return &csi.Volume{VolumeId: volume.Name, CapacityBytes: volume.SizeGiB * gibibyte}
}
