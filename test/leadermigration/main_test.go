package leadermigration_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// suite is what all tests of this package share; TestMain fills it before any test runs.
var suite struct {
	binaries   string
	dir        string
	supervisor *process.Supervisor
	cluster    *apiserver.Cluster
	client     kubernetes.Interface
	metricsTLS *tls.Config
	cloud      *simcloud.Server
	cloudConf  string
	// managers counts those that were started.
	managers atomic.Int32
}

// TestMain lets the test program also be the shim that gives each manager a hostname of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS does not name the directory that make binaries-test fills: run make test")
		return 1
	}
	klog.SetLogger(logr.Discard())
	suite.supervisor = process.NewSupervisor()
	defer suite.supervisor.Close()
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server and the cloud:", errors.Join(err, stop()))
		return 1
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server and the cloud:", err)
		return 1
	}
	return code
}

func start() error {
	var err error
	if suite.binaries, err = filepath.Abs(os.Getenv("KUBEBUILDER_ASSETS")); err != nil {
		return err
	}
	if suite.dir, err = os.MkdirTemp("", "leadermigration-"); err != nil {
		return err
	}
	suite.cloud = simcloud.New(simcloud.Options{})
	url, err := suite.cloud.Start("127.0.0.1:0")
	if err != nil {
		return err
	}
	suite.cloud.AddCluster("lock", "token")
	suite.cloudConf = filepath.Join(suite.dir, "cloud.conf")
	if err := os.WriteFile(suite.cloudConf, fmt.Appendf(nil, "endpoint=%s\ncluster=lock\ntoken=token\n", url), 0o600); err != nil {
		return err
	}
	suite.cluster, err = apiserver.Start(context.Background(), apiserver.Options{
		Name: "lock", Index: 1, Dir: suite.dir, BinDir: suite.binaries, Supervisor: suite.supervisor,
	})
	if err != nil {
		return err
	}
	if suite.metricsTLS, err = suite.cluster.MetricsTLS(); err != nil {
		return err
	}
	suite.client, err = kubernetes.NewForConfig(suite.cluster.AdminConfig())
	return err
}

func stop() error {
	if suite.cluster != nil {
		suite.cluster.Stop()
	}
	var err error
	if suite.cloud != nil {
		err = suite.cloud.Stop()
	}
	return errors.Join(err, os.RemoveAll(suite.dir))
}
