package kubelet

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// processRegistry is the registry of images that may name a program of the
// testbed; a program of the same name in a real registry is faked like all others.
const processRegistry = "registry.example/"

// programOf returns the program that an image names, or "" when the image is faked. One that stands in a folder of the
// image's tag is of that version; the others are what they are, whatever the tag says.
func programOf(binDir, releasesDir, image string) string {
	parsed, err := manifest.ParseImage(image)
	if err != nil || !strings.HasPrefix(parsed.Repository, processRegistry) {
		return ""
	}
	name, folders := path.Base(parsed.Repository), []string{binDir}
	if parsed.Tag != "" {
		folders = []string{filepath.Join(binDir, parsed.Tag), binDir}
		if releasesDir != "" {
			folders = append([]string{filepath.Join(releasesDir, strings.TrimPrefix(parsed.Tag, "v"))}, folders...)
		}
	}
	for _, folder := range folders {
		if program := findProgram(folder, name); program != "" {
			return program
		}
	}
	return ""
}

func findProgram(binDir, name string) string {
	program := filepath.Join(binDir, name)
	info, err := os.Stat(program)
	if err != nil || info.IsDir() {
		return ""
	}
	return program
}

// commandLine returns the program and its arguments. A command may name another
// program of the testbed by whatever path it has in the real image, never one of
// the host.
func commandLine(binDir, program string, container *corev1.Container, env []corev1.EnvVar) (string, []string, error) {
	values := map[string]string{}
	for _, variable := range env {
		values[variable.Name] = variable.Value
	}
	var args []string
	for i, word := range container.Command {
		if i > 0 {
			args = append(args, expand(word, values))
			continue
		}
		word = expand(word, values)
		named := path.Base(word)
		if filepath.Base(program) == named {
			continue // It is of the image's version already.
		}
		if program = findProgram(binDir, named); program == "" {
			return "", nil, fmt.Errorf("command %s of container %s is no program of the testbed", word, container.Name)
		}
	}
	for _, word := range container.Args {
		args = append(args, expand(word, values))
	}
	return program, args, nil
}

// expand replaces $(NAME) by the value of NAME; unknown names stay, $$ is a dollar sign.
func expand(text string, values map[string]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		replacement, rest := reference(after, values)
		out.WriteString(replacement)
		text = rest
	}
}

// reference reads what follows a dollar sign.
func reference(text string, values map[string]string) (replacement, rest string) {
	if rest, escaped := strings.CutPrefix(text, "$"); escaped {
		return "$", rest
	}
	name, rest, closed := strings.Cut(text, ")")
	name, opened := strings.CutPrefix(name, "(")
	if !opened || !closed {
		return "$", text
	}
	if value, known := values[name]; known {
		return value, rest
	}
	return "$(" + name + ")", rest
}
