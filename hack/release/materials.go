package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// materials writes what the program is made of, as SPDX. Syft reads it in the program, which is the same on all platforms but for
// the few modules of one system. When and under which name it was written would be others in each run.
// https://spdx.github.io/spdx-spec/v2.3/document-creation-information/
func (r *release) materials(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary := filepath.Join(folder, program)
	if err := build(ctx, "linux/amd64", binary); err != nil {
		return err
	}
	text, err := output(ctx, []string{"SYFT_CHECK_FOR_APP_UPDATE=false"}, "go", "tool", "-modfile=hack/tools/release/go.mod",
		"syft", "scan", "file:"+binary, "--source-name="+program, "--source-version="+r.version, "--output=spdx-json", "--quiet")
	if err != nil {
		return err
	}
	document := map[string]any{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, folder, "")), &document); err != nil {
		return err
	}
	name := program + "_" + r.version + ".spdx.json"
	document["documentNamespace"] = home + "/releases/download/" + r.version + "/" + name
	document["creationInfo"].(map[string]any)["created"] = r.made.Format(time.RFC3339)
	content, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return r.write(name, append(content, '\n'))
}
