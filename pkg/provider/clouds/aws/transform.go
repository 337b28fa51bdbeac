package aws

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

func (s section) value(key string) string {
	at := slices.IndexFunc(s.settings, func(s setting) bool { return s.key == key })
	if at < 0 {
		return ""
	}
	return s.settings[at].value
}

// global is the value of a key of section Global, or empty.
func (c config) global(key string) string {
	at := slices.IndexFunc(c.sections, func(s section) bool { return s.name == globalSection })
	if at < 0 {
		return ""
	}
	return c.sections[at].value(key)
}

// clusterID is what the tags of the cluster's resources have.
func (c config) clusterID() string {
	if legacy := c.global("KubernetesClusterTag"); legacy != "" {
		return legacy
	}
	return c.global("KubernetesClusterID")
}

// region is taken from the zone where there is one, as the CCM does.
func (c config) region() string {
	if zone := c.global("Zone"); zone != "" {
		return regexp.MustCompile(`^([a-zA-Z]+-)+[0-9]+`).FindString(zone)
	}
	return c.global("Region")
}

// endpoint of a service where it is overridden, in either spelling.
func (c config) endpoint(service string) string {
	for _, section := range c.sections {
		if section.name == overrideSection && strings.EqualFold(section.value("Service"), service) &&
			section.value("Region") == c.region() {
			return section.value("URL")
		}
	}
	return ""
}

// forCCM makes of a configuration, that of the in-tree provider or that of a CCM, what the CCM of a minor reads.
func forCCM(conf config, minor int) config {
	made := config{}
	for _, section := range conf.sections {
		section.settings = slices.Clone(section.settings)
		if section.name == globalSection {
			section.settings = globalFor(section.settings, conf, minor)
		}
		made.sections = append(made.sections, section)
	}
	if minor >= secondSDKMinor {
		made.sections = withNewNames(made.sections)
	}
	return made
}

// globalFor leaves out what the CCM of a minor would not read.
func globalFor(settings []setting, conf config, minor int) []setting {
	gone := "DisableStrictZoneCheck"
	if minor < regionMinor {
		gone = "Region"
		if conf.global("Zone") == "" {
			// Of a zone it takes the region only, so that any will do.
			settings = append(settings, setting{key: "Zone", value: conf.region() + "x"})
		}
	}
	return slices.DeleteFunc(settings, func(s setting) bool { return s.key == gone })
}

// withNewNames renames the overridden services: the names of the first AWS SDK mean nothing to the second, and the requests
// would go to AWS itself. What was one service for load balancers is two.
func withNewNames(sections []section) []section {
	var made []section
	for _, one := range sections {
		names := newNames(one)
		region := one.value("Region")
		names = slices.DeleteFunc(names, func(name string) bool {
			return slices.ContainsFunc(sections, func(s section) bool {
				return s.name == overrideSection && s.value("Service") == name && s.value("Region") == region
			})
		})
		if len(names) == 0 {
			made = append(made, one)
			continue
		}
		for i, name := range names {
			label := one.label
			if i > 0 {
				label = unused(label, slices.Concat(sections, made))
			}
			made = append(made, renamed(one, name, label))
		}
	}
	return made
}

// unused makes a label that no section has.
func unused(label string, sections []section) string {
	taken := func(s section) bool { return s.label == label }
	for slices.ContainsFunc(sections, taken) {
		label += "-v2"
	}
	return label
}

// renamed is the section for a service's new name. The first SDK knew by which name to sign, the second signs by what is
// written: https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/config/config.go#L200
func renamed(one section, name, label string) section {
	made := section{name: one.name, label: label}
	for _, s := range one.settings {
		switch s.key {
		case "Service":
			s.value = name
		case "SigningName":
			continue
		}
		made.settings = append(made.settings, s)
	}
	made.settings = append(made.settings, setting{
		key: "SigningName", value: cmp.Or(one.value("SigningName"), one.value("Service")),
	})
	return made
}

// newNames are the ServiceIDs of https://github.com/aws/aws-sdk-go-v2/tree/main/service for a name of
// https://github.com/aws/aws-sdk-go/tree/main/service; none for one that the CCM does not override.
func newNames(one section) []string {
	if one.name != overrideSection {
		return nil
	}
	switch one.value("Service") {
	case "ec2":
		return []string{"EC2"}
	case "elasticloadbalancing":
		return []string{"Elastic Load Balancing", "Elastic Load Balancing v2"}
	case "kms":
		return []string{"KMS"}
	}
	return nil
}
