//go:build dashboardsdemo

package prometheus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// demo is make fleet-demo with a Prometheus that scrapes its manager and a kube-state-metrics beside it.
type demo struct {
	t            *testing.T
	folder       string
	kubeconfig   string
	began, ended time.Time
	prometheus   string
}

func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "_output", "bin", name))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return path
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer func() { NewWithT(t).Expect(listener.Close()).To(Succeed()) }()
	return listener.Addr().String()
}

// start a program that lives until the test ends. It gets time to stop what it has started itself.
func (d *demo) start(name string, arguments ...string) *exec.Cmd {
	d.t.Helper()
	command := exec.CommandContext(d.t.Context(), program(d.t, name), arguments...)
	command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(syscall.SIGTERM) }, time.Minute
	log, err := os.Create(filepath.Join(d.folder, name+".log"))
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
	command.Stdout, command.Stderr = log, log
	NewWithT(d.t).Expect(command.Start()).To(Succeed())
	return command
}

func (d *demo) kubectl(arguments ...string) (string, error) {
	command := exec.CommandContext(d.t.Context(), program(d.t, "kubectl"), append([]string{"--kubeconfig=" + d.kubeconfig}, arguments...)...)
	out, err := command.Output()
	return strings.TrimSpace(string(out)), err
}

// write a file that someone may read at any time.
func (d *demo) write(name string, content []byte) string {
	d.t.Helper()
	path := filepath.Join(d.folder, name)
	NewWithT(d.t).Expect(os.WriteFile(path+".new", content, 0o600)).To(Succeed())
	NewWithT(d.t).Expect(os.Rename(path+".new", path)).To(Succeed())
	return path
}

// managers are the targets that a ServiceMonitor finds: the pods of the manager as they are now.
func (d *demo) managers() []byte {
	type target struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	found := []target{}
	for _, entry := range d.processes("ccm-migration-system") {
		found = append(found, target{[]string{net.JoinHostPort(entry.IP, "8443")}, map[string]string{
			"pod": entry.Pod, "namespace": entry.Namespace, "job": "ccm-migration-controller-manager-metrics",
		}})
	}
	content, err := json.Marshal(found)
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
	return content
}

func (d *demo) configure(token, stateMetrics string) string {
	d.t.Helper()
	var spec struct{ Spec json.RawMessage }
	read(d.t, rulesFile, &spec)
	groups, err := yaml.JSONToYAML(spec.Spec)
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
	every := map[string]string{"scrape_interval": "2s", "evaluation_interval": "2s", "scrape_timeout": "2s"}
	config, err := yaml.Marshal(map[string]any{
		"global": every, "rule_files": []string{d.write("rules.yaml", groups)},
		"scrape_configs": []any{
			map[string]any{
				"job_name": "manager", "scheme": "https", "tls_config": map[string]any{"insecure_skip_verify": true},
				"authorization":   map[string]string{"credentials_file": d.write("token", []byte(token))},
				"file_sd_configs": []any{map[string]any{"files": []string{d.write("managers.json", d.managers())}, "refresh_interval": "1s"}},
			},
			map[string]any{
				"job_name": "kube-state-metrics", "honor_labels": true,
				"static_configs": []any{map[string]any{"targets": []string{stateMetrics}}},
			},
		},
	})
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
	return d.write("prometheus.yaml", config)
}

// play the whole story, and let it go on until the test ends.
func play(t *testing.T) *demo {
	t.Helper()
	g := NewWithT(t)
	d := &demo{t: t, folder: t.TempDir(), kubeconfig: filepath.Join(root, "_output/fleet/management/pki/admin.kubeconfig")}
	g.Expect(os.RemoveAll(filepath.Join(root, "_output/fleet"))).To(Succeed())
	story := d.start("testbed", "fleet", "--linger", "--root="+root)
	over := make(chan error, 1)
	go func() { over <- story.Wait() }()

	token := ""
	g.Eventually(func() (err error) {
		_, _ = d.kubectl("-n", "default", "create", "serviceaccount", "prometheus")
		_, _ = d.kubectl("create", "clusterrolebinding", "prometheus", "--serviceaccount=default:prometheus",
			"--clusterrole=ccm-migration-controller-metrics-reader")
		token, err = d.kubectl("-n", "default", "create", "token", "prometheus", "--duration=2h")
		return err
	}, 5*time.Minute, time.Second).Should(Succeed())
	d.began = time.Now()
	d.watch(token)
	g.Eventually(func() string {
		d.write("managers.json", d.managers())
		log, _ := os.ReadFile(filepath.Join(d.folder, "testbed.log"))
		select {
		case err := <-over:
			t.Fatalf("%v\n%s", err, log)
		default:
		}
		return string(log)
	}, 20*time.Minute, time.Second).Should(ContainSubstring("everything runs on"))
	return d
}

// watch the manager and the objects of the management cluster.
func (d *demo) watch(token string) {
	d.t.Helper()
	state, telemetry := freeAddress(d.t), freeAddress(d.t)
	_, statePort, _ := net.SplitHostPort(state)
	_, telemetryPort, _ := net.SplitHostPort(telemetry)
	d.start("kube-state-metrics", "--kubeconfig="+d.kubeconfig, "--host=127.0.0.1", "--port="+statePort, "--telemetry-host=127.0.0.1",
		"--telemetry-port="+telemetryPort, "--resources=deployments,pods", "--custom-resource-state-config-file="+d.stateMetricsConfig())
	d.prometheus = freeAddress(d.t)
	d.start("prometheus", "--config.file="+d.configure(token, state), "--storage.tsdb.path="+filepath.Join(d.folder, "data"),
		"--web.listen-address="+d.prometheus)
}

// processes of a namespace of the management cluster.
func (d *demo) processes(namespace string) (found []process) {
	paths, _ := filepath.Glob(filepath.Join(root, "_output/fleet/processes/management/*.json"))
	for _, path := range paths {
		entry := process{}
		content, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(content, &entry) == nil && entry.Namespace == namespace { // Else it has just ended.
			found = append(found, entry)
		}
	}
	return found
}

// process of a pod, as the testbed notes it.
type process struct {
	PID                int
	Pod, Namespace, IP string
}

// misfortunes are what the story has not: a container that starts again, a migrated Cluster that needs a person because someone
// gave its KCM the cloud loops back, a repair that the API server refuses, and Clusters that no wave takes or whose
// FleetMigration is gone.
func (d *demo) misfortunes() {
	d.t.Helper()
	g := NewWithT(d.t)
	must := func(arguments ...string) string {
		out, err := d.kubectl(arguments...)
		g.Expect(err).NotTo(HaveOccurred(), "%v", arguments)
		return out
	}
	g.Expect(d.processes("user-n1")).NotTo(BeEmpty())
	g.Expect(syscall.Kill(d.processes("user-n1")[0].PID, syscall.SIGKILL)).To(Succeed())
	kcm := must("-n", "user-n2", "get", "deployment", "kube-controller-manager", "-o=json")
	loud := strings.Replace(kcm, "--cloud-provider=external", "--cloud-provider=simcloud", 1)
	g.Expect(loud).NotTo(Equal(kcm))
	must("replace", "-f", d.write("kcm.json", []byte(loud)))
	must(d.userCluster("n5"), "apply", "-f", "testdata/refused.yaml")
	must("apply", "-f", "testdata/misfortunes.yaml")
	for _, name := range []string{"unplaced", "gone"} {
		// One that is created with the feature has nothing to migrate.
		must("-n", name, "wait", "uc/"+name, "--for=jsonpath={.status.origin}=InTree", "--timeout=1m")
		must("-n", name, "patch", "uc", name, "--type=merge", `--patch={"spec":{"features":{"externalCloudProvider":true}}}`)
	}
	g.Eventually(func() string {
		return must("-n", "gone", "get", "uc", "gone", "-o=jsonpath={.status.admission.fleetMigration}")
	}, time.Minute, time.Second).Should(Equal("gone"))
	must("delete", "fm", "gone", "--wait=false")
	must("patch", "fm", "gone", "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
}

func (d *demo) userCluster(name string) string {
	return "--kubeconfig=" + filepath.Join(root, "_output/fleet", name, "pki/admin.kubeconfig")
}

// drift makes a repair necessary, which is refused once the API server has read testdata/refused.yaml.
func (d *demo) drift() {
	d.t.Helper()
	_, err := d.kubectl(d.userCluster("n5"), "-n", "kube-system", "patch", "deployment", "cloud-controller-manager", "--type=json",
		`--patch=[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example/other"}]`)
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
}

func (d *demo) stateMetricsConfig() string {
	d.t.Helper()
	content, err := os.ReadFile(filepath.Join(config, "kube-state-metrics", "custom-resource-state.yaml"))
	NewWithT(d.t).Expect(err).NotTo(HaveOccurred())
	return d.write("custom-resource-state.yaml", content)
}

// ask Prometheus; its answers are under data.
func (d *demo) ask(path string, values url.Values, into any) {
	d.t.Helper()
	g := NewWithT(d.t)
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.prometheus+"/api/v1/"+path+"?"+values.Encode(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.StatusCode).To(Equal(http.StatusOK), "%s: %s", values, &body)
	answer := struct{ Data json.RawMessage }{}
	g.Expect(json.Unmarshal(body.Bytes(), &answer)).To(Succeed())
	g.Expect(json.Unmarshal(answer.Data, into)).To(Succeed())
}

func (d *demo) within(values url.Values) url.Values {
	values.Set("start", fmt.Sprint(d.began.Unix()))
	values.Set("end", fmt.Sprint(d.ended.Unix()))
	return values
}

// samples that a query finds in the time of the story.
func (d *demo) samples(query string) (count int) {
	d.t.Helper()
	answer := struct{ Result []struct{ Values []any } }{}
	d.ask("query_range", d.within(url.Values{"query": {query}, "step": {"2"}}), &answer)
	for _, series := range answer.Result {
		count += len(series.Values)
	}
	return count
}

// choices are all that a person can choose for the variables of a dashboard.
func (d *demo) choices(variables []variable) []map[string]string {
	d.t.Helper()
	all := []map[string]string{{"$__rate_interval": "1m", "$__interval": "5s", "$__range": "10m"}}
	for _, v := range variables {
		selector, label, is := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Query, "label_values("), ")"), ", ")
		if v.Type != "query" || !is {
			continue
		}
		var longer []map[string]string
		for _, chosen := range all {
			values := []string{}
			d.ask("label/"+label+"/values", d.within(url.Values{"match[]": {replaced(selector, chosen)}}), &values)
			for _, value := range values {
				next := maps.Clone(chosen)
				next["$"+v.Name] = value
				longer = append(longer, next)
			}
		}
		all = longer
	}
	return all
}

// replaced puts what was chosen in the places of variables, the longest names first: one may begin with another.
func replaced(query string, chosen map[string]string) string {
	names := slices.SortedFunc(maps.Keys(chosen), func(a, b string) int { return len(b) - len(a) })
	pairs := []string{}
	for _, name := range names {
		pairs = append(pairs, name, chosen[name])
	}
	return strings.NewReplacer(pairs...).Replace(query)
}

// unanswered are the queries of dashboards that have found nothing so far, whatever a person chooses.
func (d *demo) unanswered() (empty []string) {
	d.t.Helper()
	d.write("managers.json", d.managers())
	d.ended = time.Now()
	for name, dashboard := range dashboards(d.t) {
		choices := d.choices(dashboard.Templating.List)
		for _, p := range dashboard.Panels {
			for _, target := range p.Targets {
				if !slices.ContainsFunc(choices, func(chosen map[string]string) bool {
					return d.samples(replaced(target.Expr, chosen)) > 0
				}) {
					empty = append(empty, fmt.Sprintf("%s, %s: %s", name, p.Title, target.Expr))
				}
			}
		}
	}
	return empty
}

// Each query of each dashboard finds data of real programs for something that a person can choose, and a person is called about
// the CCM that does not initialize Nodes.
func TestADemoAnswersEachQueryOfTheDashboards(t *testing.T) {
	g, d := NewWithT(t), play(t)
	t.Logf("not in the story: %s", strings.Join(d.unanswered(), "\n"))
	d.misfortunes()
	g.Eventually(func() []string {
		d.drift()
		return d.unanswered()
	}, 3*time.Minute, 10*time.Second).Should(BeEmpty())
	answer := struct {
		Result []struct{ Metric map[string]string }
	}{}
	d.ask("query_range", d.within(url.Values{"query": {`max by (alertname, alertstate) (ALERTS)`}, "step": {"2"}}), &answer)
	states := map[string][]string{}
	for _, alert := range answer.Result {
		states[alert.Metric["alertstate"]] = append(states[alert.Metric["alertstate"]], alert.Metric["alertname"])
	}
	t.Log(states)
	g.Expect(states["firing"]).To(ContainElement("FleetMigrationHalted"))
}
