package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// temporary is a file that is to become the one at path. It is locked, so that others
// can tell it from one whose process is gone.
type temporary struct {
	*os.File
	path string
	name string // empty as long as the file has none
}

// abandoned is how long nobody has written to a temporary file that counts as left
// behind where locks do not tell.
const abandoned = time.Hour

// mostNames is the number of temporary files that may be beside a path at a time: of
// processes that write there now, or were killed together.
const mostNames = 1000

// create makes an empty temporary file with the permissions that a new file gets.
func create(path string) (*temporary, error) {
	if f := unnamed(filepath.Dir(path)); f != nil {
		_, _ = lock(f) // nobody else has it
		return &temporary{File: f, path: path}, nil
	}
	var f *os.File
	name, err := claim(path, func(name string) error {
		opened, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		// Whoever took it for abandoned, in between, has the lock or has removed it.
		if held, known := lock(opened); known && !held || !is(opened, name) {
			return errors.Join(fs.ErrExist, opened.Close())
		}
		f = opened
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &temporary{f, path, name}, nil
}

// rename gives the file its path and closes it.
func (t *temporary) rename() error {
	if t.name == "" {
		name, err := claim(t.path, func(name string) error { return link(t.File, name) })
		if err != nil {
			return err
		}
		t.name = name
	}
	if runtime.GOOS == "windows" { // which renames no open file
		if err := t.Close(); err != nil {
			return err
		}
		return os.Rename(t.name, t.path)
	}
	if err := os.Rename(t.name, t.path); err != nil {
		return err
	}
	t.name = "" // nothing to discard
	return t.Close()
}

// discard closes the file and removes it.
func (t *temporary) discard() error {
	var err error
	if t.name != "" && runtime.GOOS != "windows" {
		err = os.Remove(t.name) // before its lock ends
		t.name = ""
	}
	if cerr := t.Close(); !errors.Is(cerr, fs.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	if t.name != "" {
		err = errors.Join(err, os.Remove(t.name))
	}
	return err
}

// claim calls take with the names for temporary files of path, one after another, until
// one is not that of a file that is there. Files left behind under the names that it
// passes are removed.
func claim(path string, take func(name string) error) (string, error) {
	dir, base := filepath.Split(path)
	for i := range mostNames {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		err := take(name)
		if errors.Is(err, fs.ErrExist) && remove(name) {
			err = take(name)
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s: %d temporary files are beside it", path, mostNames)
}

// remove removes a temporary file whose process is gone and reports whether it did.
func remove(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	held, known := lock(f)
	if !known {
		info, err := f.Stat()
		held = err == nil && time.Since(info.ModTime()) > abandoned
		_ = f.Close() // Windows removes no open file, ours or another's
	} else if !is(f, name) { // another has the name by now
		return false
	}
	return held && os.Remove(name) == nil
}

// is reports whether the open file is the one with the name.
func is(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}
