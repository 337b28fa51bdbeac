//go:build vcsim

package vcsim_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

const (
	datacenter = "DC0"
	datastore  = "LocalDS_0"
	address    = "127.0.0.1"
	user       = "alpha@vsphere.local"
	password   = "example-only"
)

// vcenter is the simulator, with two virtual machines that stand for Nodes.
type vcenter struct {
	port      string
	client    *vim25.Client
	datastore types.ManagedObjectReference
	// machines by the names of their Nodes.
	machines map[string]*object.VirtualMachine
	uuids    map[string]string

	mu    sync.Mutex
	moves []move
}

// move is what a client asked a virtual machine's disks to become.
type move struct {
	agent   string
	machine string
	add     bool
	disk    string
}

func startVCenter(ctx context.Context, nodes ...string) *vcenter {
	GinkgoHelper()
	model := simulator.VPX()
	model.Host, model.Machine, model.Datastore = 0, len(nodes), 1
	Expect(model.Create()).To(Succeed())
	DeferCleanup(model.Remove)
	model.Service.TLS, model.Service.RegisterEndpoints = &tls.Config{MinVersion: tls.VersionTLS12}, true
	v := &vcenter{machines: map[string]*object.VirtualMachine{}, uuids: map[string]string{}}
	model.Map().Handler = v.record
	server := model.Service.NewServer()
	DeferCleanup(server.Close)
	v.port = server.URL.Port()

	var err error
	v.client, err = vim25.NewClient(ctx, soap.NewClient(server.URL, true))
	Expect(err).NotTo(HaveOccurred())
	// The simulator calls a session what its client was called when it logged in.
	v.client.UserAgent = driver
	Expect(session.NewManager(v.client).Login(ctx, url.UserPassword(user, password))).To(Succeed())
	finder := find.NewFinder(v.client)
	store, err := finder.Datastore(ctx, "/"+datacenter+"/datastore/"+datastore)
	Expect(err).NotTo(HaveOccurred())
	v.datastore = store.Reference()
	found, err := finder.VirtualMachineList(ctx, "/"+datacenter+"/vm/*")
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(HaveLen(len(nodes)))
	for i, node := range nodes {
		v.machines[node] = found[i]
		v.uuids[node] = found[i].UUID(ctx)
		task, err := found[i].Reconfigure(ctx, types.VirtualMachineConfigSpec{
			ExtraConfig: []types.BaseOptionValue{&types.OptionValue{Key: "disk.EnableUUID", Value: "TRUE"}},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(task.Wait(ctx)).To(Succeed())
	}
	return v
}

// record every call before the simulator answers it.
func (v *vcenter) record(ctx *simulator.Context, method *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	agent := ""
	if ctx.Session != nil {
		agent = ctx.Session.UserAgent
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if request, is := method.Body.(*types.ReconfigVM_Task); is {
		for _, change := range request.Spec.DeviceChange {
			spec := change.GetVirtualDeviceConfigSpec()
			if disk, is := spec.Device.(*types.VirtualDisk); is {
				v.moves = append(v.moves, move{
					agent: agent, machine: request.This.Value, disk: fileOf(disk),
					add: spec.Operation == types.VirtualDeviceConfigSpecOperationAdd,
				})
			}
		}
	}
	return nil, nil
}

func fileOf(disk *types.VirtualDisk) string {
	if backing, is := disk.Backing.(types.BaseVirtualDeviceFileBackingInfo); is {
		return backing.GetVirtualDeviceFileBackingInfo().FileName
	}
	return ""
}

// at are the Nodes whose virtual machine has a disk now.
func (v *vcenter) at(ctx context.Context, path string) []string {
	GinkgoHelper()
	nodes, err := v.find(ctx, path)
	Expect(err).NotTo(HaveOccurred())
	return nodes
}

func (v *vcenter) find(ctx context.Context, path string) ([]string, error) {
	nodes := []string{}
	for _, node := range slices.Sorted(maps.Keys(v.machines)) {
		devices, err := v.machines[node].Device(ctx)
		if err != nil {
			return nil, err
		}
		if diskOf(devices, path) != nil {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

func diskOf(devices object.VirtualDeviceList, path string) types.BaseVirtualDevice {
	for _, device := range devices.SelectByType((*types.VirtualDisk)(nil)) {
		if fileOf(device.(*types.VirtualDisk)) == path {
			return device
		}
	}
	return nil
}

// nodeOf a virtual machine, which the driver calls by its UUID.
func (v *vcenter) nodeOf(uuid string) string {
	for node, own := range v.uuids {
		if own == uuid {
			return node
		}
	}
	return ""
}

// attach does to a virtual machine what vCenter does when the driver asks CNS to attach.
func (v *vcenter) attach(ctx context.Context, node, path string) error {
	machine := v.machines[node]
	devices, err := machine.Device(ctx)
	if err != nil {
		return err
	}
	controller, err := devices.FindDiskController("")
	if err != nil {
		return err
	}
	return machine.AddDevice(ctx, devices.CreateDisk(controller, v.datastore, path))
}

func (v *vcenter) detach(ctx context.Context, node, path string) error {
	devices, err := v.machines[node].Device(ctx)
	if err != nil {
		return err
	}
	disk := diskOf(devices, path)
	if disk == nil {
		return nil
	}
	return v.machines[node].RemoveDevice(ctx, true, disk)
}

// log is what was asked so far.
func (v *vcenter) log() []move {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.moves)
}

// follow a disk through the log: the Nodes that had it, one after the other, and who moved it there and away. A disk that is
// attached while another Node has it fails. Who takes it away where it is not any more changes nothing.
func (v *vcenter) follow(path string) []string {
	GinkgoHelper()
	names := map[string]string{}
	for node, machine := range v.machines {
		names[machine.Reference().Value] = node
	}
	steps, at := []string{}, ""
	for _, move := range v.log() {
		node := names[move.machine]
		if move.disk != path {
			continue
		}
		agent, _, _ := strings.Cut(move.agent, " ")
		if move.add {
			Expect(at).To(BeEmpty(), "%s attaches %s to %s while %s has it", agent, path, node, at)
			at, steps = node, append(steps, agent+" attaches to "+node)
			continue
		}
		if at == node {
			at, steps = "", append(steps, agent+" detaches from "+node)
		}
	}
	GinkgoWriter.Println(path+":", steps)
	return steps
}

// conf is the file of the in-tree provider.
func (v *vcenter) conf() []byte {
	return fmt.Appendf(nil, `[Global]
user = "%[1]s"
password = "%[2]s"
port = "%[3]s"
insecure-flag = "1"
vm-uuid = "00000000-0000-4000-8000-000000000000"
datacenters = "%[4]s"

[VirtualCenter "%[5]s"]

[Workspace]
server = "%[5]s"
datacenter = "%[4]s"
folder = "/%[4]s/vm"
default-datastore = "%[6]s"
resourcepool-path = "/%[4]s/host/DC0_C0/Resources"

[Disk]
scsicontrollertype = pvscsi
`, user, password, v.port, datacenter, address, datastore)
}

// makeDisk makes one that is attached nowhere, and says its path.
func (v *vcenter) makeDisk(ctx context.Context, name string) string {
	GinkgoHelper()
	found, err := find.NewFinder(v.client).Datacenter(ctx, "/"+datacenter)
	Expect(err).NotTo(HaveOccurred())
	path := fmt.Sprintf("[%s] %s.vmdk", datastore, name)
	task, err := object.NewVirtualDiskManager(v.client).CreateVirtualDisk(ctx, path, found, &types.FileBackedVirtualDiskSpec{
		VirtualDiskSpec: types.VirtualDiskSpec{
			AdapterType: string(types.VirtualDiskAdapterTypeLsiLogic), DiskType: string(types.VirtualDiskTypeThin),
		},
		CapacityKb: 1 << 20,
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(task.Wait(ctx)).To(Succeed())
	return path
}
