package management

import (
	"net"

	"github.com/spf13/pflag"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// Loopback is where a person's own user cluster may be: on a workstation it is no way into the management cluster.
func Loopback() []net.IPNet {
	return []net.IPNet{{IP: net.IPv4(127, 0, 0, 0), Mask: net.CIDRMask(8, 32)}, {IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)}}
}

// BindAllow is for operators whose kubeconfig Secrets are not written by tenants.
func BindAllow(flags *pflag.FlagSet, allowed *usercluster.Allow, addresses ...net.IPNet) {
	allow := func(target *bool, name, what string) {
		flags.BoolVar(target, "allow-kubeconfig-"+name, false, "Accept kubeconfigs that "+what+". Whoever writes such a Secret acts "+
			"in the management cluster.")
	}
	allow(&allowed.Exec, "exec", "run a program to get credentials")
	allow(&allowed.AuthProvider, "auth-provider", "use an auth-provider plugin")
	allow(&allowed.FilePaths, "file-paths", "name files of the manager's file system")
	allow(&allowed.InsecureTLS, "insecure-tls", "do not verify the API server's certificate")
	allow(&allowed.Proxy, "proxy", "name a proxy")
	allow(&allowed.Impersonation, "impersonation", "impersonate someone")
	flags.IPNetSliceVar(&allowed.Addresses, "allow-user-cluster-addresses", addresses, "Networks, such as 127.0.0.0/8, in which "+
		"API servers of user "+
		"clusters may be although they are loopback, link-local or a cloud's metadata service.")
}
