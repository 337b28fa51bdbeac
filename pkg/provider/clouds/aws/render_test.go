package aws_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/aws"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func objectsOf(g Gomega, version string, data map[string][]byte) manifest.Addons {
	addons, err := aws.Profile{}.Render(manifest.RenderInput{
		Version: version, CloudConfig: data, Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	return addons
}

// one decodes the only object of a kind; false when there is none.
func one(g Gomega, objects []*unstructured.Unstructured, kind string, into any) bool {
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if at < 0 {
		return false
	}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[at].Object, into)).To(Succeed())
	return true
}

func TestTheFileOfTheCCM(t *testing.T) {
	const regions = "[Global]\nRegion=us-gov-west-1\nKubernetesClusterID=alpha\nDisableStrictZoneCheck\n"
	const balancing = "[ServiceOverride " +
		"\"2\"]\nService=elasticloadbalancing\nRegion=eu-central-1\nURL=https://elb.example.com\nSigningRegion=a\nSigningName=b\n"
	const quoted = "[Global]\nZone = \"eu-central-1a\"\nKubernetesClusterID = \"alpha\"\n"
	tests := map[string]struct{ version, conf, want string }{
		"1.26 knows no region": {"1.26.0", regions,
			"[Global]\nKubernetesClusterID = \"alpha\"\nDisableStrictZoneCheck = \"true\"\nZone = \"us-gov-west-1x\"\n"},
		"1.26 keeps a zone":        {"1.26.0", minimal + "Region=eu-central-1\n", quoted},
		"1.27 knows no zone check": {"1.27.0", regions, "[Global]\nRegion = \"us-gov-west-1\"\nKubernetesClusterID = \"alpha\"\n"},
		"1.28 overrides by the names of the first SDK": {"1.28.0", minimal + override, quoted +
			"[ServiceOverride \"1\"]\nService = \"ec2\"\nRegion = \"eu-central-1\"\nURL = \"https://ec2.example.com\"\nSigningRegion = " +
			"\"eu-central-1\"\n"},
		"1.29 overrides by those of the second": {"1.29.0", minimal + override + balancing, quoted +
			"[ServiceOverride \"1\"]\nService = \"EC2\"\nRegion = \"eu-central-1\"\nURL = \"https://ec2.example.com\"\nSigningRegion = " +
			"\"eu-central-1\"\n" +
			"SigningName = \"ec2\"\n" +
			"[ServiceOverride \"2\"]\nService = \"Elastic Load Balancing\"\nRegion = \"eu-central-1\"\nURL = " +
			"\"https://elb.example.com\"\nSigningRegion = \"a\"\n" +
			"SigningName = \"b\"\n" +
			"[ServiceOverride \"2-v2\"]\nService = \"Elastic Load Balancing v2\"\nRegion = \"eu-central-1\"\nURL = " +
			"\"https://elb.example.com\"\nSigningRegion = \"a\"\n" +
			"SigningName = \"b\"\n"},
		"what has the new name already stays": {"1.36.0", minimal +
			"[ServiceOverride \"1\"]\nService=EC2\nRegion=a\nURL=https://b\nSigningRegion=c\n" +
			"[ServiceOverride \"2\"]\nService=ec2\nRegion=a\nURL=https://b\nSigningRegion=c\n", quoted +
			"[ServiceOverride \"1\"]\nService = \"EC2\"\nRegion = \"a\"\nURL = \"https://b\"\nSigningRegion = \"c\"\n" +
			"[ServiceOverride \"2\"]\nService = \"ec2\"\nRegion = \"a\"\nURL = \"https://b\"\nSigningRegion = \"c\"\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := &corev1.Secret{}
			g.Expect(one(g, objectsOf(g, test.version, secret(test.conf)).CCM.Objects, "Secret", got)).To(BeTrue())
			g.Expect(got.Data).To(HaveLen(1), "no credentials are given")
			g.Expect(string(got.Data["cloud.conf"])).To(Equal(test.want))
		})
	}
}

func TestCredentials(t *testing.T) {
	const role = "RoleARN=arn:aws:iam::123456789012:role/a\n"
	const keys = "aws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = " + password + "\n"
	tests := map[string]struct {
		role, ccm, csi string
		keys           bool
	}{
		"those of the instances": {},
		"an access key":          {keys: true, ccm: "[default]\n" + keys, csi: "[default]\n" + keys},
		"an access key and a role: the CCM reads the role in cloud.conf": {keys: true, role: role, ccm: "[default]\n" + keys,
			csi: "[default]\nrole_arn = arn:aws:iam::123456789012:role/a\nsource_profile = base\n[base]\n" + keys},
		"those of the instances and a role": {role: role,
			csi: "[default]\nrole_arn = arn:aws:iam::123456789012:role/a\ncredential_source = Ec2InstanceMetadata\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			data := secret(minimal + test.role)
			if test.keys {
				data["accessKeyId"], data["secretAccessKey"] = []byte("AKIAEXAMPLE"), []byte(password+"\n")
			}
			addons := objectsOf(g, "1.30.14", data)
			ccm, csi := &corev1.Secret{}, &corev1.Secret{}
			g.Expect(one(g, addons.CCM.Objects, "Secret", ccm)).To(BeTrue())
			g.Expect(one(g, addons.CSI.Objects, "Secret", csi)).To(Equal(test.csi != ""))
			g.Expect(string(ccm.Data["credentials"])).To(Equal(test.ccm))
			g.Expect(string(csi.Data["credentials"])).To(Equal(test.csi))

			deployment, daemonSet := &appsv1.Deployment{}, &appsv1.DaemonSet{}
			g.Expect(one(g, addons.CCM.Objects, "Deployment", deployment)).To(BeTrue())
			g.Expect(sharedFile(deployment.Spec.Template.Spec)).To(Equal(expected(test.ccm, "/etc/kubernetes/cloud/credentials")))
			g.Expect(one(g, addons.CSI.Objects, "Deployment", deployment)).To(BeTrue())
			g.Expect(sharedFile(deployment.Spec.Template.Spec)).To(Equal(expected(test.csi, "/etc/aws/credentials")))
			g.Expect(one(g, addons.CSI.Objects, "DaemonSet", daemonSet)).To(BeTrue())
			g.Expect(sharedFile(daemonSet.Spec.Template.Spec)).To(BeEmpty(), "the Nodes need no credentials")
			for _, volume := range daemonSet.Spec.Template.Spec.Volumes {
				g.Expect(volume.Secret).To(BeNil())
			}
		})
	}
}

func expected(content, path string) string {
	if content == "" {
		return ""
	}
	return path
}

// sharedFile is where the AWS SDK of a pod finds its credentials; empty: at the instance.
func sharedFile(pod corev1.PodSpec) string {
	for _, container := range pod.Containers {
		for _, variable := range container.Env {
			if variable.Name == "AWS_SHARED_CREDENTIALS_FILE" {
				return variable.Value
			}
		}
	}
	return ""
}

func TestTheDriverGoesWhereTheCCMGoes(t *testing.T) {
	tests := map[string]struct{ conf, region, endpoint, cluster string }{
		"the zone's region": {minimal, "eu-central-1", "", "alpha"},
		"the region":        {"[Global]\nRegion=us-gov-west-1\nKubernetesClusterTag=beta\n", "us-gov-west-1", "", "beta"},
		"another endpoint":  {minimal + override, "eu-central-1", "https://ec2.example.com", "alpha"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			deployment := &appsv1.Deployment{}
			g.Expect(one(g, objectsOf(g, "1.30.14", secret(test.conf)).CSI.Objects, "Deployment", deployment)).To(BeTrue())
			containers := deployment.Spec.Template.Spec.Containers
			plugin := containers[len(containers)-1]
			g.Expect(plugin.Args).To(ContainElement("--k8s-tag-cluster-id=" + test.cluster))
			g.Expect(plugin.Env).To(ContainElement(corev1.EnvVar{Name: "AWS_REGION", Value: test.region}))
			endpoint := corev1.EnvVar{Name: "AWS_EC2_ENDPOINT", Value: test.endpoint}
			if test.endpoint == "" {
				g.Expect(plugin.Env).NotTo(ContainElement(HaveField("Name", endpoint.Name)))
			} else {
				g.Expect(plugin.Env).To(ContainElement(endpoint))
			}
		})
	}
}

func TestRenderNeedsAClusterName(t *testing.T) {
	_, err := aws.Profile{}.Render(manifest.RenderInput{Version: "1.25.16", CloudConfig: secret(minimal)})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("has no cluster name")))
}
