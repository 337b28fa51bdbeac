package machinecontroller

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// unitWith is a kubelet's unit with an argument among the others.
func unitWith(argument string) string {
	return "[Service]\nEnvironmentFile=-/etc/environment\nExecStartPre=/bin/bash " +
		"/opt/bin/setup_net_env.sh\nExecStart=/opt/bin/kubelet \\\n" +
		"  --config=/etc/kubernetes/kubelet.conf \\\n  " + argument +
		" \\\n  --hostname-override=${KUBELET_HOSTNAME} \\\n  --node-ip ${KUBELET_NODE_IP}\n\n" +
		"[Install]\nWantedBy=multi-user.target\n"
}

// cloudInit has a file in each way that the operating-system-manager writes one.
func cloudInit(path, encoding, content string) string {
	file := "#cloud-config\n\nssh_pwauth: false\nwrite_files:\n- path: '/opt/bin/health-monitor.sh'\n  permissions: '0755'\n  " +
		"encoding: 'b64'\n  content: |-\n    ZXhpdAo=\n" +
		"- path: '" + path + "'\n  permissions: '0600'\n"
	if encoding != "" {
		file += "  encoding: '" + encoding + "'\n"
	}
	return file + "  content: |-\n    " + strings.ReplaceAll(content, "\n", "\n    ") +
		"\nruncmd:\n- systemctl restart setup.service\n"
}

const unitPath = "/etc/systemd/system/kubelet.service"

func ignitionWith(source, compression string) string {
	contents := map[string]any{"source": source, "verification": map[string]any{}}
	if compression != "" {
		contents["compression"] = compression
	}
	data, _ := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "2.3.0"},
		"storage":  map[string]any{"files": []any{map[string]any{"filesystem": "root", "path": unitPath, "contents": contents}}},
	})
	return string(data)
}

func TestKubeletOfBootstrapData(t *testing.T) {
	const external, inTree, unclear = observation.BootstrapExternal, observation.BootstrapInTree, observation.BootstrapNotTold
	ours := unitWith("--cloud-provider=external")
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	unitOnly := func(argument string) string { return cloudInit(unitPath, "b64", encoded(unitWith(argument))) }
	beside := func(text string) string {
		return strings.Replace(
			cloudInit(unitPath, "", ours),
			"runcmd:",
			"- path: '"+unitPath+".d/10.conf'\n  content: \""+text+"\"\nruncmd:",
			1,
		)
	}
	for name, test := range map[string]struct {
		data string
		want observation.BootstrapKubelet
	}{
		"the flag":                                 {unitOnly("--cloud-provider=external"), external},
		"the flag and its value as two words":      {unitOnly("--cloud-provider external"), external},
		"the flag in a file that is not encoded":   {cloudInit(unitPath, "", ours), external},
		"the last one of two counts":               {unitOnly("--cloud-provider=aws --cloud-provider=external"), external},
		"a provider that is built in":              {unitOnly("--cloud-provider=openstack --cloud-config=/etc/kubernetes/cloud-config"), inTree},
		"no flag, as of Kubernetes 1.29":           {unitOnly("--cert-dir=/etc/kubernetes/pki"), inTree},
		"a flag without a value":                   {unitOnly("--cloud-provider="), inTree},
		"a variable may hold anything":             {unitOnly("$KUBELET_EXTRA_ARGS"), unclear},
		"a variable behind a flag of no value":     {unitOnly("--exit-on-lock-contention $KUBELET_EXTRA_ARGS"), unclear},
		"a variable beside the flag may revert it": {unitOnly("--cloud-provider=external $KUBELET_EXTRA_ARGS"), unclear},
		"the flag's value is a variable":           {unitOnly("--cloud-provider=${PROVIDER}"), unclear},
		"quotes":                                   {unitOnly(`"--cloud-provider=aws"`), unclear},
		"a shell around it":                        {cloudInit(unitPath, "", "[Service]\nExecStart=/bin/sh -c kubelet"), unclear},
		"a unit without a command":                 {cloudInit(unitPath, "", "[Service]\nRestart=always"), unclear},
		"a command that is taken back":             {cloudInit(unitPath, "", "[Service]\nExecStart=/bin/kubelet\nExecStart="), unclear},
		"two commands":                             {cloudInit(unitPath, "", "[Service]\nExecStart=/bin/kubelet\nExecStart=/bin/kubelet"), unclear},
		"an encoding of another kind":              {cloudInit(unitPath, "gz+b64", encoded(ours)), unclear},
		"an encoding that is broken":               {cloudInit(unitPath, "b64", "~"), unclear},
		"no unit":                                  {cloudInit("/etc/systemd/system/setup.service", "", ours), unclear},
		"a drop-in with a command of its own":      {beside(`[Service]\nExecStart=\nExecStart=/bin/kubelet`), unclear},
		"a drop-in with something else":            {beside(`[Service]\nEnvironment=A=b`), external},
		"Ignition":                                 {ignitionWith("data:,"+url.PathEscape(ours), ""), external},
		"Ignition without the flag":                {ignitionWith("data:,"+url.PathEscape(unitWith("--v=2")), ""), inTree},
		"Ignition in base64":                       {ignitionWith("data:;base64,"+encoded(ours), ""), external},
		"Ignition, compressed":                     {ignitionWith("data:;base64,"+encoded(ours), "gzip"), unclear},
		"Ignition from elsewhere":                  {ignitionWith("https://example.com/kubelet.service", ""), unclear},
		"Ignition with a unit":                     {`{"systemd":{"units":[{"name":"kubelet.service","contents":"[Service]\nExecStart=/kubelet --cloud-provider=external"}]}}`, external},
		"Ignition with a drop-in that replaces it": {`{"systemd":{"units":[{"name":"kubelet.service","contents":"[Service]\nExecStart=/kubelet --cloud-provider=external","dropins":[{"name":"a.conf","contents":"[Service]\nExecStart=\nExecStart=/kubelet"}]}]}}`, unclear},
		"Ignition with a drop-in beside it":        {`{"systemd":{"units":[{"name":"kubelet.service","contents":"[Service]\nExecStart=/kubelet --cloud-provider=external","dropins":[{"name":"a.conf","contents":"[Unit]\nAfter=a"}]}]}}`, external},
		"two units":                                {`{"systemd":{"units":[{"name":"kubelet.service","contents":"[Service]\nExecStart=/kubelet"},{"name":"kubelet.service","contents":"[Service]\nExecStart=/kubelet --cloud-provider=external"}]}}`, unclear},
		"a script":                                 {"#!/bin/sh\nkubelet --cloud-provider=external\n", unclear},
		"nothing":                                  {"", unclear},
		"YAML that is broken":                      {"#cloud-config\nwrite_files: [", unclear},
		"YAML with aliases":                        {"#cloud-config\na: &a x\nwrite_files: [*a]", unclear},
		"YAML of another kind":                     {"#cloud-config\n- a", unclear},
		"JSON that is broken":                      {"{", unclear},
		"more than a Secret may hold":              {unitOnly("--cloud-provider=external") + strings.Repeat("#", maxBootstrap), unclear},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(kubeletOf([]byte(test.data))).To(Equal(test.want))
		})
	}
}

// FuzzBootstrap: whatever the data is, it says one of three things, and external only where the flag stands.
func FuzzBootstrap(f *testing.F) {
	f.Add([]byte(cloudInit("/etc/systemd/system/kubelet.service", "", unitWith("--cloud-provider=external"))))
	f.Add([]byte(ignitionWith("data:,"+url.PathEscape(unitWith("--v=2")), "")))
	f.Add([]byte("#cloud-config\na: &a [*a]\nwrite_files: *a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		NewWithT(t).Expect(
			kubeletOf(data),
		).To(BeElementOf(observation.BootstrapExternal, observation.BootstrapInTree, observation.BootstrapNotTold))
	})
}

func TestBootstrapsAreReadByName(t *testing.T) {
	pool := observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "workers", UID: "md"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "cloud-init-settings", Name: "workers-kube-system-provisioning-config",
			Annotations: map[string]string{"k8c.io/machine-deployment-revision": "2"},
		},
		Data: map[string][]byte{
			"cloud-config": []byte(cloudInit("/etc/systemd/system/kubelet.service", "", unitWith("--cloud-provider=external"))),
		},
	}
	other := secret.DeepCopy()
	other.Name, other.Annotations["k8c.io/machine-deployment-revision"] = "b-kube-system-provisioning-config", strings.Repeat(
		"9",
		100,
	)
	other.Data["cloud-config"] = []byte("token: secret")
	refs := []observation.Ref{pool, {Namespace: "kube-system", Name: "b", UID: "b"}, {Namespace: "kube-system", Name: "c", UID: "c"}}

	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, secret, other)
	g.Expect(s.Bootstraps(t.Context(), refs).Value()).To(Equal(map[string]observation.BootstrapData{
		"md": {Kubelet: observation.BootstrapExternal, Revision: "2"},
		"b":  {Kubelet: observation.BootstrapNotTold},
		"c":  {Kubelet: observation.BootstrapMissing},
	}))
	g.Expect(s.Bootstraps(t.Context(), nil).IsAbsent()).To(BeTrue(), "no one asks")

	secrets := corev1.Resource("secrets")
	s = adapterWith(failing(apierrors.NewForbidden(secrets, "", errors.New("no RBAC rule"))))
	g.Expect(s.Bootstraps(t.Context(), refs[:1]).Value()).To(
		Equal(map[string]observation.BootstrapData{"md": {Kubelet: observation.BootstrapRefused}}),
	)
	s = adapterWith(failing(reads.ErrTooLarge))
	g.Expect(s.Bootstraps(t.Context(), refs[:1]).Value()).To(
		Equal(map[string]observation.BootstrapData{"md": {Kubelet: observation.BootstrapNotTold}}),
	)
	s = adapterWith(failing(apierrors.NewTimeoutError("slow", 1)))
	seen := s.Bootstraps(t.Context(), refs[:1])
	g.Expect(seen.IsUnknown()).To(BeTrue(), "an API server that does not answer says nothing of the data")
	g.Expect(seen.Why()).To(ContainSubstring("cloud-init-settings/workers-kube-system-provisioning-config"))
}
