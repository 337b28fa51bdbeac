package story_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

// lease is shorter than the demo's, and long enough for its bars, which are ratios of it: samples are half a second apart, and
// other suites run beside the story.
const lease = 10 * time.Second

// share of the demo's bars that other suites beside the story may take. A Lease that is not freed still takes longer.
const share = 1.25

// This is the demo with shorter leases. It comes first, because it takes several places at once.
var _ = Describe("The story of the demo", Ordered, ContinueOnFailure, SpecPriority(1), Label(suite.Core), func() {
	var story *demo.Story
	var end context.CancelFunc
	var verdicts *suite.Verdicts

	BeforeAll(func(ctx SpecContext) {
		outlasting, cancel, release := suite.Outlasting(ctx)
		defer release()
		end = cancel
		DeferCleanup(end)
		options, screen := suite.BedOptions("story/demo")
		options.LeaseDuration = lease
		suite.TakePlaces(ctx, 3) // Of its four user clusters three migrate.
		var err error
		story, err = demo.Begin(outlasting, options, screen)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(SpecContext) { suite.ExpectStopped(story.Bed, story.End) }, NodeTimeout(suite.StartTime))
		verdicts = suite.WatchClusters(outlasting, story.Bed)
	}, NodeTimeout(suite.StartTime))

	It("is told as expected", func(ctx SpecContext) {
		defer context.AfterFunc(ctx, end)()
		meanwhile, over := context.WithCancel(ctx)
		defer over()
		argo := keepAsInGit(meanwhile, story.Bed, "alpha", "argocd-controller")
		flux := keepAsInGit(meanwhile, story.Bed, "gamma", "kustomize-controller")
		Expect(story.Tell()).To(Succeed())
		over()
		argo.expectPeace()
		flux.expectPeace()
		report, err := story.Report()
		Expect(err).NotTo(HaveOccurred())
		for _, c := range report.Clusters {
			if gap := c.Handover.GapSeconds; gap != nil {
				GinkgoWriter.Printf("%s: gap %.1f s\n", c.Name, *gap)
			}
			GinkgoWriter.Printf("%s: unattended %+v\n", c.Name, c.Unattended)
		}
		GinkgoWriter.Printf("alpha: condition True %.2f s after its last event\n", report.CompletionDelaySeconds)
		Expect(demo.Unmet(report, share)).To(BeEmpty())
	}, NodeTimeout(suite.StoryTime))

	It("nothing ran twice", func(SpecContext) {
		suite.ExpectNothingRanTwice(suite.ThisSpec(), story.Bed, "alpha", "beta", "gamma", "delta")
	}, NodeTimeout(suite.SpecTime))

	It("the manager has the rights of config/ and needs no other", func(ctx SpecContext) {
		expectLeastPrivilege(ctx, story.Bed)
	}, NodeTimeout(suite.SpecTime))

	It("a cluster that was created with the feature has no annotation", func(ctx SpecContext) {
		cluster := &ucv1.Cluster{}
		Expect(story.Bed.Client.Get(ctx, client.ObjectKey{Namespace: "user-beta", Name: "beta"}, cluster)).To(Succeed())
		Expect(cluster.ExternalCloudProvider()).To(BeTrue())
		Expect(cluster.Annotations).NotTo(HaveKey(ucv1.CCMMigrationNeededAnnotation))
		Expect(cluster.Annotations).NotTo(HaveKey(ucv1.CSIMigrationNeededAnnotation))
	}, NodeTimeout(suite.SpecTime))

	It("KCM of the next minor starts with what is left", func(ctx SpecContext) {
		expectUpgrade(ctx, story.Bed, "alpha")
	}, NodeTimeout(suite.SpecTime))

	It("a person writes new credentials of the manager", func(ctx SpecContext) {
		expectNewCredentials(ctx, story)
	}, NodeTimeout(suite.SpecTime))

	It("every status is one that other tools understand", func(SpecContext) {
		verdicts.ExpectGood(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
})

// expectLeastPrivilege: the manager is who config/ says, that identity may not do everything, and nothing was
// forbidden.
func expectLeastPrivilege(ctx context.Context, b *bed.Bed) {
	GinkgoHelper()
	pods := &corev1.PodList{}
	Expect(b.Client.List(ctx, pods, client.InNamespace(suite.ManagerNamespace))).To(Succeed())
	Expect(pods.Items).NotTo(BeEmpty())
	for _, pod := range pods.Items {
		Expect(pod.Spec.ServiceAccountName).To(Equal(suite.ManagerName))
	}
	expectNoAdministrator(ctx, b.Client, "system:serviceaccount:"+suite.ManagerNamespace+":"+suite.ManagerName)

	for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
		user := managersClient(ctx, b, name)
		who := &authenticationv1.SelfSubjectReview{}
		Expect(user.Create(ctx, who)).To(Succeed())
		Expect(who.Status.UserInfo.Username).To(Equal(bed.ManagerUser))
		Expect(who.Status.UserInfo.Groups).To(ConsistOf("system:authenticated"))
		expectNoAdministrator(ctx, user, bed.ManagerUser)
	}
	suite.ExpectNothingForbidden(suite.ThisSpec(), b)
}

// managersClient is what the manager has in a user cluster.
func managersClient(ctx context.Context, b *bed.Bed, name string) client.Client {
	GinkgoHelper()
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: "user-" + name, Name: name + "-kubeconfig"}
	Expect(b.Client.Get(ctx, key, secret)).To(Succeed())
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	Expect(err).NotTo(HaveOccurred())
	user, err := client.New(config, client.Options{Scheme: b.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return user
}

// expectNoAdministrator asks with a client that may ask, on behalf of whom it is about.
func expectNoAdministrator(ctx context.Context, c client.Client, user string) {
	GinkgoHelper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "*", Version: "*", Resource: "*", Verb: "*"},
	}}
	Expect(c.Create(ctx, review)).To(Succeed())
	Expect(review.Status.Allowed).To(BeFalse(), "%s may do everything", user)
}
