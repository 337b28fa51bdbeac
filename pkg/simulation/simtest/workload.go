package simtest

import "github.com/ccm-migration/ccm-migration-controller/pkg/simulation"

func makeControlPlane(w *World) {
	for _, name := range []string{"management-1", "management-2", "management-3"} {
		host := &simulation.ManagementNode{Name: name, BootID: w.ID("boot"), Renewed: w.Now}
		w.ControlPlane.Hosts = append(w.ControlPlane.Hosts, host)
	}
	replicas := w.scenario.KCMReplicas
	if replicas == 0 {
		replicas = 2
	}
	arguments := map[string]string{
		"cloud-provider": "simcloud", "cloud-config": "/etc/cloud/cloud.conf", "cluster-name": "prod",
		"allocate-node-cidrs": "true", "cluster-cidr": "10.244.0.0/16", "controllers": "*,bootstrapsigner",
		"feature-gates": "DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false",
	}
	if w.scenario.KCMExternal {
		arguments = map[string]string{"cluster-name": "prod", "allocate-node-cidrs": "true", "cloud-provider": "external"}
	}
	w.ControlPlane.Add(simulation.KCMName, "", replicas, arguments)
	makeBeside(w)
	if w.Traits.WithoutMachineController {
		return
	}
	w.ControlPlane.Add("machine-controller", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	w.ControlPlane.Add("machine-controller-webhook", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	if !w.Traits.WithoutOperatingSystemManager {
		w.ControlPlane.Add("operating-system-manager", "-external-cloud-provider", 1, map[string]string{"v": "2"})
	}
}
