//go:build realprovider

package provider_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// joining is a Node that its kubelet registered with the taint; the clouds know a machine of that name.
const (
	joining = "joining"
	address = "192.0.2.10"
)

// standIn plays what a CCM asks its cloud before it elects, and for a Node that joins.
type standIn struct {
	config map[string][]byte
	// env is what only a test sets, so that everything is asked on this machine.
	env []corev1.EnvVar
	// providerID, zone and region of the machine; empty without a cloud.
	providerID, zone, region string
}

// without a cloud: those of vsphere and azure elect before they ask it.
func without(profile provider.Profile) standIn { return standIn{config: profile.Example()} }

// hetzner has a network, a location, and a server in both.
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.30.1/hcloud/cloud.go (NewCloud, Location.List)
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.30.1/hcloud/instances.go (lookupServer)
func hetzner(profile provider.Profile) standIn {
	type object = map[string]any
	location := object{"id": 1, "name": "fsn1", "network_zone": "eu-central"}
	server := object{
		"id": 42, "name": joining, "status": "running", "server_type": object{"id": 1, "name": "cx23"}, "location": location,
		"datacenter":  object{"id": 4, "name": "fsn1-dc14", "location": location},
		"private_net": []object{{"network": 7, "ip": address}},
	}
	url := serve(map[string]any{
		"GET /v1/networks":   object{"networks": []object{{"id": 7, "name": "alpha"}}},
		"GET /v1/locations":  object{"locations": []object{location}},
		"GET /v1/servers":    object{"servers": []object{server}},
		"GET /v1/servers/42": object{"server": server},
	})
	return standIn{
		config: profile.Example(), env: []corev1.EnvVar{{Name: "HCLOUD_ENDPOINT", Value: url + "/v1"}},
		providerID: "hcloud://42", zone: "fsn1-dc14", region: "fsn1",
	}
}

// gcp has one zone, one machine in it, tokens, and a metadata server that knows nothing.
// https://github.com/kubernetes/cloud-provider-gcp/blob/ccm/v30.0.0/providers/gce/gce.go (CreateGCECloud, getZonesForRegion)
// https://github.com/kubernetes/cloud-provider-gcp/blob/ccm/v30.0.0/providers/gce/gce_instances.go (InstanceMetadata)
func gcp(profile provider.Profile) standIn {
	type object = map[string]any
	const compute, zone = "/compute/v1/projects/alpha/zones", "europe-west3-a"
	url := serve(map[string]any{
		"POST /token":    object{"access_token": "example-only", "token_type": "Bearer", "expires_in": 3600},
		"GET " + compute: object{"items": []object{{"name": zone, "status": "UP", "region": "regions/europe-west3"}}},
		"GET " + compute + "/" + zone + "/instances/" + joining: object{
			"id": "42", "name": joining, "status": "RUNNING", "zone": "zones/" + zone, "machineType": "machineTypes/e2-small",
			"networkInterfaces": []object{{"networkIP": address, "network": "networks/default"}},
		},
	})
	config := profile.Example()
	config["gce.conf"] = append(config["gce.conf"], "api-endpoint = "+url+"/compute/v1/\n"...)
	credentials := object{}
	Expect(json.Unmarshal(config["cloud-sa.json"], &credentials)).To(Succeed())
	credentials["private_key"], credentials["token_uri"] = privateKey(), url+"/token"
	config["cloud-sa.json"], _ = json.Marshal(credentials)
	return standIn{
		config: config, env: []corev1.EnvVar{{Name: "GCE_METADATA_HOST", Value: url[len("http://"):]}},
		providerID: "gce://alpha/" + zone + "/" + joining, zone: zone, region: "europe-west3",
	}
}

func serve(answers map[string]any) (url string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		GinkgoWriter.Println("not played:", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	})
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	server := httptest.NewServer(mux)
	DeferCleanup(server.Close)
	return server.URL
}

func privateKey() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}
