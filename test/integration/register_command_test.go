package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// registrar may read what docs/register.md asks for, and these Secrets; whoever has no other rights can change nothing.
func (w *world) registrar(secrets ...string) commandLine {
	w.t.Helper()
	return w.person(
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"list"}},
		rbacv1.PolicyRule{APIGroups: []string{"usercluster.k8c.io"}, Resources: []string{"clusters"}, Verbs: []string{"list"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: secrets},
	)
}

// registered runs the command once the authorizer knows the rules.
func registered(t *testing.T, line commandLine) string {
	t.Helper()
	out := ""
	NewWithT(t).Eventually(func() int {
		var code int
		out, code = line.run("register", "--from=deployments")
		return code
	}, deadline, interval).Should(BeZero(), "the authorizer reads the rules from a watch")
	return out
}

// What is printed is what the API server takes, and nothing was written before a person applied it.
func TestRegisterProposesWhatCanBeApplied(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.secret(w.namespace+"-kubeconfig", map[string][]byte{"value": w.kubeconfig})
	w.secret(w.namespace+"-cloud-config", simcloudConfig())
	line := w.registrar(w.namespace+"-kubeconfig", w.namespace+"-cloud-config")
	before := w.snapshot()

	out := registered(t, line)
	g.Expect(out).To(
		And(ContainSubstring("1 Cluster proposed, 0 not"), ContainSubstring("exists, with the name that the documentation")),
	)
	g.Expect(out).NotTo(Or(ContainSubstring(string(w.kubeconfig)), ContainSubstring(string(simcloudConfig()["token"]))))
	g.Expect(w.snapshot()).To(Equal(before))

	proposed := &ucv1.Cluster{}
	g.Expect(yaml.UnmarshalStrict([]byte(out), proposed)).To(Succeed(), out)
	g.Expect(suite.client.Create(t.Context(), proposed.DeepCopy(), client.DryRunAll)).To(Succeed(), out)
	kept := &ucv1.Cluster{}
	g.Expect(suite.client.Create(t.Context(), proposed)).To(Succeed())
	g.Expect(suite.client.Get(t.Context(), client.ObjectKeyFromObject(proposed), kept)).To(Succeed())
	g.Expect(kept.Spec.Mode).To(Equal(ucv1.PlanOnlyMode))
	g.Expect(kept.Spec.Features.ExternalCloudProvider).To(HaveValue(BeFalse()))
	g.Expect(kept.Spec.Cloud.ProviderName + " " + kept.Spec.Version).To(Equal("simcloud 1.30.14"))

	g.Expect(registered(t, line)).To(ContainSubstring("Cluster " + w.namespace + "/" + w.namespace + " has it already."))
	g.Expect(client.IgnoreNotFound(suite.client.Delete(t.Context(), proposed))).To(Succeed())
}

// A person without the right to Secrets gets a proposal that says so.
func TestRegisterSaysWhatItMayNotLookAt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.secret(w.namespace+"-cloud-config", simcloudConfig())
	out := registered(t, w.registrar("another"))
	g.Expect(out).To(
		And(ContainSubstring("could not be looked at"), ContainSubstring("is forbidden"), ContainSubstring("# kubeconfigSecretRef:")),
	)
	proposed := &ucv1.Cluster{}
	g.Expect(yaml.UnmarshalStrict([]byte(out), proposed)).To(Succeed(), out)
	g.Expect(suite.client.Create(t.Context(), proposed, client.DryRunAll)).To(MatchError(ContainSubstring("configSecretRef")))
}
