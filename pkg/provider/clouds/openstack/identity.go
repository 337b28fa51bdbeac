package openstack

import (
	"cmp"
	"strings"
)

// identity is what the CCM makes of section Global, as its libraries do: a domain that says of nothing what it is the domain of
// is that of the user and of the project.
// https://github.com/gophercloud/utils/blob/2eeed4ceb3e9/openstack/clientconfig/requests.go#L531 (v3auth)
type identity struct {
	user, userID, password                                         string
	userDomainID, userDomainName, tenantDomainID, tenantDomainName string
	scoped, byName, byCredential, trusted                          bool
}

func identityOf(global func(key string) string) identity {
	is := identity{
		user: global("username"), userID: global("user-id"), password: global("password"),
		userDomainID: global("user-domain-id"), userDomainName: global("user-domain-name"),
		tenantDomainID: global("tenant-domain-id"), tenantDomainName: global("tenant-domain-name"),
		byName: global("tenant-id") == "" && global("tenant-name") != "",
		scoped: global("tenant-id")+global("tenant-name") != "", trusted: global("trust-id") != "",
	}
	is.byCredential = global("application-credential-id")+global("application-credential-name") != ""
	if is.scoped || is.byCredential {
		id, name := global("domain-id"), global("domain-name")
		is.userDomainID, is.userDomainName = cmp.Or(is.userDomainID, id), cmp.Or(is.userDomainName, name)
		is.tenantDomainID, is.tenantDomainName = cmp.Or(is.tenantDomainID, id), cmp.Or(is.tenantDomainName, name)
	}
	if is.trusted {
		is.userID = cmp.Or(global("trustee-id"), is.userID)
		is.password = cmp.Or(global("trustee-password"), is.password)
	}
	return is
}

// identityProblem says what ends the CCM before it asks Keystone:
// https://github.com/gophercloud/gophercloud/blob/v2.12.0/auth_options.go#L143 (ToTokenV3CreateMap, ToTokenV3ScopeMap)
func (c config) identityProblem() string {
	global := func(key string) string { return c.value(globalSection, key) }
	if strings.Contains(global("auth-url"), "v2.0") {
		return "" // That version of Keystone has no domains.
	}
	is := identityOf(global)
	if problem := is.userProblem(global("application-credential-id") != ""); problem != "" {
		return "section Global, has " + problem
	}
	if is.byName && !is.byCredential && !is.trusted && is.tenantDomainID+is.tenantDomainName == "" {
		return "section Global, has tenant-name without its domain: add tenant-domain-name or tenant-domain-id"
	}
	return ""
}

// userProblem is that of who logs in: with a password, with an application credential by its name, or with one by its ID, which
// has its user.
func (is identity) userProblem(credentialByID bool) string {
	unnamed := is.user != "" && is.userDomainID+is.userDomainName == ""
	const domain = "username without its domain: add user-domain-name or user-domain-id"
	switch {
	case is.password != "":
		return cmp.Or(is.passwordProblem(), said(unnamed, domain))
	case !credentialByID && is.userID == "":
		return said(unnamed, domain)
	}
	return ""
}

func (is identity) passwordProblem() string {
	id, name := is.userDomainID != "", is.userDomainName != ""
	return cmp.Or(
		said(is.user+is.userID == "", "a password without a user beside an application credential: remove it"),
		said(is.user != "" && is.userID != "", "username and user-id: remove one of them"),
		said(is.user != "" && id && name, "the domain of the user by ID and by name: remove one of them"),
		said(is.userID != "" && (id || name), "user-id with a domain of the user, which an ID does not need: remove it, and write "+
			"tenant-domain-id for that of tenant-name"),
	)
}

func said(wrong bool, problem string) string {
	if wrong {
		return problem
	}
	return ""
}
