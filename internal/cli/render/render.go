package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

const renderLong = `Render what would be applied to a user cluster: the objects of the CSI driver, of the CCM, of the
fence, and of agents on the Nodes that are applied when the CCM has led, in the order in which they are applied. It
reads files only, and no cluster; with --digests it also asks the registries of the images.

--cloud-config is a manifest of the Secret, a folder with one file for each of its keys, or one file, which is the first key
that the provider needs. The values of Secrets are hidden unless --show-secrets is given. The images do not depend on it, so that
--images needs none.

--placement ControlPlane shows the CCM beside a hosted control plane: objects with label ccm-migration.k8c.io/cluster are those
of the management cluster.

--profile is the manifest of a ProviderProfile of that provider, under any name: it is laid over everything. Of one that cannot
be used, all problems are said and nothing is rendered.

--images --digests prints each image as NAME:TAG@DIGEST. The digest is the one that its registry has for the tag now: of the
index where there is one, so that it holds for all architectures. A digest of the profile stays; the registry has to have it. The
command takes the credentials of the docker configuration (docker login) and the proxy of HTTPS_PROXY. When the digest of one
image is not known, all problems are said and nothing is printed.

Exit codes: 0 fine; 1 a file cannot be read, nothing can be rendered from it, or the digest of an image is not known; 2 wrong
flags or arguments.`

const (
	defaultName = "kubernetes"
	defaultUID  = "00000000-0000-0000-0000-000000000000"
)

type renderFlags struct {
	provider, kubernetes, cloudConfig, profile, output, uid string
	images, digests, showSecrets, routes                    bool
	inherited                                               ucv1.InheritedConfiguration
	placement, namespace, name                              string
}

// Command shows what would be applied.
func Command() *cobra.Command {
	var flags renderFlags
	command := &cobra.Command{
		Use: "render --provider NAME --kubernetes VERSION --cloud-config FILE", Short: "Render what would be applied to a user " +
			"cluster.",
		Long: renderLong,
		Example: "  ccm-migration-controller render --provider openstack --kubernetes 1.30 --cloud-config cloud.conf\n" +
			"  ccm-migration-controller render --provider vsphere --kubernetes 1.29.4 --images\n" +
			"  ccm-migration-controller render --provider openstack --kubernetes 1.30 --profile profile.yaml --images --digests",
		Args: terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), command.OutOrStdout())
		},
	}
	set := command.Flags()
	set.StringVar(&flags.provider, "provider", "", "provider, as in spec.cloud.providerName")
	set.StringVar(&flags.kubernetes, "kubernetes", "", "version of Kubernetes, such as 1.30 or 1.30.14")
	set.StringVar(&flags.cloudConfig, "cloud-config", "", "the cloud configuration: a Secret's manifest, a folder, or a file")
	set.StringVar(&flags.profile, "profile", "", "a ProviderProfile's manifest")
	terminal.BindFormats(set, &flags.output, "yaml", "json")
	set.BoolVar(&flags.images, "images", false, "list the images only, for mirroring")
	set.BoolVar(&flags.digests, "digests", false, "with --images, ask the registries for the digests")
	set.BoolVar(&flags.showSecrets, "show-secrets", false, "print the values of Secrets")
	set.StringVar(&flags.inherited.ClusterName, "cluster-name", defaultName, "--cluster-name of the in-tree KCM")
	set.StringVar(&flags.inherited.ClusterCIDR, "cluster-cidr", "", "--cluster-cidr of KCM")
	set.StringVar(&flags.uid, "cluster-uid", defaultUID, "UID of the Cluster, which marks volumes")
	set.BoolVar(&flags.routes, "routes", false, "KCM ran the route loop")
	set.StringVar(&flags.placement, "placement", string(ucv1.InUserCluster), "where the CCM runs: UserCluster or ControlPlane")
	set.StringVar(&flags.namespace, "namespace", "default", "namespace of the Cluster, for --placement ControlPlane")
	set.StringVar(&flags.name, "name", "cluster", "name of the Cluster, for --placement ControlPlane")
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return terminal.UsageError(err) })
	return command
}

func (f *renderFlags) check() error {
	placements := []string{string(ucv1.InUserCluster), string(ucv1.BesideControlPlane)}
	switch {
	case f.kubernetes == "" || f.cloudConfig == "" && !f.images:
		return errors.New("--provider, --kubernetes and --cloud-config are needed; --images needs the first two")
	case f.digests && !f.images:
		return errors.New("--digests needs --images")
	case !slices.Contains(placements, f.placement):
		return fmt.Errorf("--placement %q is none of %s", f.placement, strings.Join(placements, " and "))
	}
	return nil
}

func (f *renderFlags) run(ctx context.Context, out io.Writer) error {
	if err := f.check(); err != nil {
		return terminal.UsageError(err)
	}
	profile, err := lookup(f.provider)
	if err != nil {
		return err
	}
	config := profile.Example()
	if f.cloudConfig != "" {
		config, err = readCloudConfig(f.cloudConfig, profile.Describe())
	}
	if err != nil {
		return err
	}
	objects, err := f.objects(profile, config)
	switch {
	case err != nil:
		return err
	case f.images:
		return f.writeImages(ctx, out, imagesOf(objects))
	}
	return writeObjects(out, f.output, objects)
}

func (f *renderFlags) writeImages(ctx context.Context, out io.Writer, images []string) error {
	if f.digests {
		var err error
		if images, err = pinned(ctx, images); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(images, "\n"))
	return err
}

// objects in the order in which they are applied.
func (f *renderFlags) objects(profile provider.Profile, config map[string][]byte) ([]*unstructured.Unstructured, error) {
	version := f.kubernetes
	if strings.Count(version, ".") == 1 {
		version += ".0"
	}
	inherited := f.inherited
	inherited.Loops = []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop}
	if f.routes {
		inherited.ConfigureCloudRoutes, inherited.AllocateNodeCIDRs = true, true
		inherited.Loops = append(inherited.Loops, observation.RouteLoop)
	}
	addons, err := profile.Render(
		manifest.RenderInput{Version: version, Inherited: inherited, CloudConfig: config, ClusterUID: f.uid},
	)
	if err == nil && f.profile != "" {
		addons, err = overlaid(addons, f.profile, f.provider, version)
	}
	if err == nil {
		addons.CCM, err = f.placed(addons.CCM, profile, config)
	}
	if err != nil {
		return nil, err
	}
	objects := slices.Concat(addons.CSI.Objects, addons.CCM.Objects, render.FenceObjects(profile.Identity()), addons.Nodes.Objects)
	if f.showSecrets {
		return objects, nil
	}
	for _, object := range objects {
		if object.GetKind() == "Secret" {
			hide(object)
		}
	}
	return objects, nil
}

// placed puts the CCM beside the control plane when that is asked for. Its kubeconfig is known to the controller only.
func (f *renderFlags) placed(ccm manifest.Set, profile provider.Profile, config map[string][]byte) (manifest.Set, error) {
	if f.placement == string(ucv1.InUserCluster) {
		return ccm, nil
	}
	if problem := provider.CloudConfigProblem(profile, config, true); problem != "" {
		return manifest.Set{}, errors.New("the cloud configuration cannot be used beside the control plane: " + problem)
	}
	place := render.Place{Namespace: f.namespace, Cluster: f.name, Kubeconfig: []byte("# made of the kubeconfig of the Cluster\n")}
	return place.Put(ccm)
}

// hide leaves the keys of a Secret, and what cannot be mistaken for a value.
func hide(secret *unstructured.Unstructured) {
	data, _, _ := unstructured.NestedMap(secret.Object, "data")
	hidden := map[string]any{}
	for key := range data {
		hidden[key] = "hidden: render with --show-secrets"
	}
	delete(secret.Object, "data")
	secret.Object["stringData"] = hidden
}

func writeObjects(out io.Writer, format string, objects []*unstructured.Unstructured) error {
	if format == "json" {
		items := make([]any, 0, len(objects))
		for _, object := range objects {
			items = append(items, object.Object)
		}
		return terminal.Write(out, format, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, nil)
	}
	var text bytes.Buffer
	for _, object := range objects {
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		text.WriteString("---\n")
		text.Write(data)
	}
	_, err := text.WriteTo(out)
	return err
}

// readCloudConfig reads the data of the Secret.
func readCloudConfig(path string, description manifest.Description) (map[string][]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("--cloud-config: %w", err)
	}
	if info.IsDir() {
		return readFolder(path)
	}
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("--cloud-config: %w", err)
	}
	secret := corev1.Secret{}
	if err := yaml.Unmarshal(content, &secret); err == nil && secret.Kind == "Secret" {
		data := map[string][]byte{}
		maps.Copy(data, secret.Data)
		for key, value := range secret.StringData {
			data[key] = []byte(value)
		}
		return data, nil
	}
	return map[string][]byte{description.Keys[0].Name: content}, nil
}

func readFolder(path string) (map[string][]byte, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("--cloud-config: %w", err)
	}
	data := map[string][]byte{}
	for _, entry := range entries {
		// A mounted Secret has links into a folder whose name begins with two dots.
		if entry.IsDir() || strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		if data[entry.Name()], err = os.ReadFile(filepath.Join(filepath.Clean(path), entry.Name())); err != nil {
			return nil, fmt.Errorf("--cloud-config: %w", err)
		}
	}
	return data, nil
}
