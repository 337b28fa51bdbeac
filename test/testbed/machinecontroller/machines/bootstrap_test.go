package machines_test

import (
	"errors"
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
