package openstack

import (
	"fmt"
	"path"
	"strings"
)

const (
	configKey = "cloud.conf"
	// configDir is where the Secret is, in every container that reads it.
	configDir = "/etc/config"
	// systemCAFile is in the images of CCM and CSI driver themselves.
	systemCAFile = "/etc/ssl/certs/ca-certificates.crt"
)

// CloudConfigProblem names the keys that are missing or unusable in the Secret and in section Global of cloud.conf.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	if len(data[configKey]) == 0 {
		return "it lacks key cloud.conf: add the configuration of the OpenStack cloud-controller-manager"
	}
	global, problem := readGlobal(string(data[configKey]))
	if problem != "" {
		return problem
	}
	if global["use-clouds"] != "" && global["use-clouds"] != "false" {
		return "key cloud.conf, section Global, has use-clouds: that file is not there in the user cluster, " +
			"so write the credentials into cloud.conf"
	}
	if missing := missingCredentials(global); len(missing) > 0 {
		return "key cloud.conf, section Global, lacks " + strings.Join(missing, "; and ") + ": add it"
	}
	return fileProblem(global, data)
}

// missingCredentials follows AuthOpts of
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go: an application credential,
// a trust, or a user with a password and a project. The in-tree provider's secret-name is not among them.
func missingCredentials(global map[string]string) []string {
	var missing []string
	need := func(keys ...string) {
		for _, key := range keys {
			if global[key] != "" {
				return
			}
		}
		missing = append(missing, strings.Join(keys, " or "))
	}
	need("auth-url")
	switch {
	case anyOf(global, "application-credential-id"):
		need("application-credential-secret")
	case anyOf(global, "application-credential-name", "application-credential-secret"):
		need("application-credential-secret")
		need("application-credential-id", "application-credential-name")
		if global["application-credential-name"] != "" {
			need("user-id", "username")
		}
	case anyOf(global, "trust-id"):
		need("user-id", "username", "trustee-id")
		need("password", "trustee-password")
	default:
		need("user-id", "username", "application-credential-id")
		need("password", "application-credential-secret")
		need("tenant-id", "tenant-name", "application-credential-id")
	}
	return missing
}

func anyOf(global map[string]string, keys ...string) bool {
	for _, key := range keys {
		if global[key] != "" {
			return true
		}
	}
	return false
}

func fileKeys() []string { return []string{"ca-file", "cert-file", "key-file"} }

// fileProblem looks at the files that cloud.conf names: a path of KCM's host would fail only in the user cluster, with
// every call to the cloud.
func fileProblem(global map[string]string, data map[string][]byte) string {
	for _, name := range fileKeys() {
		file := global[name]
		if file == "" || file == systemCAFile {
			continue
		}
		if key := path.Base(file); path.Dir(file) != configDir || len(data[key]) == 0 {
			return fmt.Sprintf("key cloud.conf, section Global, has a %s that is not in this Secret: add the file to the "+
				"Secret under a key and write %s/<key>", name, configDir)
		}
	}
	return ""
}

// mounted returns what of the Secret goes to the user cluster: cloud.conf and the files that it names.
func mounted(data map[string][]byte) map[string][]byte {
	files := map[string][]byte{configKey: data[configKey]}
	global, _ := readGlobal(string(data[configKey]))
	for _, name := range fileKeys() {
		if file := global[name]; path.Dir(file) == configDir {
			files[path.Base(file)] = data[path.Base(file)]
		}
	}
	return files
}

// readGlobal reads section Global as gcfg does: names without regard to case, comments after # and ;, values in quotes.
// https://pkg.go.dev/gopkg.in/gcfg.v1#hdr-Syntax_description
func readGlobal(text string) (global map[string]string, problem string) {
	global = map[string]string{}
	section := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			header, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				// The line is not quoted: it may hold a credential.
				return nil, fmt.Sprintf("key cloud.conf, line %d, is a section without its closing bracket", number)
			}
			section = strings.ToLower(strings.TrimSpace(header))
		case section == "global":
			name, value, _ := strings.Cut(line, "=")
			global[strings.ToLower(strings.TrimSpace(name))] = unquote(strings.TrimSpace(value))
		}
	}
	return global, ""
}

// unquote ends an unquoted value at its comment and takes the quotes off a quoted one.
func unquote(value string) string {
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range value {
		switch {
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == '#' || r == ';'):
			return strings.TrimSpace(out.String())
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}
