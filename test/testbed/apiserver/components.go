package apiserver

import (
	"fmt"
	"path/filepath"
)

// frontProxyName is the client that the API server trusts to name users.
const frontProxyName = "front-proxy-client"

func (c *Cluster) etcdURL() string { return fmt.Sprintf("http://%s:%d", loopback, c.ports.etcd.number) }

func (c *Cluster) etcdArgs() []string {
	return []string{
		"--data-dir=" + filepath.Join(c.options.Dir, "etcd"),
		"--unsafe-no-fsync",
		"--log-level=warn",
		"--socket-reuse-port",
		"--listen-client-urls=" + c.etcdURL(),
		"--advertise-client-urls=" + c.etcdURL(),
		// No one is a peer, so no one needs to know the port.
		"--listen-peer-urls=http://" + loopback + ":0",
	}
}

func (c *Cluster) apiserverArgs() []string {
	args := append([]string{
		"--bind-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", c.ports.apiserver.number),
		"--permit-port-sharing",
		// Neither changes an answer, and both are a third of what a small request costs: a machine with two processors runs
		// a handful of these servers.
		"--enable-priority-and-fairness=false", "--feature-gates=APIServerTracing=false",
	}, c.APIServerArgs(filepath.Dir(c.files.CA))...)
	return append(args, c.options.APIServerArgs...)
}

// APIServerArgs are those of every API server of this cluster, which finds the files of the cluster's keys in a folder. Where it
// listens is not among them.
func (c *Cluster) APIServerArgs(folder string) []string {
	f := filesIn(folder)
	args := []string{
		"--etcd-servers=" + c.etcdURL(),
		"--advertise-address=" + loopback,
		// The API refuses loopback addresses in EndpointSlices.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + c.serviceRange(),
		"--allow-privileged",
		"--authorization-mode=RBAC",
		"--client-ca-file=" + f.CA,
		"--token-auth-file=" + f.Tokens,
		"--tls-cert-file=" + f.ServerCert,
		"--tls-private-key-file=" + f.ServerKey,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f.ServiceAccountKey,
		"--service-account-signing-key-file=" + f.ServiceAccountKey,
		"--requestheader-client-ca-file=" + f.FrontProxyCA,
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + f.FrontProxyCert,
		"--proxy-client-key-file=" + f.FrontProxyKey,
	}
	if c.options.Audited { // All API servers of a cluster append to one log.
		for flag, value := range c.audit.Flags() {
			args = append(args, "--"+flag+"="+value)
		}
	}
	return args
}

func (c *Cluster) serviceRange() string {
	return fmt.Sprintf("10.%d.0.0/16", 100+c.options.Index%100)
}

func (c *Cluster) schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.files.SchedulerKubeconfig,
		"--leader-elect=false",
		// No one scrapes it, and two testbeds would fight for its default port.
		"--secure-port=0",
	}
}

func (c *Cluster) controllerManagerArgs() []string {
	f := c.files
	return append([]string{
		"--kubeconfig=" + f.ControllerManagerKubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--service-cluster-ip-range=" + c.serviceRange(),
		"--service-account-private-key-file=" + f.ServiceAccountKey,
		"--root-ca-file=" + f.CA,
		"--cluster-signing-cert-file=" + f.CA,
		"--cluster-signing-key-file=" + f.CAKey,
		"--use-service-account-credentials=true",
	}, c.options.ControllerManagerArgs...)
}
