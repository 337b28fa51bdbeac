package simcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

const stateStopped = "stopped"

// instance is the part of the cloud's instance that Kubernetes is told about.
type instance struct {
	Name       string   `json:"name"`
	ProviderID string   `json:"providerID"`
	Addresses  []string `json:"addresses"`
	Zone       string   `json:"zone"`
	Region     string   `json:"region"`
	Type       string   `json:"type"`
	State      string   `json:"state"`
}

type instances struct {
	client *client
	// metadataLoop is the controller that asks for metadata here: cloud-node,
	// which kube-controller-manager does not have.
	metadataLoop string
}

func newInstances(client *client) *instances {
	loop := loopCloudNodeLifecycle
	if client.component == componentCCM {
		loop = loopCloudNode
	}
	return &instances{client: client, metadataLoop: loop}
}

// InstanceExists is false for a node that the cloud has no instance of. An
// error is no answer, or an outage would delete nodes.
func (i *instances) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	_, err := i.get(ctx, node, loopCloudNodeLifecycle, "InstanceExists")
	if errors.Is(err, cloudprovider.InstanceNotFound) {
		return false, nil
	}
	return err == nil, err
}

// InstanceShutdown is true for an instance that exists and is stopped.
func (i *instances) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	found, err := i.get(ctx, node, loopCloudNodeLifecycle, "InstanceShutdown")
	if err != nil {
		return false, err
	}
	return found.State == stateStopped, nil
}

// InstanceMetadata returns what the cloud knows about the node's instance.
func (i *instances) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	found, err := i.get(ctx, node, i.metadataLoop, "InstanceMetadata")
	if err != nil {
		return nil, err
	}
	addresses := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: node.Name}}
	for _, address := range found.Addresses {
		addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:    found.ProviderID,
		InstanceType:  found.Type,
		NodeAddresses: addresses,
		Zone:          found.Zone,
		Region:        found.Region,
	}, nil
}

func (i *instances) get(ctx context.Context, node *corev1.Node, loop, method string) (*instance, error) {
	name, err := i.instanceName(node)
	if err != nil {
		return nil, err
	}
	var found instance
	err = i.client.do(ctx, call{
		loop: loop, name: method, verb: http.MethodGet, path: []string{"instances", name}, result: &found,
	})
	if errors.Is(err, errNotFound) {
		return nil, cloudprovider.InstanceNotFound
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// instanceName prefers the provider ID: it is what the node joined with.
func (i *instances) instanceName(node *corev1.Node) (string, error) {
	if node.Spec.ProviderID == "" {
		return node.Name, nil
	}
	prefix := ProviderName + "://" + i.client.config.Cluster + "/"
	name, ours := strings.CutPrefix(node.Spec.ProviderID, prefix)
	if !ours || name == "" {
		return "", fmt.Errorf("provider ID %q of node %s does not begin with %s", node.Spec.ProviderID, node.Name, prefix)
	}
	return name, nil
}
