package bed

import (
	"os"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	machineController        = "machine-controller"
	machineControllerWebhook = "machine-controller-webhook"
	operatingSystemManager   = "operating-system-manager"

	// controllerName is its -name: it boots no Machine without the label, the canary's neither.
	controllerName = "testbed"

	webhookPort = 9876
	// webhookCertificate and webhookKey are files of the control plane.
	webhookCertificate, webhookKey = "webhook.crt", "webhook.key"

	adminKubeconfig = "/etc/testbed/admin.kubeconfig"
	cloudConfig     = "/etc/testbed/cloud.conf"
)

// IsReal says that a program is the real one and not the testbed in its place.
func (b *Bed) IsReal(program string) bool {
	self, err := os.Stat(filepath.Join(b.options.BinDir, "testbed"))
	if err != nil {
		return false
	}
	other, err := os.Stat(filepath.Join(b.options.BinDir, program))
	return err == nil && !os.SameFile(self, other)
}

// machineController are the Deployments of the machine-controller, its webhook and the operating-system-manager.
func (u *UserCluster) machineController() []workload {
	if u.Options.WithoutMachineController {
		return nil
	}
	base := workload{namespace: u.Namespace, replicas: 1, secret: "control-plane", healthScheme: corev1.URISchemeHTTP}
	controller, webhook, osm := base, base, base
	controller.name, controller.healthPort, controller.args = machineController, 8085, u.controllerArgs()
	webhook.name, webhook.healthPort, webhook.args = machineControllerWebhook, webhookPort, u.webhookArgs()
	webhook.healthScheme = corev1.URISchemeHTTPS
	osm.name, osm.healthPort, osm.args = operatingSystemManager, 8086, u.osmArgs()
	// As in their own manifests: /healthz of the real controller lists all Nodes, which a busy machine does not do in a second.
	controller.healthPath, osm.healthPath = "/readyz", "/readyz"
	for _, w := range []*workload{&controller, &webhook, &osm} {
		w.program = w.name
	}
	return []workload{controller, webhook, osm}
}

func machineLabels() map[string]string {
	return map[string]string{machines.ControllerLabel: controllerName}
}

func (u *UserCluster) controllerArgs() []string {
	args := []string{
		"-kubeconfig", adminKubeconfig, "-cloud-config", cloudConfig, "-name", controllerName,
		"-health-probe-address", "$(POD_IP):8085",
	}
	if u.bed.IsReal(machineController) {
		// As in its own manifest; the stand-in has four.
		args = append(args, "-metrics-address", "$(POD_IP):8080", "-worker-count", "5", "-log-debug")
	} else {
		// Pets are from before v1.60.
		args = append(args, "-boots-standalone=true", "-odd-nodes", strconv.FormatUint(u.bed.options.Seed, 10))
		args = append(args, "-nodes-without-address="+strconv.FormatBool(u.Options.JoinTimeout > 0))
	}
	if u.Options.JoinTimeout > 0 {
		args = append(args, "-join-cluster-timeout", u.Options.JoinTimeout.String())
	}
	return u.ifExternal(args, "-node-external-cloud-provider")
}

func (u *UserCluster) webhookArgs() []string {
	args := []string{
		"-worker-cluster-kubeconfig", adminKubeconfig, "-cloud-config", cloudConfig,
		"-listen-address", "$(POD_IP):" + strconv.Itoa(webhookPort),
	}
	if u.bed.IsReal(machineControllerWebhook) {
		args = append(args, "-kubeconfig", adminKubeconfig, "-namespace", machineNamespace, "-log-debug",
			"-tls-cert-path", "/etc/testbed/"+webhookCertificate, "-tls-key-path", "/etc/testbed/"+webhookKey)
	} else {
		// For no longer than the specs of an outage wait.
		args = append(args, "-keeps-answers=20s")
	}
	return u.ifExternal(args, "-node-external-cloud-provider")
}

func (u *UserCluster) osmArgs() []string {
	args := []string{"-health-probe-address", "$(POD_IP):8086"}
	if u.bed.IsReal(operatingSystemManager) {
		// Its profiles and configs are in the user cluster, too, as KubeOne has them.
		args = append(args, "-kubeconfig", adminKubeconfig, "-namespace", machineNamespace,
			"-metrics-address", "$(POD_IP):8080", "-log-debug")
	} else {
		args = append(args, "-worker-cluster-kubeconfig", adminKubeconfig)
	}
	return u.ifExternal(args, "-external-cloud-provider")
}

// ifExternal adds the flag that a migration adds.
func (u *UserCluster) ifExternal(args []string, flag string) []string {
	if u.Options.External {
		args = append(args, flag)
	}
	return args
}
