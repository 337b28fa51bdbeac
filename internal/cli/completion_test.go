package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
)

// completed is what a shell is told for a command line whose last word is being typed.
func completed(t *testing.T, connect connector, words ...string) []string {
	t.Helper()
	root, out := command(connect), &bytes.Buffer{}
	root.SetOut(out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, words...))
	NewWithT(t).Expect(root.Execute()).To(Succeed())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	NewWithT(t).Expect(lines[len(lines)-1]).To(Equal(":4"), "no files")
	return lines[:len(lines)-1]
}

func TestCompletion(t *testing.T) {
	scheme, err := management.NewScheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	cluster := func(namespace, name string) client.Object {
		return &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		cluster("user-a", "alpha"), cluster("user-a", "amber"), cluster("user-b", "beta"),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "user-a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}},
		&ucv1.FleetMigration{
			ObjectMeta: metav1.ObjectMeta{Name: "north"}, Spec: ucv1.FleetMigrationSpec{Waves: []ucv1.Wave{{Name: "canary"}, {Name: "rest"}}},
		},
	).Build()
	there := func(flags *pflag.FlagSet) (client.Client, string, error) {
		switch namespace := flags.Lookup("namespace").Value.String(); namespace {
		case "":
			return c, "user-a", nil
		case "away":
			return nil, "", errors.New("no cluster")
		default:
			return c, namespace, nil
		}
	}
	for line, want := range map[string][]string{
		"why ":                          {"alpha", "amber", "user-a/alpha", "user-a/amber", "user-b/beta"},
		"status al":                     {"alpha"},
		"status user-b/":                {"user-b/beta"},
		"why -n user-b ":                {"beta"},
		"inventory --namespace user-b ": {"beta"},
		"why -n away ":                  {},
		"why alpha ":                    {},
		"why -n ku":                     {"kube-system"},
		"fence open am":                 {"amber"},
		"fleet status ":                 {"north"},
		"fleet gate north ":             {"canary", "rest"},
		"fleet why be":                  {},
		"fleet why user-b/":             {"user-b/beta"},
		"status -o ":                    {"json", "text", "yaml"},
		"plan -o ":                      {"html", "json", "text", "yaml"},
	} {
		t.Run(line, func(t *testing.T) {
			NewWithT(t).Expect(completed(t, there, strings.Split(line, " ")...)).To(ConsistOf(want))
		})
	}
}

func TestHowTheProgramIsCalled(t *testing.T) {
	for path, name := range map[string]string{
		"/usr/local/bin/kubectl-ccm_migration": "kubectl ccm-migration", "kubectl-ccm_migration.exe": "kubectl ccm-migration",
		"/ccm-migration-controller": "ccm-migration-controller", "/tmp/cli.test": "ccm-migration-controller",
	} {
		NewWithT(t).Expect(calledAs(path)).To(Equal(name), path)
	}
}
