package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// archiveName is that of the program for a platform.
func (r *release) archiveName(platform string) string {
	return fmt.Sprintf("%s_%s_%s.tar.gz", program, r.version, strings.ReplaceAll(platform, "/", "_"))
}

// programs builds one for each platform, and packs it with its license and kubectl's completion.
func (r *release) programs(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for _, platform := range r.platforms {
		binary := filepath.Join(folder, program)
		if err := build(ctx, platform, binary); err != nil {
			return err
		}
		files := map[string]string{
			program: binary, "LICENSE": "LICENSE", "kubectl_complete-ccm_migration": "config/kubectl/kubectl_complete-ccm_migration",
		}
		if err := r.pack(r.archiveName(platform), files); err != nil {
			return err
		}
	}
	return r.plugin()
}

// build depends on the commit alone: no path of a machine is in the program.
func build(ctx context.Context, platform, binary string) error {
	system, processor, _ := strings.Cut(platform, "/")
	_, err := output(ctx, []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + processor},
		"go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", binary, ".")
	return err
}

// pack writes an archive that depends on nothing but the files' content.
func (r *release) pack(name string, files map[string]string) error {
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(keys(files)) {
		content, err := os.ReadFile(files[path])
		if err != nil {
			return err
		}
		mode := int64(0o755)
		if path == "LICENSE" {
			mode = 0o644
		}
		header := &tar.Header{Name: path, Mode: mode, Size: int64(len(content)), ModTime: r.made, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return r.write(name, buffer.Bytes())
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// checksums of all files, as sha256sum reads them.
func (r *release) checksums(context.Context) error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, file := range files {
		sum, err := r.checksum(file.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, file.Name())
	}
	return r.write("checksums.txt", []byte(sums.String()))
}

func (r *release) checksum(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.out, name))
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), err
}

// output of a command; what it says of an error is in the error.
func output(ctx context.Context, environment []string, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), environment...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, &said)
	}
	return string(out), nil
}
