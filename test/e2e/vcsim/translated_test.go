//go:build vcsim

package vcsim_test

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
)

var _ = Describe("Where CSI migration is on in KCM and in kubelets, a volume of vSphere", Label(gated, locked), func() {
	It("that an in-tree KCM made before is the driver's, and has to be registered", func(ctx SpecContext) {
		w := migrating(ctx, "before")
		volume := byHand("before", w.cloud.makeDisk(ctx, "before"))
		volume.Annotations = map[string]string{"pv.kubernetes.io/provisioned-by": plugin}
		path := volume.Spec.VsphereVolume.VolumePath
		Expect(w.client.Create(ctx, volume)).To(Succeed())
		Expect(w.client.Create(ctx, claimOf(claim, "", volume.Name))).To(Succeed())
		w.bound(claim)
		w.expectMigrated(volume.Name)
		w.startDriver()
		Expect(w.client.Create(ctx, podAt(after, "db", claimed(claim)))).To(Succeed())
		made := &storagev1.VolumeAttachment{}
		w.eventually(func(g Gomega) {
			g.Expect(w.client.Get(ctx, client.ObjectKey{Name: nameOf(volume, after)}, made)).To(Succeed())
			g.Expect(made.Status.Attached).To(BeTrue())
		})
		Expect(w.cloud.follow(path)).To(Equal([]string{driver + " attaches to " + after}))

		session := w.openSession()
		Expect(seenVolume(w.inventory(session), volume.Name)).To(And(HaveField("Plugin", plugin), HaveField("Path", path)))
		Expect(w.roll(session)).To(And(
			HaveField("Wait.Reason", ucv1.RegisteringVolumesReason), HaveField("Objects", ConsistOf(HaveField("Name", volume.Name)))))
		w.register(path)
		Expect(w.roll(session)).To(HaveField("Wait", BeNil()))
	}, SpecTimeout(suite.StoryTime))

	It("that stands in a pod has a VolumeAttachment without PersistentVolume", func(ctx SpecContext) {
		w := migrating(ctx, "inline")
		path := w.cloud.makeDisk(ctx, "inline")
		Expect(w.client.Create(ctx, podAt(after, "inline", inline(path, "")))).To(Succeed())
		w.eventually(func(g Gomega) { g.Expect(w.attachments()).To(HaveLen(1)) })
		source := w.attachments()[0].Spec.Source
		Expect(source.PersistentVolumeName).To(BeNil())
		Expect(source.InlineVolumeSpec.CSI).To(And(HaveField("Driver", driver), HaveField("VolumeHandle", path)))
		seen := w.openSession().Facts.Attachments(ctx).Value()
		Expect(seen).To(ConsistOf(And(HaveField("Attacher", driver), HaveField("Node", after), HaveField("Volume", ""))))
	}, SpecTimeout(suite.StoryTime))

	// Preflight objects to it with VolumeNotTranslated, and its runbook says this.
	It("that stands in a pod with a storage policy ends KCM, each time that it starts", func(ctx SpecContext) {
		w := migrating(ctx, "policy")
		Expect(w.client.Create(ctx, podAt(after, "gold", inline(w.cloud.makeDisk(ctx, "gold"), "gold")))).To(Succeed())
		for range 2 {
			Eventually(w.kcm.Done()).WithContext(ctx).WithTimeout(patience).Should(BeClosed())
			log, err := os.ReadFile(w.kcm.LogFile())
			Expect(err).NotTo(HaveOccurred())
			Expect(string(log)).To(And(ContainSubstring("panic: "), ContainSubstring("TranslateInTreeInlineVolumeToCSI")))
			Expect(os.Remove(w.kcm.LogFile())).To(Succeed())
			w.startKCM(true)
		}
		Eventually(w.kcm.Done()).WithContext(ctx).WithTimeout(patience).Should(BeClosed())
	}, SpecTimeout(suite.StoryTime))
})

// migrating is a cluster of which one Node's kubelet migrates volumes.
func migrating(ctx SpecContext, name string) *world {
	GinkgoHelper()
	w := newWorld(ctx, name, before, after)
	w.startKCM(true)
	w.migrateKubelet(after)
	return w
}

func inline(path, policy string) corev1.VolumeSource {
	return corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{
		VolumePath: path, FSType: "ext4", StoragePolicyName: policy,
	}}
}
