package azure

import (
	"math"
	"strings"
)

// Keys of the configuration that something is decided by.
const (
	clientID          = "aadClientId"
	clientSecret      = "aadClientSecret"
	certificatePath   = "aadClientCertPath"
	managedIdentity   = "useManagedIdentityExtension"
	workloadIdentity  = "useFederatedWorkloadIdentityExtension"
	tokenFile         = "aadFederatedTokenFile"
	identityFile      = "aadMSIDataPlaneIdentityPath"
	cloudName         = "cloud"
	configType        = "cloudConfigType"
	instanceMetadata  = "useInstanceMetadata"
	location          = "location"
	vmType            = "vmType"
	balancerSKU       = "loadBalancerSku"
	balancerPerSet    = "enableMultipleStandardLoadBalancers"
	multipleBalancers = "multipleStandardLoadBalancerConfigurations"
	backendPool       = "loadBalancerBackendPoolConfigurationType"
	serviceGateway    = "serviceGatewayEnabled"
	outboundSNAT      = "disableOutboundSNAT"
	withoutSets       = "disableAvailabilitySetNodes"
	routeTable        = "routeTableName"
	oldSetsCache      = "availabilitySetNodesCacheTTLInSeconds"
	setsCache         = "availabilitySetsCacheTTLInSeconds"
)

// required are the keys without which neither provider finds the machines and the network of the cluster.
func required() []string {
	return []string{"tenantId", "subscriptionId", "resourceGroup", location, "vnetName", "subnetName", "securityGroupName"}
}

// kind of a key's value, as a sentence that ends "… must be".
type kind string

const (
	text      kind = "text, in quotes"
	flag      kind = "true or false, without quotes"
	integer   kind = "a whole number, without quotes"
	number    kind = "a number, without quotes"
	structure kind = "a list or an object"
)

// of says whether a value is of that kind: one that is not ends the CCM at its start.
func (k kind) of(value any) bool {
	switch value := value.(type) {
	case string:
		return k == text
	case bool:
		return k == flag
	case float64:
		return k == number || (k == integer && value == math.Trunc(value))
	}
	return k == structure
}

// key that one of the providers knows: its name in their spelling.
type key struct {
	name string
	kind kind
}

// keys are all that the in-tree provider and the releases from 1.24 to 1.36 know, by their names in lower case: they are read
// without regard to case. From azure/*.go and azure/auth of https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6
// and from pkg/provider/config and pkg/azclient of https://github.com/kubernetes-sigs/cloud-provider-azure.
func keys() map[string]key {
	known := map[string]key{}
	for kind, names := range map[kind]string{
		text: `cloud tenantId subscriptionId aadClientId aadClientSecret aadClientCertPath aadClientCertPassword
			userAssignedIdentityID aadFederatedTokenFile aadMSIDataPlaneIdentityPath identitySystem resourceManagerEndpoint
			networkResourceTenantID networkResourceSubscriptionID resourceGroup location vnetName vnetResourceGroup subnetName
			securityGroupName securityGroupResourceGroup routeTableName routeTableResourceGroup primaryAvailabilitySetName
			primaryScaleSetName vmType loadBalancerSku loadBalancerName loadBalancerResourceGroup
			preConfiguredBackendPoolLoadBalancerTypes cloudConfigType tags systemTags extendedLocationName extendedLocationType
			loadBalancerBackendPoolConfigurationType clusterServiceLoadBalancerHealthProbeMode
			clusterServiceSharedLoadBalancerHealthProbePath privateLinkServiceResourceGroup userAgent`,
		flag: `useManagedIdentityExtension useFederatedWorkloadIdentityExtension useInstanceMetadata cloudProviderBackoff
			cloudProviderRateLimit excludeMasterFromStandardLB disableOutboundSNAT enableMultipleStandardLoadBalancers
			disableAvailabilitySetNodes enableVmssFlexNodes disableAPICallCache disableAzureStackCloud
			enableMigrateToIPBasedBackendPoolAPI serviceGatewayEnabled enableMinimumRetryAfter
			enableIPTagMutationForExistingPublicIP listVmssVirtualMachinesWithoutInstanceView`,
		integer: `cloudProviderBackoffRetries cloudProviderBackoffDuration cloudProviderRateLimitBucket
			cloudProviderRateLimitBucketWrite maximumLoadBalancerRuleCount putVMSSVMBatchSize
			clusterServiceSharedLoadBalancerHealthProbePort routeUpdateIntervalInSeconds routeUpdateWaitingInSeconds
			loadBalancerBackendPoolUpdateIntervalInSeconds nodeInstanceNotFoundGracePeriodInSeconds
			availabilitySetNodesCacheTTLInSeconds availabilitySetsCacheTTLInSeconds vmssCacheTTLInSeconds
			vmssVirtualMachinesCacheTTLInSeconds vmssFlexCacheTTLInSeconds vmssFlexVMCacheTTLInSeconds vmCacheTTLInSeconds
			nonVmssUniformNodesCacheTTLInSeconds loadBalancerCacheTTLInSeconds nsgCacheTTLInSeconds
			routeTableCacheTTLInSeconds publicIPCacheTTLInSeconds plsCacheTTLInSeconds`,
		number: `cloudProviderBackoffExponent cloudProviderBackoffJitter cloudProviderRateLimitQPS
			cloudProviderRateLimitQPSWrite`,
		structure: `tagsMap multipleStandardLoadBalancerConfigurations auxiliaryTokenProvider`,
	} {
		for name := range strings.FieldsSeq(names) {
			known[strings.ToLower(name)] = key{name, kind}
		}
	}
	return known
}
