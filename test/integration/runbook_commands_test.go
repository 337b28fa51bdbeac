package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
)

// copyist is an operator who copies commands out of runbooks: kubectl goes to the API servers, with a dry run where it writes.
type copyist struct {
	world *world
	// kubeconfigs by where a block says that it runs.
	kubeconfigs map[string]string
	// programs is the folder of all that a command may start.
	programs string
	// values of the placeholders; docs/style.md lists them.
	values map[string]string
}

// TestCommandsOfRunbooksRun: who copies a command at night has no time to find out what is wrong with it.
func TestCommandsOfRunbooksRun(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, "the proof of silence", provingSilence, "pool")
	o := w.copyist()
	done := map[string]bool{}
	for _, reason := range runbooks.Reasons() {
		runbook, _ := runbooks.Lookup(reason)
		t.Run(reason, func(t *testing.T) {
			for _, section := range []string{runbooks.Symptoms, runbooks.Meaning, runbooks.Checks, runbooks.Remedy} {
				for _, block := range runbook.Blocks(section) {
					for _, command := range block.Commands {
						if where := block.Where + ": " + command; !done[where] {
							done[where] = true
							o.expectRuns(t, block.Where, o.fill(t, command))
						}
					}
				}
			}
		})
	}
}

func TestCommandsThatWhyPrintsRun(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the proof of silence", provingSilence, "pool")
	w.pass()
	out, code := w.commandLineOf("system:admin", "system:masters").run("why", alpha, "-o=json")
	g.Expect(code).To(BeZero(), out)
	type block struct {
		Where, Only string
		Commands    []string
	}
	var report struct{ Look, Remedy []block }
	g.Expect(json.Unmarshal([]byte(out), &report)).To(Succeed(), out)
	g.Expect(report.Look).NotTo(BeEmpty(), out)
	o := w.copyist()
	for _, one := range append(report.Look, report.Remedy...) {
		for _, command := range one.Commands {
			if one.Only == "" {
				o.expectRuns(t, one.Where, command)
			}
		}
	}
}

// TestACommandThatIsNotUnderstoodFails keeps the tests above honest.
func TestACommandThatIsNotUnderstoodFails(t *testing.T) {
	t.Parallel()
	o := newWorld(t).copyist()
	for name, command := range map[string]string{
		"a program that is not there":        "helm list",
		"a filter that is not there":         "kubectl get nodes | perl",
		"a kind that is not there":           "kubectl get nodez",
		"a flag that is not there":           "kubectl get nodes --wise",
		"an object that is not there":        "kubectl describe node ghost",
		"a command of ours that is no more":  "ccm-migration-controller wherefore alpha",
		"a placeholder that is in no table":  "kubectl get node GHOST",
		"a quotation mark that has no other": "kubectl get nodes -o jsonpath='{.items}",
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(o.run("user cluster", command)).NotTo(Succeed())
		})
	}
}

// copyist has all rights in both clusters, and all that the runbooks are about.
func (w *world) copyist() *copyist {
	w.t.Helper()
	g := NewWithT(w.t)
	user, err := w.user.plane.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	content, err := user.KubeConfig()
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(w.t.TempDir(), "user.kubeconfig")
	g.Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	management := w.commandLineOf("system:admin", "system:masters").kubeconfig
	o := &copyist{
		world: w, programs: w.t.TempDir(),
		kubeconfigs: map[string]string{"management cluster": management, "user cluster": file, "anywhere": management},
		values: map[string]string{
			"NAMESPACE":                   w.namespace,
			"NAME":                        alpha,
			"PROVIDER":                    "simcloud",
			"CLOUD_CONFIGURATION":         "cloud-config",
			"KUBECONFIG_FILE":             file,
			"UID":                         "00000000-0000-0000-0000-000000000000",
			"DIGEST":                      strings.Repeat("0", 64),
			"FLEETMIGRATION":              w.namespace,
			"WAVE":                        "rest",
			"NODE":                        "pool-0-0",
			"MACHINE":                     "pool-0-0",
			"OLD_MACHINE":                 "pool-0-0",
			"OLD_MACHINESET":              "pool-0",
			"MACHINE_NAMESPACE":           "kube-system",
			"MACHINEDEPLOYMENT":           "pool",
			"MACHINEDEPLOYMENT_NAMESPACE": "kube-system",
			"POD":                         "runbook",
			"POD_NAMESPACE":               "default",
			"SERVICE":                     "runbook",
			"SERVICE_NAMESPACE":           "default",
			"SECRET":                      "runbook",
			"PERSISTENTVOLUME":            "runbook",
			"VOLUMEATTACHMENT":            "runbook",
			"DEPLOYMENT":                  "vsphere-csi-controller",
		},
	}
	o.link("kubectl", filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"))
	for _, program := range []string{"base64", "cat", "date", "sort", "true", "wc"} {
		o.link(program, program)
	}
	bash, err := exec.LookPath("bash")
	g.Expect(err).NotTo(HaveOccurred())
	for _, filter := range []string{"grep", "jq", "openssl"} {
		// Whether they find something depends on the cluster, and not every machine has them.
		g.Expect(os.WriteFile(filepath.Join(o.programs, filter), []byte("#!"+bash+"\nexec cat\n"), 0o700)).To(Succeed())
	}
	o.prepare()
	return o
}

// prepare makes what the commands are about in the user cluster, which other tests get without it.
func (o *copyist) prepare() {
	o.world.t.Helper()
	g := NewWithT(o.world.t)
	const objects = "test/integration/testdata/runbooks/user.yaml"
	kubectl := func(ctx context.Context, arguments string) error {
		return o.start(ctx, "user cluster", "kubectl "+arguments)
	}
	o.world.t.Cleanup(func() {
		ctx := context.Background()
		g.Expect(kubectl(ctx, "delete --wait=false -f "+objects)).To(Succeed())
		// There is no controller that takes the finalizer away.
		for _, protected := range []string{"pv runbook", "pvc ccm-migration-canary -n kube-system"} {
			g.Expect(kubectl(ctx, "patch "+protected+` --type=merge -p '{"metadata":{"finalizers":null}}'`)).To(Succeed())
		}
	})
	g.Expect(kubectl(o.world.t.Context(), "apply -f "+objects)).To(Succeed())
	o.prepareFleet()
}

// prepareFleet makes a FleetMigration that selects no Cluster of another test.
func (o *copyist) prepareFleet() {
	o.world.t.Helper()
	g := NewWithT(o.world.t)
	none := &metav1.LabelSelector{MatchLabels: map[string]string{"runbook": "none"}}
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: o.values["FLEETMIGRATION"]}, Spec: ucv1.FleetMigrationSpec{
		Mode: ucv1.FleetPlanOnly, ClusterSelector: none,
		Waves: []ucv1.Wave{{Name: "first", ClusterSelector: none}, {Name: o.values["WAVE"], ClusterSelector: none}},
	}}
	g.Expect(suite.client.Create(o.world.t.Context(), fm)).To(Succeed())
	o.world.t.Cleanup(func() {
		g.Expect(client.IgnoreNotFound(suite.client.Delete(context.Background(), fm))).To(Succeed())
	})
}

func (o *copyist) link(name, program string) {
	o.world.t.Helper()
	path, err := exec.LookPath(program)
	NewWithT(o.world.t).Expect(err).NotTo(HaveOccurred())
	NewWithT(o.world.t).Expect(os.Symlink(path, filepath.Join(o.programs, name))).To(Succeed())
}

// fill puts the values into a command; a word that looks like a placeholder and is none is left, and fails.
func (o *copyist) fill(t *testing.T, command string) string {
	t.Helper()
	return regexp.MustCompile(`\b[A-Z][A-Z_]+\b`).ReplaceAllStringFunc(command, func(word string) string {
		NewWithT(t).Expect(o.values).To(HaveKey(word), command)
		return o.values[word]
	})
}

func (o *copyist) expectRuns(t *testing.T, where, command string) {
	t.Helper()
	NewWithT(t).Expect(o.kubeconfigs).To(HaveKey(where), command)
	if err := o.run(where, command); err != nil {
		t.Errorf("%s: %s\n%v", where, command, err)
	}
}

// run is one command, which changes nothing.
func (o *copyist) run(where, command string) error {
	if arguments, ours := strings.CutPrefix(command, "ccm-migration-controller "); ours {
		return o.runOurs(strings.Fields(arguments))
	}
	return o.start(o.world.t.Context(), where, harmless(command))
}

// start is one line of a shell that knows nothing but the programs of commands.
func (o *copyist) start(ctx context.Context, where, line string) error {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	shell := exec.CommandContext(ctx, bash, "-o", "pipefail", "-c", line)
	shell.Dir = filepath.Join("..", "..")
	shell.Env = []string{
		"PATH=" + o.programs, "HOME=" + o.programs, "KUBECONFIG=" + o.kubeconfigs[where],
		"KUBE_EDITOR=" + filepath.Join(o.programs, "true"),
	}
	if out, err := shell.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

// harmless makes a dry run of what writes. The log of a workload is looked for and not read: it takes a kubelet.
func harmless(command string) string {
	verbs := regexp.MustCompile(`(kubectl(?: -n \S+)?) (annotate|apply|create|delete|label|patch|scale) `)
	command = verbs.ReplaceAllString(command, "$1 $2 --dry-run=server ")
	return regexp.MustCompile(`(kubectl(?: -n \S+)?) logs (deployment/\S+).*`).ReplaceAllString(command, "$1 get $2")
}

// runOurs runs a command of the program; one that watches ends after a moment.
func (o *copyist) runOurs(arguments []string) error {
	command := cli.Command()
	found, _, err := command.Find(arguments)
	if err != nil {
		return err
	}
	if found.Flags().Lookup("kubeconfig") != nil || found.InheritedFlags().Lookup("kubeconfig") != nil {
		arguments = append(arguments, "--kubeconfig="+o.kubeconfigs["management cluster"])
	}
	suite.commandLine.Lock()
	defer suite.commandLine.Unlock()
	limit := deadline
	if slices.Contains(arguments, "--watch") {
		limit = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(o.world.t.Context(), limit)
	defer cancel()
	out := &bytes.Buffer{}
	command.SetArgs(arguments)
	command.SetOut(out)
	command.SetErr(out)
	if err := command.ExecuteContext(ctx); err != nil {
		return errors.New(err.Error() + "\n" + out.String())
	}
	return nil
}
