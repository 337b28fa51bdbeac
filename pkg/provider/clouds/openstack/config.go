package openstack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

// Sections of cloud.conf that something depends on, in lower case.
const (
	globalSection   = "global"
	balancerSection = "loadbalancer"
	volumeSection   = "blockstorage"
	networkSection  = "networking"
	metadataSection = "metadata"
)

// config is a cloud.conf: its sections in their order, each once.
type config []section

// section has a label where it is written like [Global "label"].
type section struct {
	name, label string
	settings    []setting
}

type setting struct{ key, value string }

// kind of a key's value.
type kind int

const (
	text kind = iota
	boolean
	exactBoolean
	number
	duration
	list
)

// kinds are the keys whose value is not any text, or that may stand there several times. A wrong value ends the CCM and the
// in-tree provider at their start, and lets every call of the CSI driver fail; keys that they do not know they ignore:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/openstack.go#L231
// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.25.16/openstack/openstack.go#L331
func kinds(section string) map[string]kind {
	switch section {
	case globalSection:
		// A text in the CCM, where nothing but true means it:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go#L271
		return map[string]kind{"use-clouds": boolean, "tls-insecure": exactBoolean}
	case balancerSection:
		return map[string]kind{
			"enabled":                            boolean,
			"use-octavia":                        boolean,
			"create-monitor":                     boolean,
			"manage-security-groups":             boolean,
			"internal-lb":                        boolean,
			"cascade-delete":                     boolean,
			"enable-ingress-hostname":            boolean,
			"provider-requires-serial-api-calls": boolean,
			"monitor-delay":                      duration,
			"monitor-timeout":                    duration,
			"monitor-max-retries":                number,
			"monitor-max-retries-down":           number,
			"max-shared-lb":                      number,
		}
	case volumeSection:
		return map[string]kind{
			"trust-device-path": boolean, "ignore-volume-az": boolean, "rescan-on-resize": boolean, "ignore-volume-microversion": boolean,
			"node-volume-attach-limit": number,
		}
	case networkSection:
		return map[string]kind{"ipv6-support-disabled": boolean, "public-network-name": list, "internal-network-name": list}
	case metadataSection:
		return map[string]kind{"request-timeout": duration}
	}
	return nil
}

// problem of a value.
func (k kind) problem(value string) string {
	switch k {
	case text, list:
	case boolean:
		if _, known := gcfg.Bool(value); !known {
			return "is neither true nor false: write one of them"
		}
	case exactBoolean:
		if value != "true" && value != "false" {
			return "is neither true nor false: write one of them"
		}
	case number:
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return "is not a number: write one in digits"
		}
	case duration:
		if _, err := time.ParseDuration(value); err != nil {
			return "is not a duration: write it with its unit, like 5s"
		}
	}
	return ""
}

// parse reads what in-tree provider, CCM and CSI driver read. It is stricter where they let mistakes pass that no one would see:
// of a key that is there twice they take the last one.
func parse(text string) (config, string) {
	entries, problem := gcfg.Read(strings.TrimPrefix(text, "\ufeff"))
	if problem != "" {
		return nil, problem
	}
	var made config
	for _, entry := range entries {
		problem := foreign(entry.Section, entry.Key)
		if problem == "" {
			problem = made.section(entry.Section, entry.Subsection).add(entry)
		}
		if problem != "" {
			return nil, fmt.Sprintf("line %d, %s", entry.Line, problem)
		}
	}
	return made, ""
}

// section that is there already, or a new one.
func (c *config) section(name, label string) *section {
	at := slices.IndexFunc(*c, func(s section) bool { return s.name == name && s.label == label })
	if at < 0 {
		at = len(*c)
		*c = append(*c, section{name: name, label: label})
	}
	return &(*c)[at]
}

// add takes one more setting and says what is wrong with it.
func (s *section) add(entry gcfg.Entry) string {
	kind, value := kinds(s.name)[entry.Key], entry.Value
	switch {
	case entry.Key == "":
		return ""
	case entry.Implied && kind != boolean:
		return entry.Key + " has no value: add it, or remove the line"
	case entry.Implied:
		value = "true"
	}
	if problem := kind.problem(value); problem != "" {
		return entry.Key + " " + problem
	}
	if kind != list && slices.ContainsFunc(s.settings, func(other setting) bool { return other.key == entry.Key }) {
		return entry.Key + " stands in its section for the second time: keep one"
	}
	s.settings = append(s.settings, setting{key: entry.Key, value: value})
	return ""
}

// foreign says whose configuration it is, if it is not that of OpenStack. What no one knows is no problem: installers share the
// file with other programs.
func foreign(section, key string) string {
	other := ""
	switch section {
	case "virtualcenter", "workspace", "disk":
		other = "vSphere"
	case "serviceoverride":
		other = "AWS"
	case globalSection:
		switch key {
		case "insecure-flag", "datacenter", "datacenters", "thumbprint":
			other = "vSphere"
		case "kubernetesclustertag", "kubernetesclusterid", "zone", "vpc", "subnetid":
			other = "AWS"
		case "project-id", "network-project-id", "network-name", "token-url", "local-zone", "node-tags":
			other = "Google Cloud"
		}
	}
	if other == "" {
		return ""
	}
	return "is of the configuration of " + other + ": put the one of OpenStack there"
}

// render is what parse reads.
func (c config) render() []byte {
	var out strings.Builder
	for _, section := range c {
		out.WriteString(gcfg.Header(titled(section.name), section.label))
		for _, setting := range section.settings {
			out.WriteString(gcfg.Line(setting.key, setting.value))
		}
	}
	return []byte(out.String())
}

// titled is the name as the documentation spells it.
func titled(name string) string {
	for _, title := range []string{"Global", "LoadBalancer", "LoadBalancerClass", "BlockStorage", "Networking", "Route",
		"Metadata"} {
		if strings.ToLower(title) == name {
			return title
		}
	}
	return name
}

// value of a key in a section without a label; empty: it is not there.
func (c config) value(name, key string) string {
	for _, section := range c {
		if section.name == name && section.label == "" {
			return section.value(key)
		}
	}
	return ""
}

func (s section) value(key string) string {
	for _, setting := range s.settings {
		if setting.key == key {
			return setting.value
		}
	}
	return ""
}
