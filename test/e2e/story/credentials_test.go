package story_test

import (
	"context"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

// expectNewCredentials has a person write the manager's kubeconfig of beta again, signed by the cluster's own KCM.
func expectNewCredentials(ctx context.Context, story *demo.Story) {
	GinkgoHelper()
	b := story.Bed
	paths, err := story.Kubeconfigs()
	Expect(err).NotTo(HaveOccurred())
	management, beta := paths[0], paths[2]
	program := filepath.Join(b.Options().BinDir, "ccm-migration-controller")
	command := exec.CommandContext(ctx, program, "usercluster-credentials", "user-beta/beta", "--admin-kubeconfig="+beta,
		"--create", "--replace", "--expires-in=24h")
	command.Env = []string{"KUBECONFIG=" + management, "HOME=" + b.File("homes", "credentials")}
	said, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", said)
	GinkgoWriter.Printf("%s", said)
	Expect(string(said)).To(ContainSubstring("Wrote key value of Secret user-beta/beta-kubeconfig: a client certificate, which expires at "))

	secret := &corev1.Secret{}
	Expect(b.Client.Get(ctx, client.ObjectKey{Namespace: "user-beta", Name: "beta-kubeconfig"}, secret)).To(Succeed())
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	Expect(err).NotTo(HaveOccurred())
	Expect(config.CertData).NotTo(BeEmpty())
	who := &authenticationv1.SelfSubjectReview{}
	Expect(managersClient(ctx, b, "beta").Create(ctx, who)).To(Succeed())
	Expect(who.Status.UserInfo.Username).To(Equal(bed.ManagerUser))
}
