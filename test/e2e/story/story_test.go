package e2e_test

import (
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

const (
	managerNamespace = "ccm-migration-system"
	managerName      = "ccm-migration-controller-manager"
)

// TestStory is the demo with shorter leases.
func TestStory(t *testing.T) {
	g := NewWithT(t)
	options, screen := bedOptions(t, "story")
	story, err := demo.Begin(t.Context(), options, screen)
	g.Expect(err).NotTo(HaveOccurred())
	defer expectStopped(t, story.Bed, story.End)
	verdicts := watchClusters(t, story.Bed)

	g.Expect(story.Tell()).To(Succeed())
	report, err := story.Report()
	g.Expect(err).NotTo(HaveOccurred())
	for i := range report.Clusters {
		handover := &report.Clusters[i].Handover
		if handover.GapSeconds != nil {
			t.Logf("%s: gap %.1f s", report.Clusters[i].Name, *handover.GapSeconds)
		}
		// How long the gap is depends on the machine; the demo judges it.
		handover.GapSeconds = nil
	}
	t.Logf("alpha: condition True %.2f s after its last event", report.CompletionDelaySeconds)
	g.Expect(demo.Unmet(report)).To(BeEmpty())

	t.Run("the manager has the rights of config/ and needs no other", func(t *testing.T) { expectLeastPrivilege(t, story.Bed) })
	t.Run("a cluster that was created with the feature has no annotation", func(t *testing.T) { expectNoAnnotations(t, story.Bed) })
	t.Run("KCM of the next minor starts with what is left", func(t *testing.T) { expectUpgrade(t, story.Bed, "alpha") })
	t.Run("every status is one that other tools understand", verdicts.expectGood)
}

// expectLeastPrivilege: the manager is who config/ says, that identity may not do everything, and nothing was forbidden.
func expectLeastPrivilege(t *testing.T, b *bed.Bed) {
	g, ctx := NewWithT(t), t.Context()
	pods := &corev1.PodList{}
	g.Expect(b.Client.List(ctx, pods, client.InNamespace(managerNamespace))).To(Succeed())
	g.Expect(pods.Items).NotTo(BeEmpty())
	for _, pod := range pods.Items {
		g.Expect(pod.Spec.ServiceAccountName).To(Equal(managerName))
	}
	expectNoAdministrator(t, b.Client, "system:serviceaccount:"+managerNamespace+":"+managerName)

	for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
		user := managersClient(t, b, name)
		who := &authenticationv1.SelfSubjectReview{}
		g.Expect(user.Create(ctx, who)).To(Succeed())
		g.Expect(who.Status.UserInfo.Username).To(Equal(bed.ManagerUser))
		g.Expect(who.Status.UserInfo.Groups).To(ConsistOf("system:authenticated"))
		expectNoAdministrator(t, user, bed.ManagerUser)
	}
	expectNothingForbidden(t, b)
}

// managersClient is what the manager has in a user cluster.
func managersClient(t *testing.T, b *bed.Bed, name string) client.Client {
	t.Helper()
	g := NewWithT(t)
	secret := &corev1.Secret{}
	g.Expect(b.Client.Get(t.Context(), client.ObjectKey{Namespace: "user-" + name, Name: name + "-kubeconfig"}, secret)).To(Succeed())
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	g.Expect(err).NotTo(HaveOccurred())
	user, err := client.New(config, client.Options{Scheme: b.Client.Scheme()})
	g.Expect(err).NotTo(HaveOccurred())
	return user
}

// expectNoAdministrator asks with a client that may ask, on behalf of whom it is about.
func expectNoAdministrator(t *testing.T, c client.Client, user string) {
	t.Helper()
	g := NewWithT(t)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "*", Version: "*", Resource: "*", Verb: "*"},
	}}
	g.Expect(c.Create(t.Context(), review)).To(Succeed())
	g.Expect(review.Status.Allowed).To(BeFalse(), "%s may do everything", user)
}

// expectNothingForbidden reads the logs of all the manager's processes: a rule that is missing in config/ shows there.
func expectNothingForbidden(t *testing.T, b *bed.Bed) {
	t.Helper()
	g := NewWithT(t)
	logs, err := filepath.Glob(b.File("logs", bed.ManagementName, managerNamespace+"_"+managerName+"-*.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(logs).NotTo(BeEmpty())
	forbidden := regexp.MustCompile(`(?i).*(forbidden|cannot (get|list|watch|create|update|patch|delete) resource).*`)
	for _, log := range logs {
		content := readFile(log)
		g.Expect(content).NotTo(BeEmpty())
		g.Expect(forbidden.FindAllString(string(content), 3)).To(BeEmpty(), "in %s", log)
	}
}

func expectNoAnnotations(t *testing.T, b *bed.Bed) {
	g := NewWithT(t)
	cluster := &ucv1.Cluster{}
	g.Expect(b.Client.Get(t.Context(), client.ObjectKey{Namespace: "user-beta", Name: "beta"}, cluster)).To(Succeed())
	g.Expect(cluster.ExternalCloudProvider()).To(BeTrue())
	g.Expect(cluster.Annotations).NotTo(HaveKey(ucv1.CCMMigrationNeededAnnotation))
	g.Expect(cluster.Annotations).NotTo(HaveKey(ucv1.CSIMigrationNeededAnnotation))
}
