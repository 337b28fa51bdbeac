package openstack

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

const (
	configKey = "cloud.conf"
	// configDir is where the Secret is, in every container that reads it.
	configDir = "/etc/config"
	// systemCAFile is in the images of CCM and CSI driver themselves.
	systemCAFile = "/etc/ssl/certs/ca-certificates.crt"
)

// CloudConfigProblem names the keys that are missing or unusable in the Secret and in cloud.conf.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	_, problem := read(data)
	return problem
}

func read(data map[string][]byte) (config, string) {
	file := bytes.TrimSpace(data[configKey])
	switch {
	case len(file) == 0:
		return nil, "it lacks key cloud.conf: add the configuration of the in-tree provider or of the OpenStack " +
			"cloud-controller-manager"
	case file[0] == '{':
		return nil, "key cloud.conf is JSON, and looks like the configuration of another provider: put the one of OpenStack there"
	}
	conf, problem := parse(string(data[configKey]))
	for _, check := range []func() string{conf.credentialsProblem, conf.identityProblem, conf.choiceProblem} {
		if problem == "" {
			problem = check()
		}
	}
	for _, section := range conf {
		if problem == "" && section.name == globalSection {
			problem = section.filesProblem(data)
		}
	}
	if problem != "" {
		return nil, "key cloud.conf, " + problem
	}
	return conf, ""
}

func (c config) credentialsProblem() string {
	global := func(key string) string { return c.value(globalSection, key) }
	if clouds, _ := gcfg.Bool(global("use-clouds")); clouds {
		return "section Global, has use-clouds: that file is not there in the user cluster, so write the credentials into cloud.conf"
	}
	missing := missingCredentials(global)
	if len(missing) == 0 {
		return ""
	}
	add := ": add it"
	if global("secret-name") != "" || global("kubeconfig-path") != "" {
		add = ": add what stands under clouds.conf in the Secret that secret-name names, which only the in-tree provider reads"
	}
	return "section Global, lacks " + strings.Join(missing, "; and ") + add
}

// missingCredentials follows AuthOpts of
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go: an application credential,
// a trust, or a user with a password and a project. The in-tree provider's secret-name is not among them.
func missingCredentials(global func(key string) string) []string {
	var missing []string
	given := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return global(key) != "" })
	}
	need := func(keys ...string) {
		if !given(keys...) {
			missing = append(missing, strings.Join(keys, " or "))
		}
	}
	need("auth-url")
	switch {
	case given("application-credential-id"):
		need("application-credential-secret")
	case given("application-credential-name", "application-credential-secret"):
		need("application-credential-secret")
		need("application-credential-id", "application-credential-name")
		if given("application-credential-name") {
			need("user-id", "username")
		}
	case given("trust-id"):
		need("user-id", "username", "trustee-id")
		need("password", "trustee-password")
	default:
		need("user-id", "username", "application-credential-id")
		need("password", "application-credential-secret")
		need("tenant-id", "tenant-name", "application-credential-id")
	}
	return missing
}

// choiceProblem looks at texts that are not any text.
func (c config) choiceProblem() string {
	if parsed, err := url.Parse(c.value(globalSection, "auth-url")); err != nil || parsed.Host == "" ||
		(parsed.Scheme != "http" && parsed.Scheme != "https") {
		return "section Global, has an auth-url that is none: write it like https://keystone.example.com/v3"
	}
	// Up to 1.31 such a CCM has no load balancers, from 1.32 on it ends:
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.32.1/pkg/openstack/openstack.go#L369
	if version := c.value(balancerSection, "lb-version"); version != "" && version != "v2" {
		return "section LoadBalancer, has an lb-version other than v2, which no cloud-controller-manager knows: move the load " +
			"balancers to Octavia, then remove it"
	}
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/util/metadata/metadata.go#L315
	if order := c.value(metadataSection, "search-order"); order != "" {
		names := strings.Split(order, ",")
		known := func(name string) bool {
			name = strings.TrimSpace(name)
			return name == "configDrive" || name == "metadataService"
		}
		if len(names) > 2 || slices.ContainsFunc(names, func(name string) bool { return !known(name) }) {
			return "section Metadata, has a search-order of other words than configDrive and metadataService: write one of them, or " +
				"both with a comma"
		}
	}
	return ""
}

func fileKeys() []string { return []string{"ca-file", "cert-file", "key-file"} }

// filesProblem looks at the files that a section Global names: a path of KCM's host would fail only in the user cluster, with
// every call to the cloud.
func (s section) filesProblem(data map[string][]byte) string {
	content := map[string][]byte{}
	for _, key := range fileKeys() {
		file := s.value(key)
		if file == "" || file == systemCAFile {
			continue
		}
		name := path.Base(file)
		if content[key] = data[name]; name == configKey || len(data[name]) == 0 {
			return "section Global, has a " + key +
				" that is not in this Secret: add the file to the Secret, under its name without its folder"
		}
	}
	if bundle, named := content["ca-file"]; named && !x509.NewCertPool().AppendCertsFromPEM(bundle) {
		return "section Global, has a ca-file that has no certificates as PEM: put the CA bundle under its name into this Secret"
	}
	certificate, key := content["cert-file"], content["key-file"]
	if (certificate == nil) != (key == nil) {
		// Either alone is not used: https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go#L278
		return "section Global, has one of cert-file and key-file: add the other one"
	}
	if certificate != nil {
		// The error is not shown: it may say what the file has.
		if _, err := tls.X509KeyPair(certificate, key); err != nil {
			return "section Global, has a cert-file and a key-file that are no pair of certificate and private key as PEM: correct " +
				"them in this Secret"
		}
	}
	return ""
}
