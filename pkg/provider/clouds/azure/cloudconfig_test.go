package azure_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/azure"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	password = "example-only-hunter2"
	network  = `"tenantId": "t", "subscriptionId": "s", "resourceGroup": "g", "location": "l", ` +
		`"vnetName": "v", "subnetName": "n", "securityGroupName": "x"`
	client   = network + `, "aadClientId": "c", "aadClientSecret": "` + password + `"`
	identity = network + `, "useManagedIdentityExtension": true`
	file     = network + `, "aadClientId": "c", "aadClientCertPath": "/etc/azure/client.pem", "aadClientCertPassword": "` +
		password + `"`
	pemFile = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
)

func inFile(keys string) map[string][]byte {
	return map[string][]byte{"azure.json": []byte("{" + keys + "}")}
}

func withCertificate(keys, content string) map[string][]byte {
	data := inFile(keys)
	data["client.pem"] = []byte(content)
	return data
}

func migrated() ucv1.InheritedConfiguration {
	return ucv1.InheritedConfiguration{
		ClusterName: "kubernetes", Loops: []string{observation.ServiceLoop, observation.CloudNodeLifecycleLoop},
	}
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"a client with a secret":               inFile(client),
		"the in-tree provider's Secret":        {"cloud-config": []byte("{" + client + "}")},
		"a managed identity":                   inFile(identity + `, "userAssignedIdentityID": "u"`),
		"placeholders beside an identity":      inFile(identity + `, "aadClientId": "msi", "aadClientSecret": "msi"`),
		"a certificate as PEM":                 withCertificate(file, pemFile),
		"a certificate as PKCS #12":            withCertificate(file, "\x30\x82"),
		"names without regard to case":         inFile(network + `, "AADClientID": "c", "aadclientsecret": "` + password + `"`),
		"values without regard to case":        inFile(client + `, "vmType": "VMSS", "loadBalancerSku": "Standard", "cloud": "AZURECHINACLOUD"`),
		"YAML":                                 {"azure.json": []byte("aadClientId: c\naadClientSecret: p\n" + "tenantId: t\nsubscriptionId: s\nresourceGroup: g\nlocation: l\nvnetName: v\nsubnetName: \"n\"\nsecurityGroupName: x\n")},
		"tabs":                                 {"azure.json": []byte("{\n\t" + client + "\n}\n")},
		"keys of all kinds":                    inFile(client + `, "cloudProviderBackoff": true, "cloudProviderBackoffRetries": 6, "cloudProviderBackoffExponent": 1.5, "tagsMap": {"a": "b"}`),
		"keys of a newer release":              inFile(client + `, "somethingNew": {"a": [1, true, "b"]}`),
		"keys without a value":                 inFile(client + `, "useManagedIdentityExtension": null, "aadClientCertPath": ""`),
		"outbound rules of a standard one":     inFile(client + `, "loadBalancerSku": "standard", "disableOutboundSNAT": true`),
		"credentials in the Secret only":       {"azure.json": []byte("{" + network + "}"), "cloud-config": []byte(`{"aadClientId": "c", "aadClientSecret": "p"}`)},
		"several load balancers, switched off": inFile(client + `, "enableMultipleStandardLoadBalancers": false`),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(azure.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

type problem struct {
	data map[string][]byte
	want string
}

func unreadable() map[string]problem {
	const other = ": it has to be the configuration of the Azure cloud provider, not of another one"
	return map[string]problem{
		"no Secret data": {nil, "it lacks key azure.json: add the file that --cloud-config of kube-controller-manager names, or, " +
			"under key cloud-config, what Secret kube-system/azure-cloud-provider has there"},
		"OpenStack's configuration": {
			map[string][]byte{"azure.json": []byte("[Global]\nauth-url=https://k\npassword=" + password + "\n")},
			"key azure.json is not a JSON object" + other,
		},
		"vSphere's configuration": {
			map[string][]byte{"cloud-config": []byte("global:\n  user: u\n  password: " + password + "\n")},
			"it has no key of the Azure cloud provider, and looks like the configuration of another one: it lacks tenantId, " +
				"subscriptionId, resourceGroup, location, vnetName, subnetName, securityGroupName",
		},
		"a token":                        {map[string][]byte{"azure.json": []byte(password)}, "key azure.json is not a JSON object" + other},
		"a list":                         {map[string][]byte{"azure.json": []byte(`["` + password + `"]`)}, "key azure.json is not a JSON object" + other},
		"half of a file":                 {map[string][]byte{"azure.json": []byte(`{"aadClientSecret": "` + password)}, "key azure.json cannot be read as JSON" + other},
		"a line that is no YAML":         {map[string][]byte{"azure.json": []byte("tenantId: t\n" + password + "\n")}, "key azure.json cannot be read as JSON (near line 3)" + other},
		"a name that YAML takes for no":  {map[string][]byte{"azure.json": []byte("subnetName: n\n")}, "key azure.json, subnetName must be text, in quotes: correct it"},
		"a key twice":                    {inFile(client + `, "aadClientSecret": "` + password + `2"`), "key azure.json has aadClientSecret twice: keep one"},
		"an unknown key twice":           {inFile(client + `, "hunter2": 1, "hunter2": 2`), "key azure.json has a key twice: keep one"},
		"a key twice in two spellings":   {inFile(client + `, "AadClientSecret": "other"`), "key azure.json, aadClientSecret stands there twice, in two spellings: keep one"},
		"a value in the place of a key":  {inFile(client + `, "` + password + `!": 1`), "key azure.json has a key that is not a name of letters and digits: remove it"},
		"a number for a secret":          {inFile(network + `, "aadClientId": "c", "aadClientSecret": 42`), "key azure.json, aadClientSecret must be text, in quotes: correct it"},
		"text for a flag":                {inFile(client + `, "useManagedIdentityExtension": "` + password + `"`), "key azure.json, useManagedIdentityExtension must be true or false, without quotes: correct it"},
		"a fraction for a whole number":  {inFile(client + `, "putVMSSVMBatchSize": 1.5`), "key azure.json, putVMSSVMBatchSize must be a whole number, without quotes: correct it"},
		"text for a number":              {inFile(client + `, "cloudProviderRateLimitQPS": "3"`), "key azure.json, cloudProviderRateLimitQPS must be a number, without quotes: correct it"},
		"text for an object":             {inFile(client + `, "tagsMap": "a=b"`), "key azure.json, tagsMap must be a list or an object: correct it"},
		"a line break in an unknown key": {inFile(client + `, "hunter2": ["a\nb"]`), "key azure.json has an unknown key with a character that cannot be printed: remove it"},
		"a line break behind a secret": {
			inFile(network + `, "aadClientId": "c", "aadClientSecret": "` + password + `\n"`),
			"key azure.json, aadClientSecret has a line break, or another character that cannot be printed: remove it",
		},
	}
}

const (
	notInSecret = "aadClientCertPath is not in this Secret: " +
		"add the certificate to the Secret under a key and write /etc/azure/<key>"
	bothIdentities = "it has both useManagedIdentityExtension and aadClientId, aadClientSecret or aadClientCertPath: " +
		"keep one identity"
)

func unusable() map[string]problem {
	return map[string]problem{
		"no network": {
			inFile(`"tenantId": "t", "subscriptionId": "s", "resourceGroup": "g", "location": "l", "aadClientId": "c", "aadClientSecret": "` + password + `"`),
			"it lacks vnetName, subnetName, securityGroupName: add it",
		},
		"no credentials":  {inFile(network), "it lacks aadClientId (or useManagedIdentityExtension), aadClientSecret (or aadClientCertPath): add it"},
		"an empty secret": {inFile(network + `, "aadClientId": "c", "aadClientSecret": ""`), "it lacks aadClientSecret (or aadClientCertPath): add it"},
		"a Secret that takes the secret away": {
			map[string][]byte{"azure.json": []byte("{" + client + "}"), "cloud-config": []byte(`{"aadClientSecret": ""}`)},
			"it lacks aadClientSecret (or aadClientCertPath): add it",
		},
		"a Secret that is not read": {
			map[string][]byte{
				"azure.json":   []byte("{" + network + `, "cloudConfigType": "file"}`),
				"cloud-config": []byte(`{"aadClientId": "c", "aadClientSecret": "p"}`),
			},
			"it lacks aadClientId (or useManagedIdentityExtension), aadClientSecret (or aadClientCertPath): add it",
		},
		"a file that is not read": {
			map[string][]byte{
				"azure.json": []byte("{" + client + `, "cloudConfigType": "secret"}`), "cloud-config": []byte("{" + network + "}"),
			},
			"it lacks aadClientId (or useManagedIdentityExtension), aadClientSecret (or aadClientCertPath): add it",
		},
		"an unknown type of machine":     {inFile(client + `, "vmType": "` + password + `"`), "vmType must be one of standard, vmss, vmssflex: correct it"},
		"the load balancer of a preview": {inFile(client + `, "loadBalancerSku": "service"`), "loadBalancerSku must be one of basic, standard: correct it"},
		"the pool of a preview": {
			inFile(client + `, "loadBalancerBackendPoolConfigurationType": "podIP"`),
			"loadBalancerBackendPoolConfigurationType must be one of nodeIPConfiguration, nodeIP: correct it",
		},
		"a preview": {inFile(client + `, "serviceGatewayEnabled": true`), "serviceGatewayEnabled is a preview that is not in the catalogue: remove it"},
		"Azure Stack": {
			inFile(client + `, "cloud": "AzureStackCloud"`),
			"cloud must be one of AzurePublicCloud, AzureCloud, AzureChinaCloud, AzureUSGovernmentCloud, AzureUSGovernment; Azure Stack " +
				"is not in the catalogue: correct it",
		},
		"another way to read": {inFile(client + `, "cloudConfigType": "File"`), "cloudConfigType must be one of file, secret, merge: correct it"},
		"a load balancer for each set": {
			inFile(client + `, "enableMultipleStandardLoadBalancers": true`),
			"enableMultipleStandardLoadBalancers is gone from 1.28 on, and the load balancers would not be found again: move the " +
				"Services to one load balancer first, and set it to false",
		},
		"outbound rules of a basic one":     {inFile(client + `, "disableOutboundSNAT": true`), "disableOutboundSNAT needs loadBalancerSku standard: remove it, or correct loadBalancerSku"},
		"no sets of machines that are used": {inFile(client + `, "disableAvailabilitySetNodes": true`), "disableAvailabilitySetNodes needs vmType vmss: remove it, or correct vmType"},
		"two identities":                    {inFile(identity + `, "aadClientId": "c", "aadClientSecret": "` + password + `"`), bothIdentities},
		"an identity and a certificate":     {inFile(identity + `, "aadClientCertPath": "/etc/azure/client.pem"`), bothIdentities},
		"a secret and a certificate":        {inFile(client + `, "aadClientCertPath": "/etc/azure/client.pem"`), "it has both aadClientSecret and aadClientCertPath: keep one"},
		"a workload identity": {
			inFile(network + `, "useFederatedWorkloadIdentityExtension": true, "aadFederatedTokenFile": "/var/run/token"`),
			"useFederatedWorkloadIdentityExtension, aadFederatedTokenFile is not in the catalogue: use a client with a secret, or " +
				"useManagedIdentityExtension",
		},
		"a certificate of KCM's host":      {inFile(network + `, "aadClientId": "c", "aadClientCertPath": "/etc/kubernetes/client.pfx"`), notInSecret},
		"a certificate that is not there":  {inFile(file), notInSecret},
		"the configuration as certificate": {inFile(network + `, "aadClientId": "c", "aadClientCertPath": "/etc/azure/azure.json"`), notInSecret},
		"a certificate that is none": {
			withCertificate(file, password),
			"key client.pem, which aadClientCertPath names, is neither PEM nor PKCS #12: put the certificate with its key there",
		},
	}
}

func TestCloudConfigProblems(t *testing.T) {
	for _, tests := range []map[string]problem{unreadable(), unusable()} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				found := azure.Profile{}.CloudConfigProblem(test.data)
				g.Expect(found).To(Equal(test.want))
				g.Expect(found).NotTo(ContainSubstring(password))
				_, err := azure.Profile{}.Render(manifest.RenderInput{Version: "1.25.0", CloudConfig: test.data, Inherited: migrated()})
				g.Expect(err).To(MatchError("render azure: its cloud configuration cannot be used: " + test.want))
			})
		}
	}
}

func TestProblemsOfACluster(t *testing.T) {
	routes := migrated()
	routes.ConfigureCloudRoutes, routes.ClusterCIDR = true, "10.0.0.0/8"
	routes.Loops = append(routes.Loops, observation.RouteLoop)
	tests := map[string]struct {
		inherited ucv1.InheritedConfiguration
		data      map[string][]byte
		want      string
	}{
		"external from the start, without what has other defaults": {
			ucv1.InheritedConfiguration{ClusterName: "a"}, inFile(client),
			"it lacks vmType and loadBalancerSku, whose default is not the same in all releases: add what the cluster has",
		},
		"external from the start, without one of them": {
			ucv1.InheritedConfiguration{ClusterName: "a"}, inFile(client + `, "vmType": "vmss"`),
			"it lacks loadBalancerSku, whose default is not the same in all releases: add what the cluster has",
		},
		"routes without a table": {
			routes, inFile(client), "it lacks routeTableName, into which the route loop of this cluster writes: add it",
		},
		"no name": {ucv1.InheritedConfiguration{}, inFile(client + `, "vmType": "vmss", "loadBalancerSku": "basic"`), "has no cluster name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := azure.Profile{}.Render(manifest.RenderInput{Version: "1.28.0", CloudConfig: test.data, Inherited: test.inherited})
			NewWithT(t).Expect(err).To(MatchError(And(HavePrefix("render azure: "), ContainSubstring(test.want))))
		})
	}
}

// secrets of both sets, by name.
func secrets(g Gomega, data map[string][]byte) map[string]map[string][]byte {
	addons, err := azure.Profile{}.Render(manifest.RenderInput{Version: "1.29.0", Inherited: migrated(), CloudConfig: data})
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]map[string][]byte{}
	for _, object := range append(addons.CCM.Objects, addons.CSI.Objects...) {
		if object.GetKind() == "Secret" {
			secret := &corev1.Secret{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, secret)).To(Succeed())
			found[secret.Name] = secret.Data
		}
	}
	return found
}

func TestTheConfigurationOfTheExternalComponents(t *testing.T) {
	tests := map[string]struct {
		data map[string][]byte
		want map[string]any
	}{
		"the in-tree provider's defaults are written down": {
			inFile(client),
			map[string]any{"vmType": "standard", "loadBalancerSku": "basic", "useInstanceMetadata": false, "aadClientSecret": password},
		},
		"what is there stays": {
			inFile(client + `, "vmType": "vmss", "loadBalancerSku": "Standard", "tags": "a=b"`),
			map[string]any{"vmType": "vmss", "loadBalancerSku": "Standard", "tags": "a=b"},
		},
		"one file is left of two": {
			map[string][]byte{
				"azure.json":   []byte("{" + client + `, "cloudConfigType": "merge"}`),
				"cloud-config": []byte(`{"aadClientID": "d", "routeTableName": "r"}`),
			},
			map[string]any{"aadClientId": "d", "aadClientSecret": password, "routeTableName": "r", "cloudConfigType": nil},
		},
		"keys that are gone": {
			inFile(client + `, "availabilitySetNodesCacheTTLInSeconds": 60, "enableMultipleStandardLoadBalancers": false, "useInstanceMetadata": true`),
			map[string]any{
				"availabilitySetsCacheTTLInSeconds": 60.0, "availabilitySetNodesCacheTTLInSeconds": nil,
				"enableMultipleStandardLoadBalancers": nil, "useInstanceMetadata": false,
			},
		},
		"placeholders beside an identity": {
			inFile(identity + `, "aadClientId": "msi", "aadClientSecret": "msi"`),
			map[string]any{"useManagedIdentityExtension": true, "aadClientId": nil, "aadClientSecret": nil},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found := secrets(g, test.data)
			made := map[string]any{}
			g.Expect(json.Unmarshal(found["azure-ccm-cloud-config"]["azure.json"], &made)).To(Succeed())
			for key, value := range test.want {
				if value == nil {
					g.Expect(made).NotTo(HaveKey(key))
				} else {
					g.Expect(made).To(HaveKeyWithValue(key, value))
				}
			}
			for _, name := range []string{"azure-disk-csi-cloud-config", "azure-file-csi-cloud-config"} {
				g.Expect(found[name]["cloud-config"]).To(Equal(found["azure-ccm-cloud-config"]["azure.json"]))
			}
		})
	}
}

func TestOnlyWhatIsReadGoesToTheUserCluster(t *testing.T) {
	g := NewWithT(t)
	data := withCertificate(file+`, "cloud": "AzureChinaCloud"`, pemFile)
	data["kubeconfig"] = []byte("of the management cluster")
	found := secrets(g, data)
	g.Expect(found["azure-disk-csi-node-config"]).To(Equal(map[string][]byte{
		"cloud-config": []byte(`{"cloud":"AzureChinaCloud","location":"l","useInstanceMetadata":true,"vmType":"standard"}`),
	}), "a Node needs no credentials for disks")
	delete(found, "azure-disk-csi-node-config")
	g.Expect(found).To(HaveLen(3))
	for _, files := range found {
		g.Expect(files).To(And(HaveLen(2), HaveKeyWithValue("client.pem", []byte(pemFile))))
	}
}
