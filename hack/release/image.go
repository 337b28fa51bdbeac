package main

import (
	"context"
	"strconv"
)

// layout has ko build the image for Linux, as an OCI layout on disk: it needs no Docker, and the registry of the base image.
// https://ko.build/reference/ko_build/
func (r *release) layout(ctx context.Context) error {
	_, err := output(ctx, []string{
		"KO_DOCKER_REPO=" + r.image, "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.made.Unix(), 10),
	}, "go", "tool", "-modfile=hack/tools/release/go.mod", "ko", "build", ".", "--push=false", "--bare", "--tags="+r.version,
		"--platform=linux/amd64,linux/arm64", "--oci-layout-path="+r.out+"-image", "--sbom=spdx")
	return err
}
