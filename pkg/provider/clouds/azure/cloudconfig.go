package azure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// What an operator has for the in-tree provider can be put into the Secret as it is, one or both.
const (
	// fileKey is the name of the file that --cloud-config of kube-controller-manager names.
	fileKey = "azure.json"
	// secretKey is the key of Secret kube-system/azure-cloud-provider, which the in-tree provider reads, too.
	secretKey = "cloud-config"
)

// config is a cloud configuration: the keys that have a value, those that are known in the spelling of the providers.
type config map[string]any

// read makes one configuration of the Secret, as the in-tree provider does: what cloud-config says is taken over what
// azure.json says, unless that has another cloudConfigType. The external components read one file only.
// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/azure/azure_config.go#L33-L91
func read(data map[string][]byte) (made config, problem string) {
	file, problem := parse(fileKey, data[fileKey])
	if problem != "" {
		return nil, problem
	}
	secret, problem := parse(secretKey, data[secretKey])
	if problem != "" {
		return nil, problem
	}
	switch {
	case file == nil && secret == nil:
		return nil, "it lacks key " + fileKey + ": add the file that --cloud-config of kube-controller-manager names, or, under key " +
			secretKey + ", what Secret kube-system/azure-cloud-provider has there"
	case secret == nil, file != nil && file.text(configType) == "file":
		return file, ""
	case file == nil, file.text(configType) == "secret":
		return secret, ""
	}
	made = maps.Clone(file)
	maps.Copy(made, secret)
	return made, ""
}

// parse reads one document, JSON or YAML as the providers do; nil when there is none. No error of a parser is passed on,
// because it may quote a value.
func parse(name string, document []byte) (made config, problem string) {
	if len(bytes.TrimSpace(document)) == 0 {
		return nil, ""
	}
	where := "key " + name
	converted, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, where + " " + explained(err)
	}
	values := map[string]any{}
	if err := json.Unmarshal(converted, &values); err != nil || values == nil {
		return nil, where + " is not a JSON object: it has to be the configuration of the Azure cloud provider, not of another one"
	}
	made = config{}
	known := keys()
	for _, given := range slices.Sorted(maps.Keys(values)) {
		value := values[given]
		found, isKnown := known[strings.ToLower(given)]
		if !isKnown {
			found.name = given // The providers ignore it, and a newer release may not.
		}
		if value == nil {
			continue
		}
		if made[found.name] != nil {
			return nil, where + ", " + found.name + " stands there twice, in two spellings: keep one"
		}
		if problem := found.problem(value); problem != "" {
			return nil, where + problem
		}
		made[found.name] = value
	}
	return made, ""
}

// problem of a key and its value.
func (k key) problem(value any) string {
	switch {
	case k.kind == "" && !plain(k.name):
		return " has a key that is not a name of letters and digits: remove it"
	case k.kind != "" && !k.kind.of(value):
		return ", " + k.name + " must be " + string(k.kind) + ": correct it"
	case k.kind == "" && !printable(value):
		// Its name is not shown: it might be a value that got into the wrong place.
		return " has an unknown key with a character that cannot be printed: remove it"
	case !printable(value):
		return ", " + k.name + " has a line break, or another character that cannot be printed: remove it"
	}
	return ""
}

// plain names can be read back by every parser.
func plain(name string) bool {
	return name != "" && len(name) <= 100 &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// explained says what is wrong with a document in words that hold none of it but the name of a known key.
func explained(err error) string {
	if found := regexp.MustCompile(`key "(\w+)" already set`).FindStringSubmatch(err.Error()); found != nil {
		if key, known := keys()[strings.ToLower(found[1])]; known {
			return "has " + key.name + " twice: keep one"
		}
		return "has a key twice: keep one"
	}
	line := ""
	if found := regexp.MustCompile(`line \d+`).FindString(err.Error()); found != "" {
		line = " (near " + found + ")"
	}
	return "cannot be read as JSON" + line + ": it has to be the configuration of the Azure cloud provider, not of another one"
}

// printable keeps out what the providers' own parsers cannot read back, and what was never meant to be in a value, such as the
// line break at the end of a file.
func printable(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	case []any:
		return !slices.ContainsFunc(value, func(entry any) bool { return !printable(entry) })
	case map[string]any:
		for key, entry := range value {
			// Azure allows names of tags up to this length.
			if len(key) > 512 || !printable(key) || !printable(entry) {
				return false
			}
		}
	}
	return true
}

func (c config) text(name string) string {
	value, _ := c[name].(string)
	return value
}

func (c config) flag(name string) bool {
	value, _ := c[name].(bool)
	return value
}

// render writes it down. The same configuration gives the same bytes.
func (c config) render() []byte {
	// It holds nothing but what came out of JSON, so it goes into JSON.
	document, _ := json.Marshal(c)
	return document
}

// files are what goes to the user cluster: the configuration under a key, and the certificate that it names.
func (c config) files(key string, data map[string][]byte) map[string][]byte {
	files := map[string][]byte{key: c.render()}
	if file := c.text(certificatePath); file != "" {
		files[path.Base(file)] = data[path.Base(file)]
	}
	return files
}

// ofNode is what a process on a Node needs to ask the Node's own metadata service; no credentials.
func (c config) ofNode() config {
	kept := config{instanceMetadata: true}
	for _, name := range []string{cloudName, location, vmType} {
		if value := c.text(name); value != "" {
			kept[name] = value
		}
	}
	return kept
}

// external makes of a configuration what the external components need to go on as the in-tree provider did. A cluster that was
// external from the start has no defaults to keep.
func (c config) external(migrated bool) (made config, problem string) {
	made = maps.Clone(c)
	// There is one file now.
	delete(made, configType)
	// Off is all that is left of it.
	delete(made, balancerPerSet)
	if made.flag(managedIdentity) {
		// Placeholders, see identityProblem.
		delete(made, clientID)
		delete(made, clientSecret)
	}
	if value, given := made[oldSetsCache]; given {
		if made[setsCache] == nil {
			made[setsCache] = value
		}
		delete(made, oldSetsCache)
	}
	// The CCM is not on the Node that it asks about.
	made[instanceMetadata] = false
	// The defaults of the in-tree provider. The CCM's own are vmss from 1.28 and standard from 1.27 on: load balancers and
	// addresses would be made again.
	// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/azure/azure.go#L375-L377
	// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.28.14/pkg/provider/azure.go#L618
	for name, former := range map[string]string{vmType: "standard", balancerSKU: "basic"} {
		if made.text(name) == "" {
			made[name] = former
		}
		if c.text(name) == "" && !migrated {
			return nil, fmt.Sprintf("it lacks %s, whose default is not the same in all releases: add what the cluster has", lacking(c))
		}
	}
	return made, ""
}

// lacking are those of the two keys that are not there.
func lacking(c config) string {
	names := slices.DeleteFunc([]string{vmType, balancerSKU}, func(name string) bool { return c.text(name) != "" })
	return strings.Join(names, " and ")
}
