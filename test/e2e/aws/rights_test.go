package aws_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// auditPolicy has the API server write down what the CCM asks for, and nothing else.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:kube-system:cloud-controller-manager"]
- level: None
`

// request is what the CCM asked the API server for, as that wrote it down.
type request struct {
	Verb string `json:"verb"`
	User struct {
		Extra map[string][]string `json:"extra"`
	} `json:"user"`
	Object struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Annotations map[string]string `json:"annotations"`
}

// right that a request needs, such as "patch nodes/status"; empty for paths that are no resources.
func (r request) right() string {
	if r.Object.Resource == "" {
		return ""
	}
	return rightTo(r.Verb, r.Object.Group, strings.TrimSuffix(r.Object.Resource+"/"+r.Object.Subresource, "/"))
}

func rightTo(verb, group, resource string) string {
	if group != "" {
		resource = group + "/" + resource
	}
	return verb + " " + resource
}

func (r request) isLease() bool { return r.Object.Resource == "leases" }
func (r request) pod() string {
	return strings.Join(r.User.Extra["authentication.kubernetes.io/pod-name"], "")
}
func (r request) forbidden() bool { return r.Annotations["authorization.k8s.io/decision"] != "allow" }

func (w *world) auditArguments() []string {
	GinkgoHelper()
	policy := filepath.Join(w.dir, "audit-policy.yaml")
	Expect(os.WriteFile(policy, []byte(auditPolicy), 0o600)).To(Succeed())
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(w.dir, "audit.jsonl")}
}

func (w *world) requests() []request {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(w.dir, "audit.jsonl"))
	Expect(err).NotTo(HaveOccurred())
	var all []request
	for line := range strings.Lines(string(content)) {
		made := request{}
		// The last line may just be written.
		if json.Unmarshal([]byte(line), &made) == nil {
			all = append(all, made)
		}
	}
	return all
}

// refusedLease counts how often the API server kept a pod from its Lease.
func (w *world) refusedLease(pod corev1.Pod) int {
	count := 0
	for _, made := range w.requests() {
		if made.isLease() && made.forbidden() && made.pod() == pod.Name {
			count++
		}
	}
	return count
}

// expectTheRightsItNeeds compares what the CCM asked for with what its role allows, now that all loops have run.
func (w *world) expectTheRightsItNeeds(rendered manifest.Set) {
	GinkgoHelper()
	used := map[string]bool{}
	for _, made := range w.requests() {
		if right := made.right(); right != "" && !made.isLease() {
			Expect(made.forbidden()).To(BeFalse(), "%s was forbidden", right)
			used[right] = true
		}
	}
	granted := map[string]bool{}
	for _, object := range rendered.Objects {
		if object.GetKind() != "ClusterRole" {
			continue
		}
		role := &rbacv1.ClusterRole{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role)).To(Succeed())
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				granted[rightTo(verb, rule.APIGroups[0], rule.Resources[0])] = true
			}
		}
	}
	GinkgoWriter.Printf("rights that were used: %s\n", strings.Join(slices.Sorted(maps.Keys(used)), ", "))
	maps.DeleteFunc(granted, func(right string, _ bool) bool { return used[right] })
	// An event is patched when it comes again, which is a matter of chance.
	delete(granted, "patch events")
	Expect(granted).To(BeEmpty(), "rights that are granted and were not used")
}
