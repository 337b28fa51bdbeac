package config

import (
	"embed"
	"io/fs"
)

// files are what kustomize reads, too.
//
//go:embed usercluster-rbac/*.yaml usercluster-rbac-bootstrap/*.yaml
var files embed.FS

// UserCluster are the files: usercluster-rbac/role.yaml and so on.
func UserCluster() fs.FS { return files }
