package overlay

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/contents"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Problems are sentences about what cannot be used in a ProviderProfile, and what to do. It is judged by what the catalogue has
// for any minor, so that a profile is good for all clusters of its provider, or for none. The API server refuses some of it
// earlier; a file that is only rendered never gets there.
func Problems(spec ucv1.ProviderProfileSpec, of contents.Contents, broken []manifest.BrokenRelease) []string {
	j := &judge{provider: spec.ProviderName, contents: of, broken: broken, seen: map[string]bool{}}
	if j.contents.Problem != "" {
		return []string{j.contents.Problem}
	}
	j.mirrors(spec.Mirrors)
	j.images(spec.Images)
	for i, workload := range spec.Workloads {
		j.workload(fmt.Sprintf("spec.workloads[%d]", i), workload)
		j.once(fmt.Sprintf("spec.workloads[%d]", i), "workload "+workload.Name)
	}
	return j.problems
}

// judge collects the problems of a profile.
type judge struct {
	provider string
	contents contents.Contents
	broken   []manifest.BrokenRelease
	problems []string
	seen     map[string]bool
}

func (j *judge) object(format string, values ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, values...)+".")
}

// once objects to what is there a second time.
func (j *judge) once(where, what string) {
	if j.seen[what] {
		j.object("%s: %s is there twice; leave one", where, what)
	}
	j.seen[what] = true
}

func (j *judge) mirrors(mirrors []ucv1.ImageMirror) {
	name := regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*$`)
	for i, mirror := range mirrors {
		where := fmt.Sprintf("spec.mirrors[%d]", i)
		for _, field := range []struct{ name, value string }{{"source", mirror.Source}, {"mirror", mirror.Mirror}} {
			if !name.MatchString(field.value) {
				j.object("%s.%s %q is not the beginning of an image's name; write it like registry.example.com/k8s, without https:// and "+
					"without a tag",
					where, field.name, field.value)
			}
		}
		j.once(where, "source "+mirror.Source)
	}
}

func (j *judge) images(images []ucv1.ImageOverride) {
	tag, digest := regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`), regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	for i, image := range images {
		where := fmt.Sprintf("spec.images[%d]", i)
		j.image(where, image)
		for _, broken := range j.broken {
			if broken.Has(image.Image, image.Tag) {
				j.object("%s.tag %s does not work: %s See %s", where, image.Tag, broken.Reason, broken.Link)
			}
		}
		if !tag.MatchString(image.Tag) {
			j.object("%s.tag %q is not a tag; write it like v1.30.3", where, image.Tag)
		}
		if image.Digest != "" && !digest.MatchString(image.Digest) {
			j.object("%s.digest %q is not a digest; write sha256: and 64 hexadecimal digits in lower case", where, image.Digest)
		}
		j.once(where, strings.TrimSpace("image "+image.Image+" "+image.Kubernetes))
	}
}

// image asks whether the catalogue has it, and has it in that minor.
func (j *judge) image(where string, image ucv1.ImageOverride) {
	minors, found := j.contents.Images[image.Image]
	in := func(minor int) bool { return minorName(minor) == image.Kubernetes }
	switch {
	case !found:
		j.object("%s.image %q is not in the catalogue of %s; take the name, without the tag, from "+
			"ccm-migration-controller render --images", where, image.Image, j.provider)
	case image.Kubernetes == "":
	case !slices.ContainsFunc(j.contents.Minors, in):
		j.object(
			"%s.kubernetes %q is not in the catalogue of %s, which has %s",
			where,
			image.Kubernetes,
			j.provider,
			minorNames(j.contents.Minors),
		)
	case !slices.ContainsFunc(minors, in):
		j.object("%s: image %s is not used with Kubernetes %s but with %s", where, image.Image, image.Kubernetes, minorNames(minors))
	}
}

func (j *judge) workload(where string, workload ucv1.WorkloadOverride) {
	flags, found := j.contents.Workloads[workload.Name]
	if !found {
		j.object("%s.name %q is not a workload of %s, which has %s", where, workload.Name, j.provider,
			strings.Join(slices.Sorted(maps.Keys(j.contents.Workloads)), ", "))
	}
	j.arguments(where+".extraArguments", workload.ExtraArguments, flags)
	if workload.Resources != nil {
		j.resources(where+".resources", *workload.Resources)
	}
	for i, toleration := range workload.Tolerations {
		j.toleration(fmt.Sprintf("%s.tolerations[%d]", where, i), toleration)
	}
	if class := workload.PriorityClassName; class != "" && len(validation.IsDNS1123Subdomain(class)) > 0 {
		j.object("%s.priorityClassName %q is not a name; write that of a PriorityClass of the user clusters", where, class)
	}
}

// arguments have to have their value with them: an argument without one takes that which comes behind it for its value,
// and that may be a flag of the migration lock. The values are not shown.
func (j *judge) arguments(where string, arguments []string, passed map[string]bool) {
	form, seen := regexp.MustCompile(`^--[a-zA-Z0-9][a-zA-Z0-9._-]*=`), map[string]bool{}
	for i, argument := range arguments {
		flag := manifest.FlagOf(argument)
		switch {
		case !form.MatchString(argument):
			j.object("%s[%d] is not of the form --name=value; write it so, for a switch --name=true", where, i)
		case reserved(flag):
			j.object("%s[%d]: --%s is the controller's, and the hand-over rests on it; take it out", where, i, flag)
		case passed[flag]:
			j.object("%s[%d]: the catalogue passes --%s already; take it out", where, i, flag)
		case seen[flag]:
			j.object("%s[%d]: --%s is there twice; leave one", where, i, flag)
		}
		seen[flag] = true
	}
}

// reserved flags say who is elected and by what, who the process is, which loops it runs, and for which cluster. Not all of
// them are passed in every cluster.
func reserved(flag string) bool {
	switch flag {
	case "controllers", "cloud-provider", "cloud-config", "use-service-account-credentials", "kubeconfig", "master",
		"authentication-kubeconfig", "authorization-kubeconfig", "cluster-name", "cluster-cidr", "allocate-node-cidrs",
		"configure-cloud-routes", "enable-leader-migration":
		return true
	}
	return strings.HasPrefix(flag, "leader-elect") || strings.HasPrefix(flag, "leader-migration")
}

func (j *judge) resources(where string, resources ucv1.ContainerResources) {
	for _, amount := range []struct {
		name           string
		request, limit *resource.Quantity
	}{
		{"cpu", resources.Requests.CPU, resources.Limits.CPU},
		{"memory", resources.Requests.Memory, resources.Limits.Memory},
		{"ephemeralStorage", resources.Requests.EphemeralStorage, resources.Limits.EphemeralStorage},
	} {
		switch {
		case amount.request != nil && amount.request.Sign() < 0, amount.limit != nil && amount.limit.Sign() < 0:
			j.object("%s: %s is negative; write an amount", where, amount.name)
		case amount.request != nil && amount.limit != nil && amount.request.Cmp(*amount.limit) > 0:
			j.object("%s: the limit of %s is less than its request; raise it", where, amount.name)
		}
	}
}

// toleration is judged as the API server judges those of pods:
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/apis/core/validation/validation.go#L3939
func (j *judge) toleration(where string, toleration ucv1.Toleration) {
	j.tolerationWords(where, toleration)
	if toleration.TolerationSeconds != nil && toleration.Effect != ucv1.NoExecute {
		j.object("%s has tolerationSeconds, which are for effect NoExecute", where)
	}
	exists := toleration.Operator == ucv1.TolerationExists
	switch {
	case toleration.Key == "" && !exists:
		j.object("%s has no key; without one it tolerates every taint, and operator Exists says so", where)
	case toleration.Key != "" && len(validation.IsQualifiedName(toleration.Key)) > 0:
		j.object("%s.key %q is not the key of a taint", where, toleration.Key)
	case exists && toleration.Value != "":
		j.object("%s has a value, which operator Exists does not ask for; take one of them out", where)
	case len(validation.IsValidLabelValue(toleration.Value)) > 0:
		j.object("%s.value %q is not the value of a taint", where, toleration.Value)
	}
}

func (j *judge) tolerationWords(where string, toleration ucv1.Toleration) {
	if operators := []ucv1.TolerationOperator{
		"",
		ucv1.TolerationEqual,
		ucv1.TolerationExists,
	}; !slices.Contains(
		operators,
		toleration.Operator,
	) {
		j.object("%s.operator %q is neither Exists nor Equal", where, toleration.Operator)
	}
	if effects := []ucv1.TaintEffect{
		"",
		"NoSchedule",
		"PreferNoSchedule",
		ucv1.NoExecute,
	}; !slices.Contains(
		effects,
		toleration.Effect,
	) {
		j.object("%s.effect %q is none of NoSchedule, PreferNoSchedule and NoExecute", where, toleration.Effect)
	}
}

// minorNames are ranges, such as 1.24 to 1.36.
func minorNames(minors []int) string {
	var ranges []string
	for from := 0; from < len(minors); {
		to := from
		for to+1 < len(minors) && minors[to+1] == minors[to]+1 {
			to++
		}
		text := minorName(minors[from])
		if to > from {
			text += " to " + minorName(minors[to])
		}
		ranges = append(ranges, text)
		from = to + 1
	}
	return strings.Join(ranges, ", ")
}
