package bystanders

import "strings"

// blankImage is as empty as an image gets: the API server refuses "" in Pods and in templates, and takes white space in
// templates, from which it then lets no one make a Pod. Tools that fill images in later rely on that.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/apis/core/validation/validation.go#L3998
const blankImage = " "

// images are references as people write them. The last ones no kubelet could pull; the API server takes them all the same.
func images() []string {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	return []string{
		"nginx",
		"nginx:1.27",
		"library/nginx",
		"docker.io/library/nginx:latest",
		"nginx@" + digest,
		"team/web:v1@" + digest,
		digest,
		strings.TrimPrefix(digest, "sha256:"),
		"registry.example.com:5000/team/web",
		"registry.example.com:5000/team/web:1.2.3",
		"localhost:5000/web",
		"localhost/web:dev",
		"10.0.0.1:5000/web",
		"[2001:db8::1]:5000/team/web:1",
		"quay.io/a/b/c/d/e/web:v1.2.3-rc.1_build.4",
		"web:" +
			strings.Repeat("9", 128),
		"Nginx:Latest",
		"nginx:",
		":latest",
		"nginx:1:2",
		"https://registry.example.com/web:1",
		"team//web",
		"web@sha256:abc",
		"веб:1",
		"-",
		"/",
	}
}
