package openstack

import (
	"path"
	"slices"
	"strings"
)

// namedCloudsMinor is the first whose CSI driver knows sections like [Global "name"], which StorageClasses choose from:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.31.4/pkg/csi/cinder/openstack/openstack.go#L93
const namedCloudsMinor = 31

// external makes the CCM's file of one that may be the in-tree provider's. What is already external stays as it is, and so does
// what no one knows here: an image of a profile may.
func (c config) external(minor int) config {
	return c.keep(
		func(s section) bool { return s.name != volumeSection && (s.name != globalSection || s.label == "") },
		func(s section, key string) bool {
			switch {
			case s.name == globalSection:
				return !inTreeCredentials(key)
			case s.name == balancerSection && key == "use-octavia":
				// It still decides in 1.24 and 1.25:
				// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/openstack.go
				return minor < 26
			case s.name == balancerSection:
				return key != "lb-version"
			}
			return true
		})
}

// volumes makes the CSI driver's file, which knows three sections. From [BlockStorage] goes what only the in-tree plugin did: it
// chose an API, and believed in device paths.
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/csi/cinder/openstack/openstack.go#L88-L100
func (c config) volumes(minor int) config {
	return c.keep(
		func(s section) bool {
			switch s.name {
			case globalSection:
				return s.label == "" || minor >= namedCloudsMinor
			case volumeSection, metadataSection:
				return s.label == ""
			}
			return false
		},
		func(s section, key string) bool {
			switch s.name {
			case globalSection:
				return !inTreeCredentials(key)
			case volumeSection:
				return key != "bs-version" && key != "trust-device-path"
			}
			return true
		})
}

// inTreeCredentials name a Secret that KCM read them from.
func inTreeCredentials(key string) bool {
	return key == "secret-name" || key == "secret-namespace" || key == "kubeconfig-path"
}

// keep makes a file of the sections and keys that stay, with its certificates where they are mounted.
func (c config) keep(stays func(section) bool, keyStays func(section, string) bool) config {
	var made config
	for _, one := range c {
		if !stays(one) {
			continue
		}
		kept := section{name: one.name, label: one.label}
		for _, setting := range one.settings {
			if !keyStays(one, setting.key) {
				continue
			}
			if one.name == globalSection && slices.Contains(fileKeys(), setting.key) {
				setting.value = mountedFile(setting.value)
			}
			kept.settings = append(kept.settings, setting)
		}
		made = append(made, kept)
	}
	return made
}

func mountedFile(file string) string {
	name := path.Base(file)
	if file == systemCAFile || strings.Trim(name, "./") == "" {
		return file
	}
	return configDir + "/" + name
}

// mounted returns what goes to the user cluster: the file, and of the Secret what it names.
func (c config) mounted(data map[string][]byte) map[string][]byte {
	files := map[string][]byte{configKey: c.render()}
	for _, section := range c {
		for _, key := range fileKeys() {
			if file := section.value(key); section.name == globalSection && path.Dir(file) == configDir {
				files[path.Base(file)] = data[path.Base(file)]
			}
		}
	}
	return files
}
