package kubelet

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	// ModeLabel on a Node, with value ModeNone, makes the kubelet leave the Node and
	// its Pods alone.
	ModeLabel = "testbed.k8c.io/kubelet"
	// ModeNone is that value.
	ModeNone = "none"

	// maxIndex is the last one that fits into an address 127.Index.0.0/16.
	maxIndex = 255
)

// Options describe the kubelets of one cluster.
type Options struct {
	// Cluster is the cluster's name, Index its number: Pods get addresses 127.Index.x.y.
	Cluster string
	Index   int
	// Config is a client of the cluster with all rights. The address of its API
	// server is given to Pods as that of the Service "kubernetes".
	Config *rest.Config
	// RunDir receives volumes, logs and the registry of processes.
	RunDir string
	// BinDir holds the programs that images may name.
	BinDir string
	// ReleasesDir holds a folder for each other release of Kubernetes, such as 1.29.15: what an image of its tag names is
	// taken from there first. There is none when it is empty.
	ReleasesDir string
	// Supervisor starts the processes.
	Supervisor *process.Supervisor
	// ShimPath is a program that runs process.RunShim when its first argument is
	// "shim"; the running program by default.
	ShimPath string
	// StaticPodDir, when set, holds a folder per Node with manifests of static Pods.
	StaticPodDir string
	// OutliveForceDelete tells which Pods' processes go on running after the Pod
	// vanished from the API; it is asked again every second.
	OutliveForceDelete func(*corev1.Pod) bool
	// Log receives what goes wrong.
	Log logr.Logger
}

// complete fills in defaults and makes paths usable from any directory.
func (o *Options) complete() error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.ShimPath == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the shim: %w", err)
		}
		o.ShimPath = self
	}
	paths := []*string{&o.RunDir, &o.BinDir, &o.ShimPath}
	if o.ReleasesDir != "" {
		paths = append(paths, &o.ReleasesDir)
	}
	for _, path := range paths {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("make %s absolute: %w", *path, err)
		}
		*path = absolute
	}
	if o.OutliveForceDelete == nil {
		o.OutliveForceDelete = func(*corev1.Pod) bool { return false }
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	return nil
}

func (o *Options) validate() error {
	if o.Cluster == "" || o.Config == nil || o.Supervisor == nil || o.RunDir == "" || o.BinDir == "" {
		return errors.New("cluster, config, supervisor, run directory and bin directory are all needed")
	}
	if o.Index < 1 || o.Index > maxIndex {
		return fmt.Errorf("index %d is not between 1 and %d", o.Index, maxIndex)
	}
	return nil
}

// serviceEnv are the variables that lead a Pod to the API server.
func serviceEnv(config *rest.Config) ([]corev1.EnvVar, error) {
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	host, port, err := net.SplitHostPort(server.Host)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	return []corev1.EnvVar{
		{Name: "KUBERNETES_SERVICE_HOST", Value: host},
		{Name: "KUBERNETES_SERVICE_PORT", Value: port},
	}, nil
}
