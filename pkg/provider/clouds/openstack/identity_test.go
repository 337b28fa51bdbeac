package openstack

import (
	"cmp"
	"testing"

	"github.com/gophercloud/utils/v2/openstack/clientconfig"
	. "github.com/onsi/gomega"
)

// accepted asks the CCM's own libraries, as it does:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go#L133-L310
func accepted(value map[string]string) error {
	made, err := clientconfig.AuthOptions(&clientconfig.ClientOpts{EnvPrefix: "_", AuthInfo: &clientconfig.AuthInfo{
		AuthURL: value["auth-url"], UserID: value["user-id"], Username: value["username"], Password: value["password"],
		ProjectID: value["tenant-id"], ProjectName: value["tenant-name"],
		DomainID: value["domain-id"], DomainName: value["domain-name"],
		ProjectDomainID: value["tenant-domain-id"], ProjectDomainName: value["tenant-domain-name"],
		UserDomainID: value["user-domain-id"], UserDomainName: value["user-domain-name"],
		ApplicationCredentialID: value["application-credential-id"], ApplicationCredentialName: value["application-credential-name"],
		ApplicationCredentialSecret: value["application-credential-secret"],
	}})
	if err != nil {
		return err
	}
	options := *made
	if value["trust-id"] != "" {
		options.TenantID, options.TenantName = "", ""
		options.UserID = cmp.Or(value["trustee-id"], options.UserID)
		options.Password = cmp.Or(value["trustee-password"], options.Password)
		options.Scope.TrustID = value["trust-id"]
	}
	scope, err := options.ToTokenV3ScopeMap()
	if err == nil {
		_, err = options.ToTokenV3CreateMap(scope)
	}
	return err
}

// TestCredentialsAreRefusedAsTheCCMRefusesThem goes through all combinations of the keys that say who someone is.
func TestCredentialsAreRefusedAsTheCCMRefusesThem(t *testing.T) {
	keys := []string{
		"username", "user-id", "domain-id", "domain-name", "user-domain-id", "user-domain-name", "tenant-id", "tenant-name",
		"tenant-domain-id", "tenant-domain-name",
	}
	for kind, given := range map[string][]string{
		"a password":                                  {"password"},
		"an application credential by its ID":         {"application-credential-id", "application-credential-secret"},
		"an application credential by its name":       {"application-credential-name", "application-credential-secret"},
		"an application credential beside a password": {"application-credential-id", "application-credential-secret", "password"},
		"a trust":                {"trust-id", "password"},
		"a trust with a trustee": {"trust-id", "trustee-id", "trustee-password"},
		"an application credential's name, and password": {"application-credential-name", "application-credential-secret", "password"},
	} {
		t.Run(kind, func(t *testing.T) {
			refused := 0
			for set := range 1 << len(keys) {
				value := map[string]string{"auth-url": "https://keystone.example.com/v3"}
				for i, key := range keys {
					if set&(1<<i) != 0 {
						value[key] = "x"
					}
				}
				for _, key := range given {
					value[key] = "x"
				}
				conf := config{{name: globalSection}}
				for key, text := range value {
					conf[0].settings = append(conf[0].settings, setting{key: key, value: text})
				}
				if conf.credentialsProblem() != "" {
					continue // What is missing is said before.
				}
				err, problem := accepted(value), conf.identityProblem()
				refuses := problem != ""
				NewWithT(t).Expect(refuses).To(Equal(err != nil), "%v: %q, the CCM: %v", value, problem, err)
				if refuses {
					refused++
				}
			}
			t.Logf("%d combinations are refused", refused)
		})
	}
}
