package demo

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

// ManagerCost is what the manager used, over all its processes.
type ManagerCost struct {
	MaxRSSBytes int64 `json:"maxRSSBytes"`
	// APIRequests by cluster, resource and verb, from the audit logs.
	APIRequests map[string]audit.Requests `json:"apiRequests"`
}

// killManager ends the manager's process without a warning; the kubelet starts it again.
func (s *Story) killManager() error {
	if err := s.measureManager(); err != nil {
		return err
	}
	entry, err := s.managerProcess()
	if err != nil {
		return err
	}
	s.screen.Say("killing the manager (SIGKILL) in the middle of alpha's roll")
	if err := syscall.Kill(entry.PID, syscall.SIGKILL); err != nil {
		return err
	}
	return s.Bed.WaitFor(s.ctx, "the manager to be started again", chapterPatience, func(context.Context) (string, error) {
		again, err := s.managerProcess()
		if err != nil {
			return "", err
		}
		if again.PID == entry.PID {
			return "the old process is still there", nil
		}
		return "", nil
	})
}

func (s *Story) managerProcess() (kubelet.Entry, error) {
	paths, err := filepath.Glob(s.Bed.File("processes", bed.ManagementName, "ccm-migration-controller-manager-*.json"))
	if err != nil {
		return kubelet.Entry{}, err
	}
	if len(paths) != 1 {
		return kubelet.Entry{}, fmt.Errorf("%d processes of the manager run", len(paths))
	}
	content, err := os.ReadFile(filepath.Clean(paths[0]))
	if err != nil {
		return kubelet.Entry{}, err
	}
	entry := kubelet.Entry{}
	return entry, json.Unmarshal(content, &entry)
}

// measureManager adds up what the running process used. It is called before the process is killed, and at the end.
func (s *Story) measureManager() error {
	entry, err := s.managerProcess()
	if err != nil {
		return err
	}
	peak, err := peakMemory(entry.PID)
	if err != nil {
		return err
	}
	s.manager.MaxRSSBytes = max(s.manager.MaxRSSBytes, peak)
	return s.scrape(entry)
}

// requests of the manager, over all its processes, by cluster.
func (s *Story) requests() (map[string]audit.Requests, error) {
	logs := map[string]audit.Log{bed.ManagementName: s.Bed.Management.AuditLog()}
	for name, cluster := range s.clusters {
		logs[name] = cluster.AuditLog()
	}
	requests := map[string]audit.Requests{}
	for name, log := range logs {
		events, err := log.Since(0)
		if err != nil {
			return nil, err
		}
		requests[name] = audit.RequestsOf(events, ucv1.FieldManager)
	}
	return requests, nil
}

// peakMemory reads the kernel's own high-water mark.
func peakMemory(pid int) (int64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not tell the peak memory of the manager")
}

// scrape reads the manager's metrics as a Prometheus would: with a token that config/rbac's metrics reader admits.
func (s *Story) scrape(entry kubelet.Entry) error {
	token, err := s.metricsToken()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "https://"+net.JoinHostPort(entry.IP, "8443")+"/metrics", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// The manager signs its own certificate for metrics; the connection does not leave the machine.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the manager's metrics answer %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err == nil && families["ccm_migration_actions_total"] == nil {
		err = errors.New("the manager's metrics lack ccm_migration_actions_total")
	}
	return err
}

func (s *Story) metricsToken() (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "metrics-reader"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "ccm-migration-controller-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	for _, object := range []client.Object{account, binding} {
		if err := client.IgnoreAlreadyExists(s.Bed.Client.Create(s.ctx, object)); err != nil {
			return "", err
		}
	}
	request := &authenticationv1.TokenRequest{}
	if err := s.Bed.Client.SubResource("token").Create(s.ctx, account, request); err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

func (s *Story) nodes(name string) (NodesReport, error) {
	list := &corev1.NodeList{}
	if err := s.clusters[name].Client.List(s.ctx, list); err != nil {
		return NodesReport{}, err
	}
	report := NodesReport{Total: len(list.Items)}
	for i := range list.Items {
		if isInitialized(&list.Items[i]) {
			report.Initialized++
		}
	}
	return report, nil
}
