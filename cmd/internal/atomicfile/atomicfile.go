// Package atomicfile writes a file whole or not at all.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write calls write with a temporary file in the folder of path, flushes it to
// the disk, and renames it to path. If write fails or ctx ends, path is left as
// it was and the temporary file is removed. A process that is killed leaves no file
// where the system has files without a name (Linux); elsewhere it may leave one beside
// path, which the next Write to path removes. If path exists and is not a regular
// file but a device or a pipe, Write writes to it directly.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	return system.put(ctx, path, write)
}

// put is Write on any disk.
func (d disk) put(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0)
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s is a folder", path)
		case !info.Mode().IsRegular():
			return direct(path, write)
		}
		mode = info.Mode().Perm()
	}
	// A symbolic link is followed, so that the link stays one.
	if path, err = follow(path); err != nil {
		return err
	}
	t, err := d.create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.discard())
		}
	}()
	if err := write(t); err != nil {
		return err
	}
	if mode != 0 {
		if err := d.chmod(t.file, mode); err != nil {
			return err
		}
	}
	if err := d.sync(t.file); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.rename()
}

// follow returns where path leads: what a symbolic link points to, whether that is
// there or not.
func follow(path string) (string, error) {
	const most = 40 // links one after another
	for range most {
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing at all
			return path, nil
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned: the folder may be a link as well
		}
		path = target
	}
	return "", fmt.Errorf("%s: more than %d symbolic links", path, most)
}

// Check reports whether a file could be created at path, so that a long
// computation need not find out at its end.
func Check(path string) error {
	path, err := follow(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no folder %s", path, dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, dir)
	}
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("%s is a folder", path)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
	}
	t, err := system.create(path)
	if err != nil {
		return err
	}
	return t.discard()
}

func direct(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
