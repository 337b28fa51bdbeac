package register

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/registration"
)

var update = flag.Bool("update", false, "write the golden files again")

// confidential is in every Secret, cloud configuration and manifest of testdata.
const confidential = "hunter2"

// objectsIn are the documents of a file.
func objectsIn(t *testing.T, file string) []client.Object {
	t.Helper()
	g := NewWithT(t)
	data, err := os.Open(filepath.Join("testdata", file))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(data.Close()).To(Succeed()) }()
	var objects []client.Object
	for decoder := yaml.NewYAMLOrJSONDecoder(data, 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		g.Expect(err).NotTo(HaveOccurred())
		objects = append(objects, object)
	}
}

// lookAt is a look at a management cluster with these objects, which is never written to.
func lookAt(t *testing.T, platform registration.Platform, namespace string, objects ...client.Object) *look {
	t.Helper()
	g := NewWithT(t)
	scheme, err := management.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	catalogue := provider.New()
	return &look{
		client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), host: "https://seed",
		platform: platform, namespace: namespace, selector: labels.Everything(),
		catalogue: catalogue, providers: providersOf(catalogue),
	}
}

// failing makes reads fail as the function says.
func (l *look) failing(read func(object any) error) *look {
	l.client = interceptor.NewClient(l.client.(client.WithWatch), interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			if err := read(object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := read(list); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	})
	return l
}

// printed is what the command prints.
func printed(t *testing.T, l *look, format string, files ...string) string {
	t.Helper()
	g := NewWithT(t)
	proposals, err := l.proposals(t.Context(), files)
	g.Expect(err).NotTo(HaveOccurred())
	out := &bytes.Buffer{}
	g.Expect(write(out, format, report{From: l.platform, Namespace: l.namespace, Proposals: proposals})).To(Succeed())
	return out.String()
}

func expectGolden(t *testing.T, name, got string) {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join("testdata", name)
	if *update {
		g.Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "go test ./internal/cli/register -update writes it")
	g.Expect(got).To(Equal(string(want)), "go test ./internal/cli/register -update writes %s again", path)
}

func TestProposals(t *testing.T) {
	for name, test := range map[string]struct {
		platform  registration.Platform
		namespace string
		objects   string
		files     []string
	}{
		"kkp":         {platform: registration.KKP, objects: "kkp.yaml"},
		"gardener":    {platform: registration.Gardener, objects: "gardener.yaml"},
		"deployments": {platform: registration.Deployments, objects: "deployments.yaml"},
		"kubeone": {
			platform: registration.KubeOne, namespace: "user-shop", objects: "deployments.yaml", files: []string{"testdata/kubeone.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"yaml", "json"} {
				l := lookAt(t, test.platform, test.namespace, objectsIn(t, test.objects)...)
				got := printed(t, l, format, test.files...)
				NewWithT(t).Expect(got).NotTo(ContainSubstring(confidential))
				expectGolden(t, name+".golden."+format, got)
			}
		})
	}
}

func TestWhereToLook(t *testing.T) {
	for name, test := range map[string]struct {
		platform            registration.Platform
		namespace, selector string
		objects             string
		has, lacks          string
	}{
		"in one namespace": {
			platform: registration.KKP, namespace: "cluster-b8x4zk2m9q", objects: "kkp.yaml",
			has: "name: b8x4zk2m9q\n", lacks: "d3q9vr6j1k",
		},
		"at none of KKP's Clusters without the label": {
			platform: registration.KKP, selector: "project-id=another", objects: "kkp.yaml",
			has: "0 Clusters proposed, 0 not", lacks: "b8x4zk2m9q",
		},
		"at KKP's Clusters with the label": {
			platform: registration.KKP, selector: "project-id=fd2xnqfhw4", objects: "kkp.yaml",
			has: "2 Clusters proposed, 2 not", lacks: "could not be looked at",
		},
		"in namespaces with the label": {
			platform: registration.Gardener, selector: "shoot.gardener.cloud/provider=openstack", objects: "gardener.yaml",
			has: "shoot--garden--web", lacks: "0 not",
		},
		"in no namespace without the label": {
			platform: registration.Gardener, selector: "shoot.gardener.cloud/provider=aws", objects: "gardener.yaml",
			has: "No Deployment there runs kube-controller-manager", lacks: "shoot--garden--web",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			l := lookAt(t, test.platform, test.namespace, objectsIn(t, test.objects)...)
			selector, err := labels.Parse(test.selector)
			g.Expect(err).NotTo(HaveOccurred())
			l.selector = selector
			g.Expect(printed(t, l, "yaml")).To(And(ContainSubstring(test.has), Not(ContainSubstring(test.lacks))))
		})
	}
}

// What could not be looked at is said, and is neither absent nor a reason to propose nothing.
func TestWhatCouldNotBeLookedAt(t *testing.T) {
	refused := errors.New("seed says no")
	for name, test := range map[string]struct {
		platform registration.Platform
		objects  string
		read     func(object any) error
		has      []string
	}{
		"KKP's Clusters": {
			platform: registration.KKP, objects: "kkp.yaml",
			read: func(object any) error { return failWhen[*unstructured.UnstructuredList](object, refused) },
			has: []string{
				"What the platform itself says of the user cluster could not be looked at: seed says no.",
				"name: b8x4zk2m9q", "From: the tag of the image of container controller-manager of Deployment controller-manager.",
			},
		},
		"a management cluster without KKP": {
			platform: registration.KKP, objects: "kkp.yaml",
			read: func(object any) error {
				return failWhen[*unstructured.UnstructuredList](object, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Cluster"}})
			},
			has: []string{"it is no seed's", "name: b8x4zk2m9q"},
		},
		"Secrets and Clusters": {
			platform: registration.Deployments, objects: "deployments.yaml",
			read: func(object any) error {
				return errors.Join(failWhen[*corev1.Secret](object, refused), failWhen[*ucv1.ClusterList](object, refused))
			},
			has: []string{
				"Missing: Secret user-alpha-kubeconfig could not be looked at: seed says no.",
				"Check: The Secret could not be looked at: seed says no.",
				"Whether there is a Cluster for it already could not be looked at: seed says no.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := printed(t, lookAt(t, test.platform, "", objectsIn(t, test.objects)...).failing(test.read), "yaml")
			for _, text := range test.has {
				g.Expect(unwrapped(got)).To(ContainSubstring(text))
			}
		})
	}
}

func failWhen[T any](object any, err error) error {
	if _, is := object.(T); is {
		return err
	}
	return nil
}

func TestWithoutDeploymentsThereIsNothingToSay(t *testing.T) {
	l := lookAt(t, registration.Deployments, "").failing(func(any) error { return errors.New("no") })
	_, err := l.proposals(t.Context(), nil)
	NewWithT(t).Expect(err).To(MatchError("list Deployments of the management cluster at https://seed: no"))
}

func TestFlagsThatDoNotFitTogetherAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"no platform":               {arguments: []string{}, says: `--from is ""`},
		"a platform of no one":      {arguments: []string{"--from=kops"}, says: "it is one of kkp, kubeone, gardener, deployments"},
		"a format of no one":        {arguments: []string{"--from=kkp", "-o=text"}, says: "it is one of yaml, json"},
		"KubeOne without a file":    {arguments: []string{"--from=kubeone"}, says: "needs --filename"},
		"KubeOne in all namespaces": {arguments: []string{"--from=kubeone", "-f=a", "-A"}, says: "takes neither"},
		"a file for KKP":            {arguments: []string{"--from=kkp", "-f=a"}, says: "for --from=kubeone only"},
		"a selector that is none":   {arguments: []string{"--from=kkp", "-l=a=b=c"}, says: "--selector"},
		"an argument":               {arguments: []string{"--from=kkp", "alpha"}, says: "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			command := Command()
			command.SetArgs(test.arguments)
			command.SetOut(io.Discard)
			command.SetErr(io.Discard)
			err := command.Execute()
			g.Expect(err).To(MatchError(ContainSubstring(test.says)))
			g.Expect(terminal.ExitCode(err)).To(Equal(terminal.ExitRefused))
		})
	}
}

// unwrapped joins the lines of comments.
func unwrapped(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "#", " ")), " ")
}
