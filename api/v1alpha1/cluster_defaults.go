package v1alpha1

import "cmp"

// KubeconfigSecret is the Secret with the kubeconfig of the user cluster, with the defaults filled in. They follow the convention
// of Cluster API: https://github.com/kubernetes-sigs/cluster-api/blob/v1.11.0/util/secret/consts.go
func (c *Cluster) KubeconfigSecret() SecretKeyReference {
	named := SecretKeyReference{}
	if c.Spec.KubeconfigSecretRef != nil {
		named = *c.Spec.KubeconfigSecretRef
	}
	return SecretKeyReference{Name: cmp.Or(named.Name, c.Name+"-kubeconfig"), Key: cmp.Or(named.Key, "value")}
}

// KubeControllerManager is the Deployment of KCM and its container, with the defaults filled in; of static pods the container
// counts.
func (c *Cluster) KubeControllerManager() DeploymentReference {
	return c.Spec.ControlPlane.KubeControllerManager.WithDefaults("kube-controller-manager")
}

// WithDefaults names the Deployment and its container after the program, where the spec does not.
func (r DeploymentReference) WithDefaults(program string) DeploymentReference {
	r.Name, r.Container = cmp.Or(r.Name, program), cmp.Or(r.Container, program)
	return r
}
