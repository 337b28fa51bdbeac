package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const exampleSecret = "s3cr3t"

func containerWith(command, args []string) *corev1.Container {
	return &corev1.Container{Name: kubeControllerManager, Command: command, Args: args}
}

// parsed is a command line and what it is understood as, or the problem with it.
type parsed struct {
	command []string
	args    []string
	env     []corev1.EnvVar
	flags   map[string]string
	problem string
}

func (p parsed) run(t *testing.T) {
	g := NewWithT(t)
	container := containerWith(p.command, p.args)
	container.Env = p.env
	arguments := ParseArguments(container)
	if p.problem == "" {
		g.Expect(arguments).To(Equal(observation.Arguments{Flags: p.flags}))
		return
	}
	g.Expect(arguments.Problem).To(ContainSubstring(p.problem))
	g.Expect(arguments.Problem).NotTo(ContainSubstring(exampleSecret))
	g.Expect(arguments.Understood()).To(BeFalse())
	_, _, err := Change(container, outcome.ArgumentChange{Set: []outcome.Flag{{Name: "--v", Value: "4"}}})
	g.Expect(err).To(MatchError(ContainSubstring(p.problem)))
}

func TestParseArgumentsReadsFlags(t *testing.T) {
	runAll(t, map[string]parsed{
		"a value behind an equals sign": {
			command: []string{"kube-controller-manager", "--cloud-provider=openstack"},
			flags:   map[string]string{"cloud-provider": "openstack"},
		},
		"a value in the next word": {
			command: []string{"kube-controller-manager"}, args: []string{"--cloud-provider", "openstack", "--v", "2"},
			flags: map[string]string{"cloud-provider": "openstack", "v": "2"},
		},
		"a value in the next word although that is in args": {
			command: []string{"kube-controller-manager", "--cloud-provider"}, args: []string{"openstack"},
			flags: map[string]string{"cloud-provider": "openstack"},
		},
		"a value in the next word that begins with a dash": {
			args:  []string{"--controllers", "-service,*", "--v=2"},
			flags: map[string]string{"controllers": "-service,*", "v": "2"},
		},
		"a flag of one dash": {
			command: []string{"/usr/local/bin/machine-controller"}, args: []string{"-node-external-cloud-provider", "-worker-count", "5"},
			flags: map[string]string{"node-external-cloud-provider": "true", "worker-count": "5"},
		},
		"a known boolean that is last": {
			args:  []string{"--leader-elect"},
			flags: map[string]string{"leader-elect": "true"},
		},
		"an unknown flag in front of another flag is true": {
			args:  []string{"--new-thing", "--leader-elect=false"},
			flags: map[string]string{"new-thing": "true", "leader-elect": "false"},
		},
		"an unknown flag in front of a word without dash takes it": {
			args:  []string{"--new-thing", "5"},
			flags: map[string]string{"new-thing": "5"},
		},
		"an empty value": {
			args:  []string{"--cloud-provider=", "--v=1"},
			flags: map[string]string{"cloud-provider": "", "v": "1"},
		},
		"a value with an equals sign": {
			args:  []string{"--feature-gates=A=true,B=false"},
			flags: map[string]string{"feature-gates": "A=true,B=false"},
		},
		"underscores in place of dashes": {
			args:  []string{"--cloud_provider=openstack"},
			flags: map[string]string{"cloud-provider": "openstack"},
		},
	})
}

func TestParseArgumentsReadsRepetitionsVariablesAndTheWrapper(t *testing.T) {
	runAll(t, map[string]parsed{
		"a flag given twice keeps its last value": {
			args:  []string{"--cloud-provider=openstack", "--cloud-provider=external"},
			flags: map[string]string{"cloud-provider": "external"},
		},
		"a list given twice is one list": {
			args:  []string{"--controllers=*", "--controllers=-service"},
			flags: map[string]string{"controllers": "*,-service"},
		},
		"gates given twice are overwritten by the later ones": {
			args:  []string{"--feature-gates=A=true", "--feature-gates=A=false"},
			flags: map[string]string{"feature-gates": "A=false,A=true"},
		},
		"a variable with a literal value": {
			args:  []string{"--cluster-name=k-$(NAME)-$$(NAME)"},
			env:   []corev1.EnvVar{{Name: "NAME", Value: "old"}, {Name: "NAME", Value: "alpha"}},
			flags: map[string]string{"cluster-name": "k-alpha-$(NAME)"},
		},
		"a variable without literal value in a flag that does not matter": {
			args:  []string{"--bind-address=$(POD_IP)"},
			flags: map[string]string{"bind-address": "$(POD_IP)"},
		},
		"the wrapper of KKP": {
			command: []string{"/http-prober-bin/http-prober"},
			args: []string{
				"-endpoint", "https://apiserver/healthz", "-insecure", "-retries", "100", "-command",
				`{"command":"/usr/local/bin/kube-controller-manager","args":["--cloud-provider","openstack","--leader-elect"]}`,
				"--crd-to-wait-for", "Machine,cluster.k8s.io/v1alpha1",
			},
			flags: map[string]string{"cloud-provider": "openstack", "leader-elect": "true"},
		},
	})
}

func TestParseArgumentsRefusesWhatItWouldHaveToGuess(t *testing.T) {
	runAll(t, map[string]parsed{
		"a command baked into the image": {
			problem: "container kube-controller-manager has neither command nor args",
		},
		"a command line without flags": {
			command: []string{"/entrypoint"}, problem: "container kube-controller-manager has no flags",
		},
		"a shell with a script": {
			command: []string{"/bin/sh", "-c", "exec kube-controller-manager --cloud-provider=openstack --secret=" + exampleSecret},
			problem: `argument "-c" of container kube-controller-manager is a shell script`,
		},
		"a shell with letters before the c": {
			command: []string{"bash", "-ec"}, args: []string{"kube-controller-manager"},
			problem: `argument "-ec" of container kube-controller-manager is a shell script`,
		},
		"a script file": {
			command: []string{"/start.sh", "--cloud-provider=external"},
			problem: `command "/start.sh" of container kube-controller-manager is a shell script`,
		},
		"an executable from a variable": {
			command: []string{"$(BINARY)", "--v=2"}, problem: "the command of container kube-controller-manager is empty or a variable",
		},
		"a positional argument, which is not printed": {
			command: []string{"kube-controller-manager", "--leader-elect", exampleSecret},
			problem: "argument 3 (after --leader-elect) of container kube-controller-manager is not a flag",
		},
		"another program in front": {
			command: []string{"nice", "kube-controller-manager"}, args: []string{"--v=2"},
			problem: "argument 2 of container kube-controller-manager is not a flag",
		},
		"the end of flags": {
			args: []string{"--v=2", "--", "--cloud-provider=openstack"}, problem: "argument 2 (after --v)",
		},
		"a value with a dash behind a flag that we do not know, which is not printed": {
			args:    []string{"--new-list", "-" + exampleSecret + ",*"},
			problem: "argument 2 (after --new-list) of container kube-controller-manager does not look like a flag",
		},
		"a flag that needs a value and has none": {
			args: []string{"--v=2", "--cloud-provider"}, problem: "is --cloud-provider without a value",
		},
	})
}

func TestParseArgumentsRefusesVariablesAndWrappersThatItCannotRead(t *testing.T) {
	prober := []string{"/http-prober-bin/http-prober"}
	runAll(t, map[string]parsed{
		"a variable as an argument": {
			args: []string{"--v=2", "$(EXTRA)"}, problem: "argument 2 (after --v)",
		},
		"a variable that is not defined in the container": {
			args: []string{"--cloud-provider=$(PROVIDER)"},
			problem: "argument --cloud-provider of container kube-controller-manager refers to variable PROVIDER, which the " +
				"container's env does not define",
		},
		"a variable whose value comes from elsewhere": {
			args: []string{"--controllers", "$(LIST)"}, env: []corev1.EnvVar{{Name: "LIST", ValueFrom: &corev1.EnvVarSource{}}},
			problem: "refers to variable LIST, whose value is not literal",
		},
		"a variable whose value is made of another variable": {
			args: []string{"--leader-elect=$(A)"}, env: []corev1.EnvVar{{Name: "A", Value: "$(B)"}},
			problem: "refers to variable A, whose value is not literal",
		},
		"the wrapper without a command": {
			command: prober, args: []string{"-endpoint", "https://apiserver"}, problem: `without argument "-command"`,
		},
		"the wrapper with something else than JSON, which is not printed": {
			command: prober,
			args:    []string{"-command", exampleSecret},
			problem: `argument "-command" of container kube-controller-manager is not the JSON`,
		},
		"the wrapper with fields that we do not know": {
			command: prober, args: []string{"-command", `{"command":"kcm","env":["` + exampleSecret + `"]}`}, problem: "is not the JSON",
		},
		"the wrapper around a shell": {
			command: prober, args: []string{"-command", `{"command":"sh","args":["-c","kcm"]}`}, problem: `argument "-c"`,
		},
		"the wrapper around itself": {
			command: prober, args: []string{"-command", `{"command":"http-prober","args":["-insecure"]}`},
			problem: "does not begin with the component's executable",
		},
	})
}
