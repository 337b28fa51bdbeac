package azure

import (
	"encoding/pem"
	"path"
	"slices"
	"strings"
)

// CloudConfigProblem names the keys that are missing or unusable in the Secret, never their values.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	_, problem := usable(data)
	return problem
}

func usable(data map[string][]byte) (config, string) {
	made, problem := read(data)
	if problem != "" {
		return nil, problem
	}
	for _, check := range []func() string{
		made.missing, made.choiceProblem, made.previewProblem, made.balancerProblem, made.identityProblem,
		func() string { return made.certificateProblem(data) },
	} {
		if problem := check(); problem != "" {
			return nil, problem
		}
	}
	return made, ""
}

func (c config) has(name string) bool { return c.text(name) != "" }

func (c config) missing() string {
	names := slices.DeleteFunc(required(), c.has)
	if len(names) == len(required()) {
		return "it has no key of the Azure cloud provider, and looks like the configuration of another one: it lacks " +
			strings.Join(names, ", ")
	}
	if !c.flag(managedIdentity) && !c.otherIdentity() {
		if !c.has(clientID) {
			names = append(names, clientID+" (or "+managedIdentity+")")
		}
		if !c.has(clientSecret) && !c.has(certificatePath) {
			names = append(names, clientSecret+" (or "+certificatePath+")")
		}
	}
	if len(names) > 0 {
		return "it lacks " + strings.Join(names, ", ") + ": add it"
	}
	return ""
}

// choice of values, compared as the providers do.
type choice struct {
	key       string
	values    []string
	exact     bool
	otherwise string
}

func choices() []choice {
	return []choice{
		{configType, []string{"file", "secret", "merge"}, true, ""},
		{vmType, []string{"standard", "vmss", "vmssflex"}, false, ""},
		{balancerSKU, []string{"basic", "standard"}, false, ""},
		{backendPool, []string{"nodeIPConfiguration", "nodeIP"}, false, ""},
		{cloudName, []string{"AzurePublicCloud", "AzureCloud", "AzureChinaCloud", "AzureUSGovernmentCloud", "AzureUSGovernment"}, false,
			"; Azure Stack is not in the catalogue"},
	}
}

func (c config) choiceProblem() string {
	for _, choice := range choices() {
		if !c.has(choice.key) || slices.ContainsFunc(choice.values, func(value string) bool {
			return value == c.text(choice.key) || (!choice.exact && strings.EqualFold(value, c.text(choice.key)))
		}) {
			continue
		}
		return choice.key + " must be one of " + strings.Join(choice.values, ", ") + choice.otherwise + ": correct it"
	}
	return ""
}

// previewProblem: with the preview, the CCM takes to Pods and finalizers of Services, which it has no rules for.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/servicegateway/difftracker/finalizers.go#L156
func (c config) previewProblem() string {
	if c.flag(serviceGateway) {
		return serviceGateway + " is a preview that is not in the catalogue: remove it"
	}
	return ""
}

func (c config) balancerProblem() string {
	switch {
	case c.flag(balancerPerSet):
		// In-tree each set of machines has a load balancer of its name; from 1.28 on there is one, of the cluster's name:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure_loadbalancer.go#L4378-L4473
		return balancerPerSet + " is gone from 1.28 on, and the load balancers would not be found again: move the Services to one " +
			"load balancer first, and set it to false"
	case c.flag(outboundSNAT) && !strings.EqualFold(c.text(balancerSKU), "standard"):
		return outboundSNAT + " needs " + balancerSKU + " standard: remove it, or correct " + balancerSKU
	case c.flag(withoutSets) && c.text(vmType) != "vmss":
		return withoutSets + " needs " + vmType + " vmss: remove it, or correct " + vmType
	}
	return ""
}

func (c config) otherIdentity() bool {
	return c.flag(workloadIdentity) || c.has(tokenFile) || c.has(identityFile)
}

// identityProblem wants one identity, because in-tree provider, CCM and CSI drivers need not choose the same of two.
func (c config) identityProblem() string {
	// Installers write this where the format seems to ask for a client.
	placeholder := func(name string) bool { return !c.has(name) || c.text(name) == "msi" }
	switch {
	case c.otherIdentity():
		return strings.Join(slices.DeleteFunc([]string{workloadIdentity, tokenFile, identityFile}, func(name string) bool {
			return !c.has(name) && !c.flag(name)
		}), ", ") + " is not in the catalogue: use a client with a secret, or " + managedIdentity
	case c.flag(managedIdentity) && (!placeholder(clientID) || !placeholder(clientSecret) || c.has(certificatePath)):
		return "it has both " + managedIdentity + " and " + clientID + ", " + clientSecret + " or " + certificatePath +
			": keep one identity"
	case c.has(clientSecret) && c.has(certificatePath):
		return "it has both " + clientSecret + " and " + certificatePath + ": keep one"
	}
	return ""
}

// certificateProblem looks at the file that is named: a path of the host of kube-controller-manager would fail only in the
// user cluster.
func (c config) certificateProblem(data map[string][]byte) string {
	file := c.text(certificatePath)
	if file == "" {
		return ""
	}
	name := path.Base(file)
	content := data[name]
	if path.Dir(file) != configDir || name == fileKey || name == secretKey || len(content) == 0 {
		return certificatePath + " is not in this Secret: add the certificate to the Secret under a key and write " + configDir +
			"/<key>"
	}
	// PKCS #12 is a sequence in DER.
	if block, _ := pem.Decode(content); block == nil && content[0] != 0x30 {
		return "key " + name + ", which " + certificatePath +
			" names, is neither PEM nor PKCS #12: put the certificate with its key there"
	}
	return ""
}
