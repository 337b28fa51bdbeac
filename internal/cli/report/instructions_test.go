package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestInstructionsForPeople(t *testing.T) {
	expectPrinted(t, map[string]printed{
		"Nodes in their order, with what is done": {
			cluster: func(c *ucv1.Cluster) {
				c.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
				c.Status.Instructions = []ucv1.Instruction{
					{Order: 1, Component: "kube-controller-manager", Node: "cp-1", Set: []string{"--controllers=*,-service"}, Done: true},
					{Order: 2, Component: "kube-controller-manager", Node: "cp-2"},
					{Order: 3, Component: "kube-controller-manager", Node: "cp-0", Set: []string{"--controllers=*,-service"}, Remove: []string{"--cloud-config"}, Leader: true},
				}
			},
			want: `Cluster user-alpha/alpha, at step Handover
The cloud loops have to be switched off.

One after the other; go on when the one before is done.

[x] 1. kube-controller-manager on Node cp-1

[ ] 2. kube-controller-manager on Node cp-2
      Nothing to change. Waiting until it is seen again and what ran before is proven to have ended.

[ ] 3. kube-controller-manager on Node cp-0, which leads now
      File /etc/kubernetes/manifests/kube-controller-manager.yaml, where kubeadm has it
      Set     --controllers=*,-service
      Remove  --cloud-config

The kubelet runs every file of that folder whose name does not begin with a dot, so keep no copy in it. Put the same flags
where the file is made from, or the next upgrade takes them back: for kubeadm, ConfigMap kube-system/kubeadm-config.
`,
		},
		"a Deployment": {
			cluster: func(c *ucv1.Cluster) {
				c.Spec.ControlPlane.Change = ucv1.InstructChange
				c.Status.Instructions = []ucv1.Instruction{
					{Order: 1, Component: "kube-controller-manager", Object: "Deployment user-alpha/kcm", Set: []string{"--controllers=*,-service"}},
				}
			},
			want: `Cluster user-alpha/alpha, at step Handover
The cloud loops have to be switched off.

One after the other; go on when the one before is done.

[ ] 1. kube-controller-manager in Deployment user-alpha/kcm
      Set     --controllers=*,-service
`,
		},
		"nothing to do": {
			cluster: func(c *ucv1.Cluster) { c.Spec.ControlPlane.Change = ucv1.InstructChange },
			want: "Cluster user-alpha/alpha, at step Handover\nThe cloud loops have to be switched off.\n\n" +
				"There is nothing to change now.\n",
		},
		"a control plane that we change": {
			want: "Cluster user-alpha/alpha, at step Handover\nThe controller changes this control plane itself: " +
				"spec.controlPlane.change is Apply.\n\nThere is nothing to change now.\n",
		},
		"a Cluster that is paused": {
			cluster: func(c *ucv1.Cluster) { c.Spec.Paused = true },
			want: "Cluster user-alpha/alpha, at step Handover\nspec.paused is true: there are no instructions until that is " +
				"taken back.\n\nThere is nothing to change now.\n",
		},
	})
}

func TestInstructionsAboutFilesForPeople(t *testing.T) {
	expectPrinted(t, map[string]printed{
		"a file that is to be read, once": {
			cluster: func(c *ucv1.Cluster) {
				c.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
				c.Status.Instructions = []ucv1.Instruction{
					{Order: 1, Component: "kube-controller-manager", Node: "cp-1", Set: []string{"--enable-leader-migration=true"}, Files: lockFile(), Done: true},
					{Order: 2, Component: "kube-controller-manager", Node: "cp-2", Set: []string{"--enable-leader-migration=true"}, Files: lockFile()},
					{Order: 3, Component: "kube-controller-manager", Object: "Deployment user-alpha/kcm", Set: []string{"--enable-leader-migration=true"}, Files: lockFile()},
				}
			},
			want: `Cluster user-alpha/alpha, at step Handover
The cloud loops have to be switched off.

One after the other; go on when the one before is done.

[x] 1. kube-controller-manager on Node cp-1

[ ] 2. kube-controller-manager on Node cp-2
      File /etc/kubernetes/manifests/kube-controller-manager.yaml, where kubeadm has it
      Mount   /etc/ccm-migration/leader-migration.yaml, by a read-only hostPath volume ccm-migration-lock of folder /etc/ccm-migration at the same path
      Set     --enable-leader-migration=true

[ ] 3. kube-controller-manager in Deployment user-alpha/kcm
      Mount   /etc/ccm-migration/leader-migration.yaml, by a read-only volume ccm-migration-lock of a ConfigMap at /etc/ccm-migration
      Set     --enable-leader-migration=true

The kubelet runs every file of that folder whose name does not begin with a dot, so keep no copy in it. Put the same flags
where the file is made from, or the next upgrade takes them back: for kubeadm, ConfigMap kube-system/kubeadm-config.

Write /etc/ccm-migration/leader-migration.yaml before you set the flags, to the letter; --output-dir DIR writes it for you.
Its SHA-256 is f54745789924c55e25b1f141b496ba9b15e1608a7519f5c4d2635945624d5461.

kind: LeaderMigrationConfiguration
`,
		},
		"a file that is not read any more": {
			cluster: func(c *ucv1.Cluster) {
				c.Spec.ControlPlane.Change = ucv1.InstructChange
				c.Status.Instructions = []ucv1.Instruction{{
					Order: 1, Component: "kube-controller-manager", Object: "Deployment user-alpha/kcm",
					Remove: []string{"--enable-leader-migration"}, RemoveFiles: []string{"/etc/ccm-migration/leader-migration.yaml"},
				}}
			},
			want: `Cluster user-alpha/alpha, at step Handover
The cloud loops have to be switched off.

One after the other; go on when the one before is done.

[ ] 1. kube-controller-manager in Deployment user-alpha/kcm
      Remove  --enable-leader-migration
      Unmount /etc/ccm-migration/leader-migration.yaml; delete the file when all are done
`,
		},
	})
}

func lockFile() []ucv1.InstructedFile {
	return []ucv1.InstructedFile{{
		Path: "/etc/ccm-migration/leader-migration.yaml", Volume: "ccm-migration-lock", Content: "kind: LeaderMigrationConfiguration\n",
	}}
}

func TestFilesOfInstructionsAreWritten(t *testing.T) {
	g, out, dir := NewWithT(t), &strings.Builder{}, filepath.Join(t.TempDir(), "files")
	report := &instructionsReport{Instructions: []ucv1.Instruction{{Node: "cp-1", Files: lockFile()}, {Node: "cp-2", Files: lockFile()}}}
	g.Expect(report.writeFiles(out, dir)).To(Succeed())
	path := filepath.Join(dir, "leader-migration.yaml")
	g.Expect(out.String()).To(Equal("wrote "+path+"\n"), "each once")
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(content)).To(Equal(lockFile()[0].Content))
}

// printed is a Cluster and what is printed of it.
type printed struct {
	cluster func(*ucv1.Cluster)
	want    string
}

func expectPrinted(t *testing.T, tests map[string]printed) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, out := NewWithT(t), &strings.Builder{}
			cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user-alpha", Name: "alpha"}}
			cluster.Status.Step = ucv1.StepHandover
			cluster.Status.Conditions = []metav1.Condition{
				{Type: ucv1.ReadyCondition, Message: "The cloud loops have to be switched off."},
			}
			if test.cluster != nil {
				test.cluster(cluster)
			}
			g.Expect(newInstructionsReport(cluster).text(out)).To(Succeed())
			g.Expect(out.String()).To(Equal(test.want))
		})
	}
}
