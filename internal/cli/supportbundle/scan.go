package supportbundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// shortest is the length of the shortest value that is looked for: a shorter one is a word by chance.
const shortest = 9

// needles are the values of Secrets in all forms in which they may stand in a file. They are in memory only.
type needles struct {
	// forms have the name of their Secret.
	forms map[string]string
	// values are looked for, skipped ones are not: short ones, and those that name a place.
	values, skipped map[string]bool
}

func newNeedles() *needles {
	return &needles{forms: map[string]string{}, values: map[string]bool{}, skipped: map[string]bool{}}
}

// take all values of a Secret: each as a whole, each of its fields, and each of its lines.
func (n *needles) take(secret *corev1.Secret) {
	of := secret.Namespace + "/" + secret.Name
	for key, value := range secret.Data {
		n.add(of, key, string(value))
		n.parts(of, key, string(value))
	}
}

// parts of a value: the fields of JSON and YAML, what base64 says, or its lines.
func (n *needles) parts(of, key, value string) {
	if fields, is := fieldsOf(value); is {
		n.fields(of, key, fields)
		return
	}
	if namesAPlace(key, value) {
		return
	}
	if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && len(decoded) >= shortest {
		n.add(of, key, string(decoded))
		value = string(decoded)
	}
	for line := range strings.Lines(value) {
		if strings.HasPrefix(line, "-----") || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "#") {
			continue // A boundary of PEM, a section, or a comment.
		}
		name, value := lineOf(line)
		n.add(of, name, value)
	}
}

// lineOf a configuration, as its name, where it has one, and its value.
func lineOf(line string) (name, value string) {
	value = line
	at := strings.IndexAny(line, "=:")
	// Without anything behind it, it is the end of base64.
	if at > 0 && !strings.ContainsAny(strings.TrimSpace(line[:at]), " /+") && strings.Trim(line[at:], "=: \r\n") != "" {
		name, value = strings.TrimSpace(line[:at]), line[at+1:]
	}
	return name, strings.Trim(strings.TrimSpace(value), `"'`)
}

// fieldsOf JSON, or of YAML with one document: of several, and of a section in brackets, the parser reads the first only.
func fieldsOf(value string) (fields any, is bool) {
	data := []byte(value)
	if !json.Valid(data) {
		var err error
		data, err = yaml.YAMLToJSON(data)
		if err != nil || !bytes.HasPrefix(data, []byte("{")) || strings.Contains(value, "\n---") || strings.Contains(value, "\n...") {
			return nil, false
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		return nil, false
	}
	switch fields.(type) {
	case map[string]any, []any:
		return fields, true
	}
	return nil, false
}

func (n *needles) fields(of, key string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			n.fields(of, name, field)
		}
	case []any:
		for _, element := range value {
			n.fields(of, key, element)
		}
	case nil:
	default:
		n.add(of, key, fmt.Sprint(value))
		n.parts(of, key, fmt.Sprint(value))
	}
}

// add a value in all its forms.
func (n *needles) add(of, key, value string) {
	value = strings.TrimSpace(value)
	if len(value) < shortest || namesAPlace(key, value) {
		n.skipped[value] = true
		return
	}
	n.values[value] = true
	escaped, _ := json.Marshal(value)
	for _, quoted := range []string{`"` + value + `"`, string(escaped), strconv.Quote(value), `"` + url.QueryEscape(value) + `"`} {
		n.forms[quoted[1:len(quoted)-1]] = of
	}
	// Within a longer text, base64 of a value has three forms, by where it begins. What its ends share with the neighbors goes.
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(append(make([]byte, shift), value...))
			n.forms[encoded[(shift*8+5)/6:(shift+len(value))*8/6]] = of
		}
	}
}

// namesAPlace says that a field of a kubeconfig or cloud configuration is no credential: messages and objects have it, too.
func namesAPlace(key, value string) bool {
	return !strings.Contains(value, "\n") && slices.Contains(strings.Fields(
		// Of kubeconfigs.
		"apiversion kind name namespace cluster user context currentcontext server tlsservername "+
			// Of cloud configurations.
			"authurl region location zone domainname domainid projectname projectid tenantname tenantid subscriptionid "+
			"resourcegroup vnetname subnetname subnetid routetablename securitygroupname floatingnetworkid networkid networkname "+
			"routerid datacenter datacenters datastore defaultdatastore folder resourcepoolpath kubernetesclusterid vpc"),
		strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key)))
}

// scan reads a finished archive, and names the files that have a value of a Secret.
func scan(archive []byte, n *needles) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	var found []error
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return errors.Join(found...)
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if of := n.in(append([]byte(header.Name+"\n"), data...)); of != "" {
			found = append(found, fmt.Errorf("file %s has a value of Secret %s", header.Name, of))
		}
	}
}

// in names the Secret of which a text has a value.
func (n *needles) in(text []byte) string {
	for form, of := range n.forms {
		if bytes.Contains(text, []byte(form)) {
			return of
		}
	}
	return ""
}
