package baseline

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestBaselineRoundTrip(t *testing.T) {
	g := NewWithT(t)
	one, err := Encode(whole())
	g.Expect(err).NotTo(HaveOccurred())
	two, err := Encode(whole())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one).To(Equal(two))
	decoded, err := Decode(map[string][]byte{Key: one})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(decoded.Digest()).To(Equal(whole().Digest()))
}

// TestBaselinesOfTheFirstReleasesAreRead keeps the very bytes that they wrote, and the digest in their status.
func TestBaselinesOfTheFirstReleasesAreRead(t *testing.T) {
	g := NewWithT(t)
	const old = `{"loadBalancers":[{"namespace":"web","name":"front","uid":"lb","ingress":["192.0.2.1"]}],` +
		`"volumes":[{"name":"pv","uid":"pv","phase":"Bound","claim":"web/data"}],` +
		`"nodes":[{"name":"n1","uid":"u","addresses":["InternalIP 10.0.0.4"]}]}`
	inventory, err := Decode(map[string][]byte{OldKey: []byte(old)})
	g.Expect(err).NotTo(HaveOccurred())
	again, err := json.Marshal(inventory)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(again)).To(Equal(old))
}

func TestBaselinesThatCannotBeRead(t *testing.T) {
	for name, data := range map[string]map[string][]byte{
		"nothing":         nil,
		"no JSON":         {OldKey: []byte("password: secret")},
		"not packed":      {Key: []byte("password: secret")},
		"cut in the half": {Key: mustPack()[:20]},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Decode(data)
			g.Expect(err).To(HaveOccurred())
			g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
		})
	}
}

func mustPack() []byte {
	data, err := Encode(whole())
	if err != nil {
		panic(err)
	}
	return data
}

func TestTheInventoryOfALargeClusterFitsIntoASecret(t *testing.T) {
	g := NewWithT(t)
	inventory := observation.Inventory{Version: observation.InventoryVersion}
	for i := range 5000 {
		id := observation.Inventory{Routes: i + 1}.Digest() // As good as random.
		inventory.Nodes = append(inventory.Nodes,
			observation.NodeRecord{Name: "workers-" + id[:5], UID: id[:32], ProviderID: "openstack:///" + id[20:52],
				Addresses: []string{fmt.Sprintf("InternalIP 10.%d.%d.%d", i%200, i%97, i%251)}, Machine: id[10:42],
				Labels: map[string]string{"topology.kubernetes.io/zone": "a", "node.kubernetes.io/instance-type": "m1.large"}})
		inventory.Volumes = append(
			inventory.Volumes, observation.Volume{Name: "pvc-" + id[32:], UID: id[:32], Phase: "Bound", Claim: "web/data-" + id[:4]},
		)
	}
	packed, err := Encode(inventory)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(packed)).To(BeNumerically("<", mostBaseline))
	for i := range 60000 {
		inventory.Volumes = append(inventory.Volumes, observation.Volume{Name: observation.Inventory{Routes: i + 1}.Digest()})
	}
	_, err = Encode(inventory)
	g.Expect(err).To(MatchError(ContainSubstring("a Secret holds")))
}
