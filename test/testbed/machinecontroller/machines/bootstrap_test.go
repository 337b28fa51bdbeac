package machines_test

import (
	"encoding/base64"
	"errors"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func deployment(revision, uid string) *machines.MachineDeployment {
	return &machines.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "pool", UID: types.UID(uid),
		Annotations: map[string]string{machines.RevisionAnnotation: revision},
	}}
}

func machineSet(revision string) *machines.MachineSet {
	return &machines.MachineSet{ObjectMeta: metav1.ObjectMeta{
		Name: "pool-x", Annotations: map[string]string{machines.RevisionAnnotation: revision},
	}}
}

func TestKubeletIsExternal(t *testing.T) {
	inTree := machines.RenderBootstrap(deployment("1", "u"), false)
	external := machines.RenderBootstrap(deployment("2", "u"), true)
	broken := machines.Bootstrap{Config: external.Fetch, Fetch: external.Fetch}
	profiled := deployment("2", "u")
	profiled.Annotations[machines.ProfileAnnotation] = machines.InTreeProfile
	tests := map[string]struct {
		deployment *machines.MachineDeployment
		set        *machines.MachineSet
		secrets    machines.Bootstrap
		want       bool
		notReady   bool
		wrong      bool
	}{
		"the Secret of revision 1 says in-tree":                    {deployment("1", "u"), machineSet("1"), inTree, false, false, false},
		"the Secret of revision 2 says external":                   {deployment("2", "u"), machineSet("2"), external, true, false, false},
		"an old set cannot boot with the newest revision's Secret": {deployment("2", "u"), machineSet("1"), external, false, true, false},
		"no Secret means wait":                                     {deployment("1", "u"), machineSet("1"), machines.Bootstrap{}, false, true, false},
		"a Secret of the last revision means wait":                 {deployment("2", "u"), machineSet("2"), inTree, false, true, false},
		"a deployment that lags behind its set means wait":         {deployment("1", "u"), machineSet("2"), inTree, false, true, false},
		"a deployment without a revision means wait":               {deployment("", "u"), machineSet(""), inTree, false, true, false},
		"the Secret of a deleted namesake means wait":              {deployment("1", "other"), machineSet("1"), inTree, false, true, false},
		"the other one of the two is not there":                    {deployment("2", "u"), machineSet("2"), machines.Bootstrap{Fetch: external.Fetch}, false, true, false},
		"a profile without the flag":                               {profiled, machineSet("2"), machines.RenderBootstrap(profiled, true), false, false, false},
		"a Secret that says neither is an error and not a default": {deployment("2", "u"), machineSet("2"), broken, false, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := machines.KubeletIsExternal(test.deployment, test.set, test.secrets)
			var notReady *machines.NotReadyError
			g.Expect(errors.As(err, &notReady)).To(Equal(test.notReady))
			g.Expect(err != nil).To(Equal(test.notReady || test.wrong))
			g.Expect(got).To(Equal(test.want))
		})
	}
}

func TestConfigSecretIn(t *testing.T) {
	of := func(content string) string {
		return "#cloud-config\nwrite_files:\n- path: /etc/other\n  content: nothing\n- path: /opt/bin/bootstrap\n  " + content + "\n"
	}
	// As in https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/deploy/osps/default/osp-ubuntu.yaml#L112
	script := "curl -H 'Bearer x' https://127.0.0.1:6443/api/v1/namespaces/cloud-init-settings/secrets/pool-a-kube-system-provisioning-config" +
		" | base64 -d > /etc/cloud/cloud.cfg.d/pool-a-kube-system-provisioning-config.cfg"
	for name, test := range map[string]struct{ userData, want string }{
		"of our stand-in":    {string(machines.RenderBootstrap(deployment("1", "u"), true).Fetch.Data["cloud-config"]), "pool-kube-system-provisioning-config"},
		"of a profile":       {of("content: " + strconv.Quote(script)), "pool-a-kube-system-provisioning-config"},
		"that is encoded":    {of("encoding: b64\n  content: " + base64.StdEncoding.EncodeToString([]byte(script))), "pool-a-kube-system-provisioning-config"},
		"that fetches none":  {of("content: echo"), ""},
		"that is no YAML":    {"write_files: [", ""},
		"that is not base64": {of("encoding: b64\n  content: '!'"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := machines.ConfigSecretIn(test.userData)
			g.Expect(err != nil).To(Equal(test.want == ""))
			g.Expect(got).To(Equal(test.want))
		})
	}
}
