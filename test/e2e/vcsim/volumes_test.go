//go:build vcsim

package vcsim_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	before, after = "node-1", "node-2"
	claim         = "data"
	// gated are specs of a minor that can switch CSI migration off, locked are those of one that can't, too.
	gated, locked = "gated", "locked"
	handMade      = "by-hand"
)

// inTreeAgent is what KCM calls itself.
func inTreeAgent() string { return "kubernetes-cloudprovider/v" + bed.KubernetesVersion }

var _ = Describe("A volume of vSphere that KCM made in-tree", Label(gated), func() {
	It("stays where it is when the gate comes, and is the driver's on the Node that comes next", func(ctx SpecContext) {
		s := &story{world: newWorld(ctx, "migrated", before, after)}
		s.session = s.openSession()
		s.isAttachedInTree()
		s.staysWhenTheGateComes()
		s.hasToBeRegistered()
		s.isTheDriversOnTheNextNode()
		s.isDetachedByBothNames()
	}, NodeTimeout(suite.StoryTime))
})

// story is of one volume, and of another one that people made by hand.
type story struct {
	*world
	session     *usercluster.Session
	volume      *corev1.PersistentVolume
	path, other string
	attachment  string
}

func (s *story) isAttachedInTree() {
	GinkgoHelper()
	s.startKCM(false)
	s.volume = s.provision(claim)
	s.path = s.volume.Spec.VsphereVolume.VolumePath
	Expect(s.path).To(HavePrefix("[" + datastore + "] kubevols/"))
	Expect(s.client.Create(s.ctx, podAt(before, "db", claimed(claim)))).To(Succeed())
	s.expectAttached(before, s.path)
	s.mounts(before, uniqueInTree(s.path))
	seen := s.inventory(s.session)
	Expect(seenVolume(seen, s.volume.Name)).To(And(HaveField("Plugin", plugin), HaveField("Driver", ""), HaveField("Path", "")))
	Expect(seen.Attachments).To(BeEmpty())
}

// staysWhenTheGateComes: in KCM, but in no kubelet.
func (s *story) staysWhenTheGateComes() {
	GinkgoHelper()
	By("switching the gate on in KCM")
	moves := len(s.cloud.log())
	s.startKCM(true)
	s.expectMigrated(s.volume.Name)
	s.other = s.cloud.makeDisk(s.ctx, handMade)
	Expect(s.client.Create(s.ctx, byHand(handMade, s.other))).To(Succeed())
	Expect(s.client.Create(s.ctx, claimOf(handMade, "", handMade))).To(Succeed())
	s.bound(handMade)
	Expect(s.client.Create(s.ctx, podAt(before, handMade, claimed(handMade)))).To(Succeed())
	s.expectAttached(before, s.other)
	Expect(s.cloud.at(s.ctx, s.path)).To(Equal([]string{before}))
	Expect(s.cloud.log()).To(HaveLen(moves+1), "KCM moves no volume of a kubelet that does not migrate")
	Expect(s.attachments()).To(BeEmpty())
}

// hasToBeRegistered: the manager asks for each volume, by the path that the driver registers it with, before it drains a Node.
func (s *story) hasToBeRegistered() {
	GinkgoHelper()
	seen := s.inventory(s.session)
	Expect(seenVolume(seen, s.volume.Name).Path).To(Equal(s.path))
	Expect(seenVolume(seen, handMade).Path).To(Equal(s.other))
	waits := HaveField("Wait.Reason", ucv1.RegisteringVolumesReason)
	Expect(s.roll(s.session)).To(And(waits, HaveField("Message", ContainSubstring("The CRD does not exist")),
		HaveField("Objects", ConsistOf(HaveField("Name", s.volume.Name), HaveField("Name", handMade)))))
	s.register(s.path)
	Expect(s.roll(s.session)).To(And(waits, HaveField("Objects", ConsistOf(HaveField("Name", handMade)))))
	s.register(s.other)
	Expect(s.roll(s.session)).To(HaveField("Action.Kind", outcome.ActionRollMachineDeployment))
}

// isTheDriversOnTheNextNode, whose kubelet migrates.
func (s *story) isTheDriversOnTheNextNode() {
	GinkgoHelper()
	By("moving the pod to a Node whose kubelet migrates")
	played := s.startDriver()
	s.migrateKubelet(after)
	Expect(s.client.Delete(s.ctx, podAt(before, "db", claimed(claim)))).To(Succeed())
	Expect(s.client.Create(s.ctx, podAt(after, "db-2", claimed(claim)))).To(Succeed())
	// The name has the handle in it: it is KCM's when KCM translates as we do.
	s.attachment = nameOf(s.volume, after)
	made := &storagev1.VolumeAttachment{}
	s.eventually(func(g Gomega) {
		g.Expect(s.client.Get(s.ctx, client.ObjectKey{Name: s.attachment}, made)).To(Succeed())
		g.Expect(made.Status.AttachError).NotTo(BeNil())
	})
	Expect(made.Spec).To(And(HaveField("Attacher", driver), HaveField("NodeName", after)))
	Expect(made.Spec.Source.PersistentVolumeName).To(HaveValue(Equal(s.volume.Name)))
	Expect(s.cloud.at(s.ctx, s.path)).To(Equal([]string{before}), "KCM does not wait until the kubelet there has unmounted it")
	Expect(played.refusals()).To(BeNumerically(">", 0), "so it is the cloud that refuses")
	seen := observation.Attachment{Name: s.attachment, Attacher: driver, Node: after, Volume: s.volume.Name, Problem: "attaching"}
	Expect(s.session.Facts.Attachments(s.ctx).Value()).To(ConsistOf(seen))

	s.mounts(before)
	s.eventually(func(g Gomega) {
		g.Expect(s.client.Get(s.ctx, client.ObjectKey{Name: s.attachment}, made)).To(Succeed())
		g.Expect(made.Status.Attached).To(BeTrue())
		g.Expect(s.node(after).Status.VolumesAttached).To(ContainElement(HaveField("Name", uniqueCSI(s.path))))
	})
	Expect(s.cloud.at(s.ctx, s.path)).To(Equal([]string{after}))
	seen.Problem = ""
	Expect(s.session.Facts.Attachments(s.ctx).Value()).To(ConsistOf(seen))
	Expect(s.cloud.follow(s.path)).To(Equal([]string{
		inTreeAgent() + " attaches to " + before, inTreeAgent() + " detaches from " + before, driver + " attaches to " + after,
	}))
}

// isDetachedByBothNames: KCM knows the volume as one of the in-tree plugin again, and still as one of the driver. A rollback waits
// for VolumeAttachments to go before it switches the gates off.
func (s *story) isDetachedByBothNames() {
	GinkgoHelper()
	By("switching the gate off again")
	s.mounts(after, uniqueCSI(s.path))
	s.startKCM(false)
	s.eventually(func(g Gomega) {
		g.Expect(s.node(after).Status.VolumesAttached).To(ConsistOf(
			HaveField("Name", uniqueInTree(s.path)), HaveField("Name", uniqueCSI(s.path))))
	})
	Expect(s.client.Delete(s.ctx, podAt(after, "db-2", claimed(claim)))).To(Succeed())
	s.mounts(after)
	s.eventually(func(g Gomega) {
		g.Expect(s.cloud.at(s.ctx, s.path)).To(BeEmpty())
		g.Expect(s.attachments()).To(BeEmpty())
		g.Expect(s.node(after).Status.VolumesAttached).To(BeEmpty())
	})
	Expect(s.cloud.follow(s.path)).To(HaveLen(4))
}
