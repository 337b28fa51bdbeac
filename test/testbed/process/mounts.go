package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mounter builds a file system view in a private mount namespace.
type mounter struct {
	staging string
	// own are the devices of the tmpfs instances made here, the only file systems
	// on which anything is created.
	own map[uint64]bool
}

func (m *mounter) bind(bind Bind) error {
	info, err := os.Stat(bind.Source)
	if err != nil {
		return err
	}
	target, err := m.ensure(bind.Target, info.IsDir())
	if err != nil {
		return err
	}
	return attach(bind.Source, target)
}

// attach binds with everything mounted below, which a user namespace demands.
func attach(source, target string) error {
	return unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, "")
}

// ensure returns the real path of target after making it exist in this view.
func (m *mounter) ensure(target string, directory bool) (string, error) {
	ancestor, rest, err := deepestExisting(target)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(ancestor)
	if err != nil {
		return "", err
	}
	if rest == "" && info.IsDir() != directory {
		return "", errors.New("one is a directory and the other is a file")
	}
	if rest == "" {
		return ancestor, nil
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", ancestor)
	}
	if device, err := deviceOf(ancestor); err != nil {
		return "", err
	} else if !m.own[device] {
		if err := m.rebuild(ancestor); err != nil {
			return "", fmt.Errorf("rebuild %s: %w", ancestor, err)
		}
	}
	path := filepath.Join(ancestor, rest)
	return path, create(path, directory)
}

// deepestExisting splits path into its deepest existing ancestor, without
// symbolic links, and what is missing below it.
func deepestExisting(path string) (ancestor, rest string, err error) {
	for ancestor = path; ; {
		resolved, err := filepath.EvalSymlinks(ancestor)
		if err == nil {
			return resolved, rest, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || ancestor == "/" {
			return "", "", err
		}
		rest = filepath.Join(filepath.Base(ancestor), rest)
		ancestor = filepath.Dir(ancestor)
	}
}

// rebuild replaces directory, in this view only, by a tmpfs that shows the same
// children, so that more can be created in it.
func (m *mounter) rebuild(directory string) error {
	var original unix.Stat_t
	if err := unix.Stat(directory, &original); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=%04o", original.Mode&0o7777)
	if err := unix.Mount("tmpfs", m.staging, "tmpfs", 0, options); err != nil {
		return fmt.Errorf("mount a tmpfs on %s: %w", m.staging, err)
	}
	children, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, child := range children {
		err := show(filepath.Join(directory, child.Name()), filepath.Join(m.staging, child.Name()), child.Type())
		// Others may delete what was just listed.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("show %s: %w", child.Name(), err)
		}
	}
	if err := replace(directory, m.staging); err != nil {
		return err
	}
	device, err := deviceOf(directory)
	if err != nil {
		return err
	}
	m.own[device] = true
	return nil
}

// replace puts the mount at staging over directory.
func replace(directory, staging string) error {
	if directory != "/" {
		return unix.Mount(staging, directory, "", unix.MS_MOVE, "")
	}
	// A mount over the root would not be seen by a process whose root is below it.
	if err := unix.Chroot(staging); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// show makes target look like source, a child of a directory that is rebuilt.
func show(source, target string, kind fs.FileMode) error {
	if kind&fs.ModeSymlink != 0 {
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	}
	if err := create(target, kind.IsDir()); err != nil {
		return err
	}
	return attach(source, target)
}

func create(path string, directory bool) error {
	if directory {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}

func deviceOf(path string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return 0, err
	}
	return stat.Dev, nil
}
