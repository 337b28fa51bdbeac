package openstack

import (
	"errors"
	"path"
)

// Login is what a program needs that logs in as the CCM does.
type Login struct {
	// Global are the keys of section Global, without a label.
	Global map[string]string
	// Files are the contents of those that keys name: ca-file, cert-file, key-file. One that is not there is that of the system.
	Files map[string][]byte
}

// LoginOf a Secret with a cloud configuration. The error names keys, never values.
func LoginOf(data map[string][]byte) (Login, error) {
	conf, problem := read(data)
	if problem != "" {
		return Login{}, errors.New(problem)
	}
	login := Login{Global: map[string]string{}, Files: map[string][]byte{}}
	for _, section := range conf {
		if section.name != globalSection || section.label != "" {
			continue
		}
		for _, setting := range section.settings {
			login.Global[setting.key] = setting.value
		}
	}
	for _, key := range fileKeys() {
		if file := login.Global[key]; file != "" && file != systemCAFile {
			login.Files[key] = data[path.Base(file)]
		}
	}
	return login, nil
}
