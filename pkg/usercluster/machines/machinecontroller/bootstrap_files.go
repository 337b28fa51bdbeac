package machinecontroller

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// maxBootstrap is what a Secret may hold; real ones have about 25 kB.
	maxBootstrap = 1 << 20
	// maxBootstrapDepth is several times that of cloud-init's files and of Ignition's.
	maxBootstrapDepth = 16

	kubeletUnit = "kubelet.service"
)

// bootFile is a file that a new machine gets. Unread says that its content is in a form that is not understood.
type bootFile struct {
	path, content string
	unread        bool
}

// ofKubelet says that it is the unit of the kubelet, or a part that is laid over it.
func (f bootFile) ofKubelet() (unit, dropIn bool) {
	return path.Base(f.path) == kubeletUnit, path.Base(path.Dir(f.path)) == kubeletUnit+".d"
}

// bootFiles are the files of cloud-init or of Ignition; false: the data is neither.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/generator/generator.go (cloudInitTemplate, toIgnition)
func bootFiles(data []byte) ([]bootFile, bool) {
	text := strings.TrimSpace(string(data))
	switch {
	case len(data) > maxBootstrap:
		return nil, false
	case strings.HasPrefix(text, "#cloud-config"):
		return cloudInitFiles(data)
	case strings.HasPrefix(text, "{"):
		return ignitionFiles(data)
	}
	return nil, false
}

// cloudInitFiles walks the tree, in which an alias is not copied to where it stands.
func cloudInitFiles(data []byte) ([]bootFile, bool) {
	var document yaml.Node
	if yaml.Unmarshal(data, &document) != nil || reads.YAMLProblem(&document, maxBootstrapDepth) != "" ||
		len(document.Content) != 1 {
		return nil, false
	}
	list := fieldOf(document.Content[0], "write_files")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, false
	}
	files := make([]bootFile, 0, len(list.Content))
	for _, entry := range list.Content {
		file := bootFile{path: textOf(entry, "path"), content: textOf(entry, "content")}
		switch textOf(entry, "encoding") {
		case "":
		case "b64", "base64":
			decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(file.content))
			file.content, file.unread = string(decoded), err != nil
		default:
			file.unread = true
		}
		files = append(files, file)
	}
	return files, true
}

func fieldOf(node *yaml.Node, name string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for at := 0; at+1 < len(node.Content); at += 2 {
		if node.Content[at].Value == name {
			return node.Content[at+1]
		}
	}
	return nil
}

func textOf(node *yaml.Node, name string) string {
	if field := fieldOf(node, name); field != nil && field.Kind == yaml.ScalarNode {
		return field.Value
	}
	return ""
}

// ignition is what matters here of Ignition's configuration, versions 2 and 3.
type ignition struct {
	Storage struct {
		Files []struct {
			Path     string `json:"path"`
			Contents struct {
				Source      string `json:"source"`
				Compression string `json:"compression"`
			} `json:"contents"`
		} `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string `json:"name"`
			Contents string `json:"contents"`
			DropIns  []struct {
				Name     string `json:"name"`
				Contents string `json:"contents"`
			} `json:"dropins"`
		} `json:"units"`
	} `json:"systemd"`
}

func ignitionFiles(data []byte) ([]bootFile, bool) {
	var parsed ignition
	if json.Unmarshal(data, &parsed) != nil {
		return nil, false
	}
	var files []bootFile
	for _, file := range parsed.Storage.Files {
		content, understood := fromDataURL(file.Contents.Source)
		files = append(files, bootFile{path: file.Path, content: content, unread: !understood || file.Contents.Compression != ""})
	}
	for _, unit := range parsed.Systemd.Units {
		if unit.Contents != "" {
			files = append(files, bootFile{path: unit.Name, content: unit.Contents})
		}
		for _, dropIn := range unit.DropIns {
			files = append(files, bootFile{path: unit.Name + ".d/" + dropIn.Name, content: dropIn.Contents})
		}
	}
	return files, true
}

// fromDataURL decodes data:[type][;base64],content.
func fromDataURL(source string) (string, bool) {
	head, content, found := strings.Cut(source, ",")
	if !found || !strings.HasPrefix(head, "data:") {
		return "", false
	}
	content, err := url.PathUnescape(content)
	if err != nil {
		return "", false
	}
	if !strings.HasSuffix(head, ";base64") {
		return content, true
	}
	decoded, err := base64.StdEncoding.DecodeString(content)
	return string(decoded), err == nil
}
