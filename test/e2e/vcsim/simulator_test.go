//go:build vcsim

package vcsim_test

import (
	"context"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vmware/govmomi/cns"
	_ "github.com/vmware/govmomi/cns/simulator"
	cnstypes "github.com/vmware/govmomi/cns/types"
	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vslm"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
)

// Why the driver is played. Where these fail, the simulator has learned something, and the driver of vSphere may be tried.
var _ = Describe("The simulator, asked what the CSI driver of vSphere asks", Label(gated), func() {
	var cloud *vcenter
	var client *cns.Client
	BeforeEach(func(ctx SpecContext) {
		cloud = startVCenter(ctx, before)
		var err error
		client, err = cns.NewClient(ctx, cloud.client)
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(suite.StoryTime))

	// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/apis/migration/migration.go#L519-L560
	It("does not register an in-tree volume by its path, which is what the driver does from vSphere 7.0u1 on", func(ctx SpecContext) {
		cloud.makeDisk(ctx, "data")
		_, err := create(ctx, client, &cnstypes.CnsBlockBackingDetails{BackingDiskUrlPath: urlOf("data")})
		Expect(err).To(HaveOccurred())
		invalid := &types.InvalidArgument{}
		_, is := fault.As(err, &invalid)
		Expect(is).To(BeTrue(), "%v", err)
		GinkgoWriter.Printf("CnsCreateVolume with backingDiskUrlPath: %T of %s\n", invalid, invalid.InvalidProperty)
		Expect(invalid.InvalidProperty).To(Equal("createSpecs.datastores"), "it would make a new disk, and does not know where")
	}, SpecTimeout(suite.StoryTime))

	// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/common/cns-lib/volume/manager.go (AttachVolume)
	It("says that CNS has attached a volume, and the virtual machine has no disk", func(ctx SpecContext) {
		path := cloud.makeDisk(ctx, "data")
		registered, err := vslm.NewObjectManager(cloud.client).RegisterDisk(ctx, urlOf("data"), "data")
		Expect(err).NotTo(HaveOccurred())
		made, err := create(ctx, client, &cnstypes.CnsBlockBackingDetails{BackingDiskId: registered.Config.Id.Id})
		Expect(err).NotTo(HaveOccurred())
		task, err := client.AttachVolume(ctx, []cnstypes.CnsVolumeAttachDetachSpec{{
			VolumeId: made, Vm: cloud.machines[before].Reference(),
		}})
		Expect(err).NotTo(HaveOccurred())
		result, err := resultOf(ctx, task)
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Printf("CnsAttachVolume: %+v\n", result)
		Expect(cloud.at(ctx, path)).To(BeEmpty())
	}, SpecTimeout(suite.StoryTime))

	It("attaches a disk to a second virtual machine, where a host has locked its file", func(ctx SpecContext) {
		two := startVCenter(ctx, before, after)
		path := two.makeDisk(ctx, "data")
		Expect(two.attach(ctx, before, path)).To(Succeed())
		Expect(two.attach(ctx, after, path)).To(Succeed())
		Expect(two.at(ctx, path)).To(Equal([]string{before, after}))
	}, SpecTimeout(suite.StoryTime))
})

// urlOf is how the driver calls a disk of makeDisk.
func urlOf(name string) string {
	return "https://" + address + "/folder/" + name + ".vmdk?dcPath=" + url.PathEscape(datacenter) +
		"&dsName=" + url.PathEscape(datastore)
}

func create(ctx context.Context, client *cns.Client, details *cnstypes.CnsBlockBackingDetails) (cnstypes.CnsVolumeId, error) {
	GinkgoHelper()
	task, err := client.CreateVolume(ctx, []cnstypes.CnsVolumeCreateSpec{{
		Name: "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c", VolumeType: string(cnstypes.CnsVolumeTypeBlock), BackingObjectDetails: details,
		Metadata: cnstypes.CnsVolumeMetadata{ContainerCluster: cnstypes.CnsContainerCluster{
			ClusterType: string(cnstypes.CnsClusterTypeKubernetes), ClusterId: cluster, VSphereUser: user,
		}},
	}})
	Expect(err).NotTo(HaveOccurred())
	result, err := resultOf(ctx, task)
	if err != nil {
		return cnstypes.CnsVolumeId{}, err
	}
	return result.VolumeId, nil
}

// resultOf a task about one volume.
func resultOf(ctx context.Context, task *object.Task) (*cnstypes.CnsVolumeOperationResult, error) {
	GinkgoHelper()
	info, err := task.WaitForResult(ctx, nil)
	if err != nil {
		return nil, err
	}
	batch, is := info.Result.(cnstypes.CnsVolumeOperationBatchResult)
	Expect(is).To(BeTrue(), "%T", info.Result)
	Expect(batch.VolumeResults).To(HaveLen(1))
	return batch.VolumeResults[0].GetCnsVolumeOperationResult(), nil
}
