package main

import (
	"context"
	"errors"
	"os"
	"strconv"
)

// layout has ko build the image for Linux, as an OCI layout on disk: it needs no Docker, and the registry of the base image.
// https://ko.build/reference/ko_build/
//
// ko reads the path of the layout as the name of a repository, which has no capital letters, as folders may have: so it writes
// into one whose name is known. https://github.com/ko-build/ko/blob/v0.19.1/pkg/publish/layout.go
func (r *release) layout(ctx context.Context) error {
	const folder = "_output/image"
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if _, err := output(ctx, []string{
		"KO_DOCKER_REPO=" + r.image, "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.made.Unix(), 10),
	}, "go", "tool", "-modfile=hack/tools/release/go.mod", "ko", "build", ".", "--push=false", "--bare", "--tags="+r.version,
		"--platform=linux/amd64,linux/arm64", "--oci-layout-path="+folder, "--sbom=spdx"); err != nil {
		return err
	}
	return errors.Join(os.CopyFS(r.out+"-image", os.DirFS(folder)), os.RemoveAll(folder))
}
