package machines

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	cloudConfigKey = "cloud-config"
	kubeletUnit    = "/etc/systemd/system/kubelet.service"
)

// Bootstrap are the two Secrets of a MachineDeployment. The machine-controller hands Fetch to the cloud, and what runs there gets
// Config, which has the kubelet's unit.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go (reconcileSecrets)
type Bootstrap struct{ Config, Fetch *corev1.Secret }

// Secrets in the order in which they are made.
func (b Bootstrap) Secrets() []*corev1.Secret { return []*corev1.Secret{b.Config, b.Fetch} }

// RenderBootstrap makes what new machines of the MachineDeployment's current
// revision boot with. A profile of that name has no flag, whatever the
// operating-system-manager's own is.
func RenderBootstrap(deployment *MachineDeployment, external bool) Bootstrap {
	if deployment.Annotations[ProfileAnnotation] == InTreeProfile {
		external = false
	}
	fetch := "#cloud-config\nhostname: <MACHINE_NAME>\nwrite_files:\n- path: '/opt/bin/bootstrap'\n  content: |-\n    fetch " +
		BootstrapSecretName(deployment.Namespace, deployment.Name, ConfigSecret) + "\n"
	return Bootstrap{
		Config: secretOf(deployment, ConfigSecret, "#cloud-config\nwrite_files:\n- path: '"+kubeletUnit+"'\n  permissions: '0644'\n "+
			" encoding: 'b64'\n  content: |-\n    "+
			base64.StdEncoding.EncodeToString([]byte(unitOf(external)))+"\n"),
		Fetch: secretOf(deployment, FetchSecret, fetch),
	}
}

// unitOf a kubelet: as of Kubernetes 1.29 an in-tree one has no flag at all.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/deploy/osps/default/osp-ubuntu.yaml#L618-L676
func unitOf(external bool) string {
	flag := ""
	if external {
		flag = "  --cloud-provider=external \\\n"
	}
	return "[Service]\nExecStartPre=/bin/bash /opt/bin/setup_net_env.sh\nExecStart=/opt/bin/kubelet \\\n  " +
		"--config=/etc/kubernetes/kubelet.conf \\\n" +
		flag + "  --hostname-override=${KUBELET_HOSTNAME} \\\n  --node-ip ${KUBELET_NODE_IP}\n\n[Install]\nWantedBy=multi-user.target\n"
}

func secretOf(deployment *MachineDeployment, kind, content string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: BootstrapNamespace,
			Name:      BootstrapSecretName(deployment.Namespace, deployment.Name, kind),
			Annotations: map[string]string{
				BootstrapRevisionAnnotation: deployment.Annotations[RevisionAnnotation],
				BootstrapOwnerAnnotation:    string(deployment.UID),
				BootstrapHashAnnotation:     annotationsHash(deployment),
			},
		},
		Type: corev1.SecretTypeOpaque, Immutable: new(true),
		Data: map[string][]byte{cloudConfigKey: []byte(content)},
	}
}

// BootstrapIsCurrent says whether a Secret was made for the MachineDeployment's
// current revision. The machine-controller asks for nothing else.
func BootstrapIsCurrent(deployment *MachineDeployment, secret *corev1.Secret) bool {
	return secret != nil && Revision(deployment) > 0 &&
		secret.Annotations[BootstrapRevisionAnnotation] == deployment.Annotations[RevisionAnnotation] &&
		secret.Annotations[BootstrapOwnerAnnotation] == string(deployment.UID)
}

// BootstrapIsToStay says that the operating-system-manager leaves a Secret as it is. Any annotation of the MachineDeployment has
// it written again, from the flags of now: the next Machine of an old MachineSet may then join in another way.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go
// (handleOSCAndSecretsRotation, calculateAnnotationsHash).
func BootstrapIsToStay(deployment *MachineDeployment, secret *corev1.Secret) bool {
	return BootstrapIsCurrent(deployment, secret) && secret.Annotations[BootstrapHashAnnotation] == annotationsHash(deployment)
}

// annotationsHash does not depend on the order: fmt sorts the keys of maps.
func annotationsHash(deployment *MachineDeployment) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", deployment.Annotations)))
}

// NotReadyError says why a Machine cannot boot yet.
type NotReadyError struct{ Reason string }

// Error implements error.
func (e *NotReadyError) Error() string { return "cloud config not ready: " + e.Reason }

// KubeletIsExternal reads from the bootstrap Secrets how kubelets of set join.
// They are for the MachineDeployment's newest revision, and a set of
// another one cannot boot with them: a Machine that an old set makes in the middle
// of a roll waits for good.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go
// (ensureInstanceExistsForMachine).
func KubeletIsExternal(deployment *MachineDeployment, set *MachineSet, bootstrap Bootstrap) (bool, error) {
	if Revision(deployment) != Revision(set) {
		return false, &NotReadyError{fmt.Sprintf("MachineDeployment %s is at revision %d, MachineSet %s at %d",
			deployment.Name, Revision(deployment), set.Name, Revision(set))}
	}
	for _, secret := range bootstrap.Secrets() {
		if !BootstrapIsCurrent(deployment, secret) {
			return false, &NotReadyError{
				fmt.Sprintf("no bootstrap Secrets for revision %d of MachineDeployment %s", Revision(deployment), deployment.Name),
			}
		}
	}
	return StartsExternal(bootstrap.Config)
}

// StartsExternal says how a kubelet starts on a machine that gets the Secret.
func StartsExternal(config *corev1.Secret) (bool, error) {
	files, err := bootFiles(config.Data[cloudConfigKey])
	if err != nil {
		return false, fmt.Errorf("read key %s of bootstrap Secret %s: %w", cloudConfigKey, config.Name, err)
	}
	unit, found := files[kubeletUnit]
	if !found {
		return false, fmt.Errorf("bootstrap Secret %s has no %s", config.Name, kubeletUnit)
	}
	return strings.Contains(unit, "--cloud-provider=external"), nil
}

// ConfigSecretIn is the name of the Secret that a machine fetches which boots with the user data: the only one in it that is of
// that kind.
func ConfigSecretIn(userData string) (string, error) {
	files, err := bootFiles([]byte(userData))
	if err != nil {
		return "", fmt.Errorf("read the user data: %w", err)
	}
	name := regexp.MustCompile(`[a-z0-9][a-z0-9.-]*-` + ConfigSecret + `-config\b`)
	for _, content := range files {
		if found := name.FindString(content); found != "" {
			return found, nil
		}
	}
	return "", errors.New("the user data fetches no Secret")
}

// bootFiles are the files that cloud-init writes, by their paths.
func bootFiles(data []byte) (map[string]string, error) {
	var config struct {
		Files []struct {
			Path     string `json:"path"`
			Encoding string `json:"encoding"`
			Content  string `json:"content"`
		} `json:"write_files"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, file := range config.Files {
		content := file.Content
		if file.Encoding == "b64" {
			decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(content))
			if err != nil {
				return nil, fmt.Errorf("decode %s: %w", file.Path, err)
			}
			content = string(decoded)
		}
		files[file.Path] = content
	}
	return files, nil
}
